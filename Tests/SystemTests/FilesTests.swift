import Foundation
import System
import TestSupport
import Testing

@Suite struct FilesTests {
  let directory = TemporaryDirectory()

  @Test func `a durable file appears complete, private and alone`() throws {
    let path = directory.file("a.json")
    try DurableFile.write(Array("one".utf8), to: path)
    try DurableFile.write(Array("two".utf8), to: path)
    #expect(try Files.read(path) == Array("two".utf8))
    #expect(try Files.status(path).mode == 0o600)
    #expect(try Files.list(directory.path) == ["a.json"])
  }

  @Test func `a failed durable write leaves no file and names the path`() throws {
    let path = directory.file("missing/a.json")
    let error = #expect(throws: SystemError.self) { try DurableFile.write([1], to: path) }
    #expect(error?.path.contains("missing/") == true)
    #expect(error?.errno == ENOENT)
    // The name is taken by a directory, so the temporary file must be removed.
    try Files.makeDirectory(directory.file("taken"))
    #expect(throws: SystemError.self) { try DurableFile.write([1], to: directory.file("taken")) }
    #expect(try Files.list(directory.path) == ["taken"])
  }

  @Test func `a directory is published once and never replaces another`() throws {
    for name in ["one", "two"] {
      try Files.makeDirectory(directory.file(".tmp-\(name)/ios"))
      try DurableFile.write([1], to: directory.file(".tmp-\(name)/ios/store"))
    }
    try DurableFile.publishDirectory(
      temporary: directory.file(".tmp-one"), final: directory.file("1"))
    let error = #expect(throws: SystemError.self) {
      try DurableFile.publishDirectory(
        temporary: directory.file(".tmp-two"), final: directory.file("1"))
    }
    #expect([EEXIST, ENOTEMPTY].contains(error?.errno))
    #expect(try Files.list(directory.path) == [".tmp-two", "1"])
  }

  @Test func `removing a tree never follows a link`() throws {
    let outside = TemporaryDirectory()
    try DurableFile.write([7], to: outside.file("keep"))
    try Files.makeDirectory(directory.file("tree/deep"))
    symlink(outside.path, directory.file("tree/deep/link"))
    try Files.remove(directory.file("tree"))
    #expect(!Files.exists(directory.file("tree")))
    #expect(try Files.read(outside.file("keep")) == [7])
    try Files.remove(directory.file("tree"))
  }

  @Test func `only a regular file is opened, not a link, a directory or a pipe`() throws {
    try DurableFile.write([1, 2, 3], to: directory.file("plain"))
    symlink(directory.file("plain"), directory.file("link"))
    mkfifo(directory.file("pipe"), 0o600)
    for name in ["link", "pipe", "nothing"] {
      #expect(throws: SystemError.self, "\(name)") {
        _ = try Files.openRegular(directory.file(name)).descriptor
      }
    }
    let file = try Files.openRegular(directory.file("plain"))
    #expect(file.descriptor >= 0)
    #expect(Files.isSymbolicLink(directory.file("link")))
    #expect(try Files.status(directory.file("link")).kind == .symbolicLink)
  }

  @Test(arguments: ["pipe", "socket", "/dev/zero", "/dev/null"])
  func `a pipe, socket or device is rejected by type, even via a link`(_ name: String) throws {
    let path = name.hasPrefix("/") ? name : directory.file(name)
    if name == "pipe" { mkfifo(path, 0o600) }
    if name == "socket" {
      let script = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
      #expect(try ChildProcess.run("/usr/bin/python3", ["-c", script, path]).status == 0)
    }
    symlink(path, directory.file("link"))
    for place in [path, directory.file("link")] {
      let error = #expect(throws: SystemError.self) { _ = try Files.read(place) }
      #expect(
        error?.description
          == "cannot read \(place): it is a pipe, a socket or a device, not a regular file")
      #expect(throws: SystemError.self) { try Files.checkInput(place) }
    }
    try Files.checkInput(directory.file("nothing"))
    try Files.checkInput(directory.path)
  }

  @Test func `a copy has the same content, is independent, and replaces nothing`() throws {
    let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try DurableFile.write(content, to: directory.file("from"))
    try Files.copy(directory.file("from"), to: directory.file("to"))
    #expect(try Files.read(directory.file("to")) == content)
    #expect(throws: SystemError.self) {
      try Files.copy(directory.file("from"), to: directory.file("to"))
    }
    // Blocks cannot be shared between file systems.
    let elsewhere = "/dev/shm/attache-\(UUID().uuidString)"
    if (try? Files.copy(directory.file("from"), to: elsewhere)) != nil {
      #expect(try Files.read(elsewhere) == content)
      try Files.remove(elsewhere)
    }
  }

  @Test func `reading is limited`() throws {
    try DurableFile.write([UInt8](repeating: 1, count: 70_000), to: directory.file("big"))
    #expect(try Files.read(directory.file("big"), limit: 70_000).count == 70_000)
    #expect(throws: SystemError.self) { try Files.read(directory.file("big"), limit: 69_999) }
  }

  @Test(arguments: [
    ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/", "a", "b"), ("/", "/", "/"),
  ])
  func `a path has a parent and a name`(path: String, parent: String, name: String) {
    #expect(Files.parent(of: path) == parent)
    #expect(Files.name(of: path) == name)
  }

  @Test func `times are stored to the nanosecond`() throws {
    let path = directory.file("t")
    try Files.appendLine("x", to: path)
    try Files.appendLine("y", to: path)
    #expect(try Files.read(path) == Array("x\ny\n".utf8))
    try Files.setModificationTime(of: path, nanoseconds: 1_700_000_000_123_456_789)
    #expect(try Files.modificationTime(of: path) == 1_700_000_000_123_456_789)
    #expect(try Files.size(of: path) == 4)
  }
}
