import Foundation
import System
import TestSupport
import Testing

@Suite struct FileVerbsTests {
  let directory = TemporaryDirectory("verbs")

  @Test func `the status of a name is returned, and a link is not followed`() throws {
    let file = directory.file("file")
    try DurableFile.write([1, 2, 3], to: file, mode: 0o640)
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link"), withDestinationPath: file)
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("dangling"), withDestinationPath: "/no/such")
    let status = try Files.status(file)
    #expect(status.kind == .regular)
    #expect(status.size == 3)
    #expect(status.mode == 0o640)
    #expect(status.links == 1)
    #expect(status.owner == ProcessEnvironment.userID())
    #expect(try Files.status(directory.file("link")).kind == .symbolicLink)
    #expect(try Files.status(directory.path).kind == .directory)
    #expect(Files.exists(directory.file("dangling")))
    #expect(Files.isSymbolicLink(directory.file("dangling")))
    #expect(!Files.isDirectory(directory.file("dangling")))
    #expect(!Files.exists(directory.file("none")))
    let missing = #expect(throws: SystemError.self) { try Files.status(directory.file("none")) }
    #expect(missing?.errno == ENOENT)
    #expect(throws: SystemError.self) { try Files.status(file + "/below") }
  }

  @Test func `an open file keeps its own status, even if its name is reused`() throws {
    let path = directory.file("file")
    try DurableFile.write([1, 2, 3], to: path)
    let file = try Files.openRegular(path)
    let before = try file.status()
    #expect(try before == Files.status(path))
    try DurableFile.write([4], to: path)
    let after = try file.status()
    #expect(after.inode == before.inode && after.size == 3)
    #expect(after.links == 0 && after.changedNanoseconds >= before.changedNanoseconds)
    // A file system that cannot share blocks reports it, and changes nothing.
    let other = try Files.createNew(directory.file("other"))
    let isShared = file.share(with: other)
    #expect(try other.status().size == (isShared ? 3 : 0))
  }

  @Test func `a file gets a second name, or is copied if that is impossible`() throws {
    let path = directory.file("file")
    try DurableFile.write([1, 2, 3], to: path)
    try Files.linkOrCopy(path, to: directory.file("second"))
    #expect(try Files.status(directory.file("second")).inode == Files.status(path).inode)
    #expect(throws: SystemError.self) { try Files.linkOrCopy(path, to: directory.file("second")) }
    // On most machines, this is a separate file system.
    let elsewhere = "/dev/shm/attache-\(ProcessEnvironment.processID())"
    defer { try? Files.remove(elsewhere) }
    try Files.linkOrCopy(path, to: elsewhere)
    #expect(try Files.read(elsewhere) == [1, 2, 3])
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link"), withDestinationPath: path)
    #expect(throws: SystemError.self) {
      try Files.linkOrCopy(directory.file("link"), to: directory.file("third"))
    }
    #expect(!Files.exists(directory.file("third")))
  }

  @Test func `names are sorted by their bytes, and invalid ones are separate`() throws {
    for name in ["b", "a", "B", "ä", ".hidden"] {
      try DurableFile.write([], to: directory.file(name))
    }
    #expect(try Files.list(directory.path) == [".hidden", "B", "a", "b", "ä"])
    let made = try ChildProcess.run(
      "/bin/sh", ["-c", "cd \"$1\" && : > \"$(printf 'x\\377')\"", "sh", directory.path])
    try #require(made.status == 0)
    let listing = try Files.listing(directory.path)
    #expect(listing.names == [".hidden", "B", "a", "b", "ä"])
    #expect(listing.unreadable == ["x\u{FFFD}"])
    #expect(throws: SystemError.self) { try Files.list(directory.file("none")) }
  }

  @Test func `a directory is created once, with its parents`() throws {
    let deep = directory.file("a/b/c")
    try Files.makeDirectory(deep)
    try Files.makeDirectory(deep)
    #expect(Files.isDirectory(deep))
    #expect(try Files.status(deep).mode == 0o700)
    #expect(throws: SystemError.self) { try Files.makeDirectory(deep, intermediate: false) }
    #expect(throws: SystemError.self) {
      try Files.makeDirectory(directory.file("x/y"), intermediate: false)
    }
    try DurableFile.write([], to: directory.file("file"))
    #expect(throws: SystemError.self) { try Files.makeDirectory(directory.file("file")) }
    #expect(throws: SystemError.self) { try Files.makeDirectory(directory.file("file/below")) }
  }

  @Test func `lines are appended, and a new file never reuses an existing one`() throws {
    let log = directory.file("log")
    try Files.appendLine("one", to: log)
    try Files.appendLine("two", to: log)
    #expect(String(decoding: try Files.read(log), as: UTF8.self) == "one\ntwo\n")
    #expect(try Files.size(of: log) == 8)
    let error = #expect(throws: SystemError.self) { _ = try Files.createNew(log) }
    #expect(error?.errno == EEXIST)
    try Files.setMode(of: log, 0o400)
    #expect(try Files.status(log).mode == 0o400)
    try Files.rename(log, to: directory.file("other"))
    #expect(!Files.exists(log))
  }

  @Test func `a path is resolved, even if its last component does not exist`() throws {
    try Files.makeDirectory(directory.file("real"))
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("way"), withDestinationPath: directory.file("real"))
    let real = try Files.resolved(directory.file("real"))
    #expect(try Files.resolved(directory.file("way/../way/./")) == real)
    #expect(try Files.resolved(directory.file("way/new")) == real + "/new")
    #expect(throws: SystemError.self) { try Files.resolved(directory.file("none/new")) }
  }

  @Test func `a tree is synced file by file, and links in it are not followed`() throws {
    try Files.makeDirectory(directory.file("tree/below"))
    try DurableFile.write([1], to: directory.file("tree/below/file"))
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("tree/link"), withDestinationPath: "/no/such")
    try DurableFile.synchronize(tree: directory.file("tree"))
    #expect(throws: SystemError.self) { try DurableFile.synchronize(tree: directory.file("none")) }
  }

  @Test func `a program with too much output is killed`() throws {
    let error = #expect(throws: SystemError.self) {
      try ChildProcess.run(
        "/bin/sh", ["-c", "while :; do echo more; done"], deadlineSeconds: 60, outputLimit: 10_000)
    }
    #expect(error?.isTooLarge == true)
    let exact = try ChildProcess.run("/bin/echo", ["-n", "12345"], outputLimit: 5)
    #expect(exact.output == Array("12345".utf8))
  }
}
