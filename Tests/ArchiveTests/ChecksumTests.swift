import Archive
import Foundation
import TestSupport
import Testing

@Suite struct ChecksumTests {
  let directory = TemporaryDirectory()

  private func drain(_ path: String) throws -> (content: [String: [UInt8]], isChecked: Bool) {
    let reader = try ArchiveReader(path: path)
    var found: [String: [UInt8]] = [:]
    while let entry = try reader.next() { found[entry.name] = try reader.readAll(limit: 1 << 30) }
    return (found, reader.isChecked)
  }

  private func write(_ bytes: [UInt8]) throws -> String {
    let path = directory.file("changed")
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  /// An archive with two entries: text that compresses well, and bytes that do not.
  private func archive(_ format: ArchiveFormat) throws -> [UInt8] {
    let path = directory.file("whole." + format.rawValue)
    let writer = try ArchiveWriter(path: path, format: format, modified: 1_706_704_496_000)
    let text = (0..<400).map { "{\"Id\":\"a0\($0)\",\"Phone\":\"+1 555 0\($0)\"}" }
    try writer.add(name: "manifest.json", bytes: Array(text.joined(separator: ",").utf8))
    let noise = (0..<20_000).map { UInt8(truncatingIfNeeded: ($0 &* $0 &* 2_654_435_761) >> 13) }
    try writer.add(name: "stores/store.sqlite", bytes: noise)
    try writer.close()
    return Array(try Data(contentsOf: URL(filePath: path)))
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a flipped bit of an archive is rejected or harmless`(format: ArchiveFormat) throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    print("flipped \(format.rawValue): seed \(seed)")
    var draw = seed
    let whole = try archive(format)
    let sound = try drain(try write(whole))
    #expect(sound.isChecked)
    var refused = 0
    // All bytes at both ends are tried: headers, trailers and the directory of a zip.
    let ends = Array(0..<40) + Array((whole.count - 200)..<whole.count)
    let places =
      ends.map { $0 * 8 + $0 % 8 }
      + (0..<400).map { _ in
        draw = draw &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(draw >> 33) % (whole.count * 8)
      }
    for bit in places {
      var changed = whole
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      do {
        let found = try drain(try write(changed))
        let isSame =
          found.content == sound.content
          // Only the manifest protects the names in a zip, and those of entries that are not files.
          || format == .zip && Set(found.content.values).isSubset(of: Set(sound.content.values))
        #expect(isSame || !found.isChecked, "seed \(seed): bit \(bit) of \(whole.count * 8)")
      } catch is ArchiveError { refused += 1 }
    }
    #expect(refused > 300)
  }

  @Test(arguments: [ArchiveFormat.tarGz, .tarZst])
  func `data after the end of a compressed tar is rejected`(format: ArchiveFormat) throws {
    let whole = try archive(format)
    for tail in [[0], [UInt8](repeating: 0, count: 512), Array("tail".utf8), Array(whole[..<6])] {
      let error = #expect(throws: ArchiveError.self) { try drain(try write(whole + tail)) }
      #expect(error?.kind == .damaged, "\(tail.count) bytes")
    }
    for length in 1...12 {
      #expect(throws: ArchiveError.self) { try drain(try write(Array(whole.dropLast(length)))) }
    }
  }

  @Test func `frames without a checksum are detected, and frames with one may be several`() throws {
    let whole = try archive(.tarZst)
    // As written by a library without the checksum option.
    var bare = Array(whole.dropLast(4))
    bare[4] &= ~4
    let found = try drain(try write(bare))
    #expect(!found.isChecked)
    #expect(found.content.count == 2)
    let skippable: [UInt8] = [0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
    #expect(try drain(try write(whole + skippable)).isChecked)
    let empty = try Compression.zstd([])
    if !empty.isEmpty { #expect(try drain(try write(whole + empty)).isChecked) }
  }

  @Test func `a nested compressed stream is rejected`() throws {
    for format in [ArchiveFormat.tarGz, .tarZst] {
      let whole = try archive(format)
      for outer in [try Compression.gzip(whole), try Compression.zstd(whole)] {
        let error = #expect(throws: ArchiveError.self) { try drain(try write(outer)) }
        #expect(error?.kind == .damaged)
      }
    }
    let twice = try Compression.gzip(Compression.gzip([1, 2, 3]))
    #expect(throws: ArchiveError.self) { try Compression.gunzip(twice, limit: 1000) }
    let double = try Compression.zstd(Compression.zstd([1, 2, 3]))
    #expect(throws: ArchiveError.self) { try Compression.unzstd(double, limit: 1000) }
  }

  @Test func `the checksums match those of the formats`() throws {
    func crc(_ text: String) -> UInt32 {
      var crc = CRC32()
      Array(text.utf8).withUnsafeBytes { crc.update($0) }
      return crc.value
    }
    #expect(crc("") == 0)
    #expect(crc("123456789") == 0xCBF4_3926)
    func hash(_ bytes: [UInt8], pieces: Int) -> UInt64 {
      var hash = XXHash64()
      for start in stride(from: 0, to: bytes.count, by: pieces) {
        bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { hash.update($0) }
      }
      return hash.value
    }
    #expect(hash([], pieces: 1) == 0xEF46_DB37_51D8_E999)
    #expect(hash(Array("a".utf8), pieces: 1) == 0xD24E_C4F1_A98C_6E5B)
    #expect(hash(Array("abc".utf8), pieces: 1) == 0x44BC_2CF5_AD77_0999)
    // Zstandard itself verifies the written checksum, for content of every length.
    for length in 0..<140 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      #expect(hash(bytes, pieces: 7) == hash(bytes, pieces: 1000), "\(length) bytes")
      var packed = try Compression.zstd(bytes)
      #expect(try Compression.unzstd(packed, limit: 1000) == bytes)
      guard length > 0 else { continue }
      packed[packed.count - 1] ^= 1
      #expect(throws: ArchiveError.self) { try Compression.unzstd(packed, limit: 1000) }
      var zipped = try Compression.gzip(bytes)
      #expect(try Compression.gunzip(zipped, limit: 1000) == bytes)
      zipped[zipped.count - 6] ^= 1
      #expect(throws: ArchiveError.self) { try Compression.gunzip(zipped, limit: 1000) }
    }
  }

  @Test func `hard links with content and encrypted entries are rejected as such`() throws {
    let script = """
      import io, sys, tarfile, zipfile
      with tarfile.open(sys.argv[1] + "/link.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as f:
          for name, kind in (("first", tarfile.REGTYPE), ("manifest.json", tarfile.LNKTYPE)):
              m = tarfile.TarInfo(name); m.type = kind; m.size = 3
              m.pax_headers = {"comment": "x"}
              if kind == tarfile.LNKTYPE: m.linkname = "first"
              f.addfile(m, io.BytesIO(b"abc"))
              if kind == tarfile.LNKTYPE: f.fileobj.write(b"abc" + bytes(509)); f.offset += 512
      with zipfile.ZipFile(sys.argv[1] + "/encrypted.zip", "w") as f:
          info = zipfile.ZipInfo("manifest.json"); info.external_attr = 0o100600 << 16
          f.writestr(info, b"x" * 20)
      data = bytearray(open(sys.argv[1] + "/encrypted.zip", "rb").read())
      data[6] |= 1; data[data.rindex(b"PK\\x01\\x02") + 8] |= 1
      open(sys.argv[1] + "/encrypted.zip", "wb").write(data)
      """
    _ = try python(script, directory.path)
    for name in ["link.tar.gz", "encrypted.zip"] {
      let error = #expect(throws: ArchiveError.self) { try drain(directory.file(name)) }
      #expect(error?.kind == .refusedEntry, "\(name): \(String(describing: error))")
      #expect(error?.message.contains("manifest.json is not a regular file") == true)
    }
  }
}
