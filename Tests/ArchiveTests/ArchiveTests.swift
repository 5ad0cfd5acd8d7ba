import Archive
import Foundation
import TestSupport
import Testing

@Suite struct ArchiveTests {
  let directory = TemporaryDirectory()

  private func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: directory.file(name))))
  }

  /// Packs a small text, an empty file, and a file of 600,000 bytes from disk.
  private func pack(_ name: String, _ format: ArchiveFormat, level: Int? = nil) throws {
    let big = (0..<600_000).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 7) }
    try Data(big).write(to: URL(fileURLWithPath: directory.file("big")))
    let writer = try ArchiveWriter(
      path: directory.file(name), format: format, level: level, modified: 1_706_704_496_789)
    try writer.add(name: "manifest.json", bytes: Array("{}".utf8))
    try writer.add(name: "a/b/empty", bytes: [])
    try writer.add(name: "a/big", file: directory.file("big"))
    try writer.close()
  }

  private func contents(_ path: String) throws -> [String: [UInt8]] {
    let reader = try ArchiveReader(path: path)
    var found: [String: [UInt8]] = [:]
    while let entry = try reader.next() { found[entry.name] = try reader.readAll(limit: 1 << 20) }
    return found
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `packed entries are read back in order`(format: ArchiveFormat) throws {
    try pack("a", format)
    let reader = try ArchiveReader(path: directory.file("a"))
    #expect(reader.format == format)
    var names: [String] = []
    while let entry = try reader.next() { names.append(entry.name) }
    #expect(names == ["manifest.json", "a/b/empty", "a/big"])
    let found = try contents(directory.file("a"))
    #expect(found["manifest.json"] == Array("{}".utf8))
    #expect(found["a/b/empty"] == [])
    #expect(try found["a/big"] == bytes("big"))
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `another program reads names in any language correctly`(format: ArchiveFormat) throws {
    let names = ["größe/é.db", "名前/ストア", "магазин", "📱"]
    let path = directory.file("a.\(format.rawValue)")
    let writer = try ArchiveWriter(path: path, format: format, modified: 0)
    for name in names { try writer.add(name: name, bytes: Array(name.utf8)) }
    try writer.close()
    let found = try contents(path)
    #expect(found == Dictionary(uniqueKeysWithValues: names.map { ($0, Array($0.utf8)) }))
    let script = """
      import sys, tarfile, zipfile
      path = sys.argv[1]
      if path.endswith(".zip"): names = zipfile.ZipFile(path).namelist()
      else: names = tarfile.open(path).getnames()
      sys.stdout.buffer.write("\\n".join(names).encode())
      """
    if format != .tarZst { #expect(try python(script, path) == names.joined(separator: "\n")) }
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `the same content gives the same bytes at any time and place`(format: ArchiveFormat) throws {
    try pack("one", format)
    let zone = ProcessInfo.processInfo.environment["TZ"]
    setenv("TZ", "Pacific/Kiritimati", 1)
    tzset()
    try pack("two", format)
    if let zone { setenv("TZ", zone, 1) } else { unsetenv("TZ") }
    tzset()
    #expect(try bytes("one") == bytes("two"))
    // These bytes would hold the time of packing.
    if format == .tarGz { #expect(try Array(bytes("one")[4..<8]) == [0, 0, 0, 0]) }
  }

  @Test(arguments: [(ArchiveFormat.zip, 1, 9), (.tarGz, 1, 9), (.tarZst, 1, 19)])
  func `the compression level has an effect`(format: ArchiveFormat, low: Int, high: Int) throws {
    let text = (0..<40_000).map { "record \($0 &* 7919 % 1000) of \($0)\n" }.joined()
    func size(_ level: Int) throws -> Int {
      let writer = try ArchiveWriter(
        path: directory.file("a"), format: format, level: level, modified: 0)
      try writer.add(name: "text", bytes: Array(text.utf8))
      try writer.close()
      return try bytes("a").count
    }
    let sizes = try (size(low), size(high))
    #expect(sizes.1 != sizes.0)
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `other tools read the archive, with no owner, private modes`(format: ArchiveFormat) throws {
    try pack("a", format)
    let script = """
      import sys, zipfile, tarfile, subprocess, io
      path, kind = sys.argv[1], sys.argv[2]
      if kind == "zip":
          z = zipfile.ZipFile(path)
          assert z.testzip() is None
          for i in z.infolist():
              print(i.filename, i.file_size, oct(i.external_attr >> 16 & 0o777), i.date_time[0])
      elif kind == "tar.gz":
          t = tarfile.open(path, "r:gz")
          for m in t: print(m.name, m.size, oct(m.mode), m.uid, m.gid, repr(m.uname), int(m.mtime))
      """
    if format == .tarZst { return }
    let output = try python(script, directory.file("a"), format.rawValue)
    let expected =
      format == .zip
      ? "manifest.json 2 0o600 1980\na/b/empty 0 0o600 1980\na/big 600000 0o600 1980\n"
      : """
      manifest.json 2 0o600 0 0 '' 1706704496
      a/b/empty 0 0o600 0 0 '' 1706704496
      a/big 600000 0o600 0 0 '' 1706704496

      """
    #expect(output == expected)
  }

  @Test(arguments: [
    "/abs", "../up", "a/../b", "a\\b", "C:/x", "C:", "a//b", "a/", "", ".", "a\u{7F}", "a\nb",
  ])
  func `a name that no bundle has is not written`(name: String) throws {
    let writer = try ArchiveWriter(path: directory.file("a"), format: .zip, modified: 0)
    let error = #expect(throws: ArchiveError.self) { try writer.add(name: name, bytes: [1]) }
    #expect(error?.kind == .refusedEntry)
  }

  @Test func `only regular files are packed`() throws {
    symlink("/etc/passwd", directory.file("link"))
    let writer = try ArchiveWriter(path: directory.file("a"), format: .tarZst, modified: 0)
    for name in ["link", "", "missing"] {
      let error = #expect(throws: ArchiveError.self) {
        try writer.add(name: "x", file: directory.file(name))
      }
      #expect(error?.kind == .file)
    }
  }

  @Test func `an archive that was not closed is incomplete`() throws {
    do {
      let writer = try ArchiveWriter(path: directory.file("a"), format: .zip, modified: 0)
      try writer.add(name: "x", bytes: [1, 2, 3])
    }
    let error = #expect(throws: ArchiveError.self) { try contents(directory.file("a")) }
    #expect(error?.kind == .damaged)
  }

  @Test func `the format is determined by the name and by the first bytes`() {
    #expect(ArchiveFormat(path: "/x/ios.bundle.tar.zst") == .tarZst)
    #expect(ArchiveFormat(path: "ios.bundle.2.zip") == .zip)
    #expect(ArchiveFormat(path: "store.sqlite") == nil)
    #expect(ArchiveFormat(firstBytes: Array("SQLite".utf8)) == nil)
  }
}

func python(_ script: String, _ arguments: String...) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["python3", "-c", script] + arguments
  let pipe = Foundation.Pipe()
  process.standardOutput = pipe
  try process.run()
  let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  try #require(process.terminationStatus == 0, "the script failed")
  return output
}
