import Archive
import Foundation
import TestSupport
import Testing

@Suite struct HostileArchiveTests {
  /// Writes one archive per case to the directory: `<case>.zip` or `<case>.tar.gz`.
  private static let corpus = Result {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(
      contentsOf: folder.appending(path: "Python/hostile_archives.py"), encoding: .utf8)
  }

  let directory = TemporaryDirectory()

  private func drain(_ path: String) throws -> [String: [UInt8]] {
    let reader = try ArchiveReader(path: path)
    var found: [String: [UInt8]] = [:]
    while let entry = try reader.next() { found[entry.name] = try reader.readAll(limit: 1 << 30) }
    return found
  }

  @Test func `each hostile archive is rejected with a message and leaves no files`() throws {
    _ = try python(Self.corpus.get(), directory.path)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    #expect(names.count >= 54, "the corpus has \(names.count) archives")
    for name in names {
      let error = #expect(throws: ArchiveError.self, "\(name)") { try drain(directory.file(name)) }
      guard let error else { continue }
      #expect(error.description.hasPrefix(directory.file(name)), "\(error)")
      if name.hasPrefix("name-") || name.hasPrefix("kind-") || name.hasPrefix("twice-") {
        #expect(error.kind == .refusedEntry, "\(name): \(error)")
      }
      if name.hasPrefix("many") || name.hasPrefix("bomb") {
        #expect(error.kind == .tooLarge, "\(name): \(error)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == names)
  }

  @Test func `a name with a NUL inside is rejected or ends before it`() throws {
    let script = """
      import sys, zipfile
      path = sys.argv[1]
      with zipfile.ZipFile(path, "w") as f:
          info = zipfile.ZipInfo("aXXevil"); info.external_attr = 0o100600 << 16
          f.writestr(info, b"x")
      data = open(path, "rb").read().replace(b"aXXevil", b"a\\0/evil")
      open(path, "wb").write(data)
      """
    _ = try python(script, directory.file("nul.zip"))
    if let found = try? drain(directory.file("nul.zip")) { #expect(Array(found.keys) == ["a"]) }
  }

  @Test func `directories and a leading dot, as common tools write them, are skipped`() throws {
    let script = """
      import sys, io, tarfile
      with tarfile.open(sys.argv[1], "w:gz") as f:
          for name in ("./", "./stores"):
              m = tarfile.TarInfo(name); m.type = tarfile.DIRTYPE; f.addfile(m)
          m = tarfile.TarInfo("./stores/a"); m.size = 1; f.addfile(m, io.BytesIO(b"x"))
      """
    _ = try python(script, directory.file("a.tar.gz"))
    #expect(try drain(directory.file("a.tar.gz")) == ["stores/a": [0x78]])
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a cut or changed archive is rejected or reads the same`(format: ArchiveFormat) throws {
    let path = directory.file("a")
    let content = (0..<3000).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 5) }
    let writer = try ArchiveWriter(path: path, format: format, modified: 1_706_704_496_000)
    try writer.add(name: "manifest.json", bytes: Array("{\"a\":1}".utf8))
    try writer.add(name: "stores/store.sqlite", bytes: content)
    try writer.close()
    let whole = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let expected = try drain(path)
    let target = directory.file("b")
    var refused = 0
    for length in 0..<whole.count {
      try Data(whole[..<length]).write(to: URL(fileURLWithPath: target))
      do {
        // A tar without its last entries is not recognizable; the manifest shows it.
        #expect(try drain(target).allSatisfy { expected[$0.key] == $0.value }, "\(length) bytes")
      } catch { refused += 1 }
    }
    #expect(refused > whole.count / 2)
    for place in stride(from: 0, to: whole.count, by: 3) {
      var changed = whole
      changed[place] ^= 0x40
      try Data(changed).write(to: URL(fileURLWithPath: target))
      _ = try? drain(target)
    }
  }
}
