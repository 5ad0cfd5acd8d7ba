import Archive
import Foundation
import TestSupport
import Testing

/// Malicious archives, created with Python's own libraries, and damaged archives.
@Suite struct HostileArchiveTests {
  /// Writes one archive per case to the directory: `<case>.zip` or `<case>.tar.gz`.
  private static let corpus = """
    import io, os, sys, tarfile, zipfile, gzip, warnings
    warnings.simplefilter("ignore")
    out = sys.argv[1]
    def z(case, entries, **kw):
        with zipfile.ZipFile(os.path.join(out, case + ".zip"), "w", zipfile.ZIP_DEFLATED) as f:
            for name, data in entries:
                info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
                if not isinstance(name, zipfile.ZipInfo):
                    info.filename = name
                    info.external_attr = 0o100600 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                f.writestr(info, data)
    def t(case, members):
        with tarfile.open(os.path.join(out, case + ".tar.gz"), "w:gz") as f:
            for name, kind, data in members:
                m = tarfile.TarInfo(name)
                m.type = kind
                if kind in (tarfile.LNKTYPE, tarfile.SYMTYPE): m.linkname = "/etc/passwd"
                else: m.size = len(data)
                f.addfile(m, io.BytesIO(data))
    names = {
      "parent": "../evil", "deep-parent": "a/../../evil", "absolute": "/etc/evil",
      "backslash": "a\\\\..\\\\evil", "drive": "C:/evil", "empty-part": "a//b",
      "inner-dot": "a/./b", "control": "a\\x01b", "newline": "a\\nb", "long": "a" * 600,
      "dots": "..", "unc": "\\\\\\\\host\\\\share", "trailing-parent": "a/..",
    }
    for case, name in names.items():
        z("name-" + case, [(name, b"x")])
        t("name-" + case, [(name, tarfile.REGTYPE, b"x")])
    kinds = {"hardlink": tarfile.LNKTYPE, "symlink": tarfile.SYMTYPE, "character": tarfile.CHRTYPE,
             "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE}
    for case, kind in kinds.items(): t("kind-" + case, [("manifest.json", kind, b"")])
    link = zipfile.ZipInfo("manifest.json"); link.create_system = 3
    link.external_attr = 0o120777 << 16
    z("kind-symlink", [(link, b"/etc/passwd")])
    pairs = {"same": ("a", "a"), "case": ("Store.db", "store.DB"),
             "canonical": ("caf\\u00e9", "cafe\\u0301"), "dot": ("a", "./a")}
    for case, (one, two) in pairs.items():
        z("twice-" + case, [(one, b"1"), (two, b"2")])
        t("twice-" + case, [(one, tarfile.REGTYPE, b"1"), (two, tarfile.REGTYPE, b"2")])
    z("many", [("f%d" % i, b"") for i in range(65)])
    t("many", [("f%d" % i, tarfile.REGTYPE, b"") for i in range(65)])
    t("many-directories", [("d%d" % i, tarfile.DIRTYPE, b"") for i in range(65)])
    z("bomb", [("a", b"\\0" * (64 << 20))])
    t("bomb", [("a", tarfile.REGTYPE, b"\\0" * (64 << 20))])
    z("bomb-in-pieces", [("a%d" % i, b"\\0" * (2 << 20)) for i in range(60)])
    with zipfile.ZipFile(os.path.join(out, "lying-size.zip"), "w") as f:
        info = zipfile.ZipInfo("a"); info.external_attr = 0o100600 << 16
        f.writestr(info, b"x" * 1000)
    data = bytearray(open(os.path.join(out, "lying-size.zip"), "rb").read())
    for at in (18, 22): data[at:at+4] = (4000000000).to_bytes(4, "little")
    c = data.rindex(b"PK\\x01\\x02")
    for at in (c + 20, c + 24): data[at:at+4] = (4000000000).to_bytes(4, "little")
    open(os.path.join(out, "lying-size.zip"), "wb").write(data)
    data = bytearray(open(os.path.join(out, "bomb.zip"), "rb").read())
    c = data.rindex(b"PK\\x01\\x02")
    for at in (22, c + 24): data[at:at+4] = (10).to_bytes(4, "little")
    open(os.path.join(out, "bomb-that-lies.zip"), "wb").write(data)
    z("plain", [("a", b"x")])
    plain = open(os.path.join(out, "plain.zip"), "rb").read()
    os.remove(os.path.join(out, "plain.zip"))
    open(os.path.join(out, "prepended.zip"), "wb").write(b"#!/bin/sh\\n" + plain)
    e = bytearray(plain)
    e[6] |= 1; c = e.rindex(b"PK\\x01\\x02"); e[c + 8] |= 1
    open(os.path.join(out, "encrypted.zip"), "wb").write(e)
    open(os.path.join(out, "empty.zip"), "wb").write(b"")
    open(os.path.join(out, "text.zip"), "wb").write(b"PK\\x03\\x04 not really")
    open(os.path.join(out, "nested.tar.gz"), "wb").write(gzip.compress(gzip.compress(b"x" * 2000)))
    open(os.path.join(out, "noise.tar.gz"), "wb").write(gzip.compress(bytes(range(256)) * 40))
    open(os.path.join(out, "cpio.tar.gz"), "wb").write(gzip.compress(b"070707" + b"0" * 600))
    """

  let directory = TemporaryDirectory()

  private func drain(_ path: String) throws -> [String: [UInt8]] {
    let reader = try ArchiveReader(path: path)
    var found: [String: [UInt8]] = [:]
    while let entry = try reader.next() { found[entry.name] = try reader.readAll(limit: 1 << 30) }
    return found
  }

  @Test func `each hostile archive is rejected with a message and leaves no files`() throws {
    _ = try python(HostileArchiveTests.corpus, directory.path)
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
