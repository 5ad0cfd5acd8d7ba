import Archive
import Bundles
import Returns
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct AlikeTests {
  let directory = TemporaryDirectory()

  /// An issue whose records are so similar that they compress to less than a two-hundredth.
  private func alike() throws -> Issued {
    var issued = try Issued(.ios, in: directory)
    let store = try Store(opening: issued.storePath)
    try store.upsert((0..<160).map { "{\"Id\":\"\($0)\"}" }, into: "cases")
    try store.close()
    try lengthen(issued.storePath, "id > 0", by: 40_000)
    issued.entry = try SnapshotDirectory.measure(
      issued.storePath, scope: .user, storeName: "default", path: issued.entry.path,
      stamp: Issued.stamp(.ios), counts: ["accounts": 20, "cases": 160])
    issued.manifest.stores = [issued.entry]
    return issued
  }

  /// Adds the same long text to several elements of `cases`.
  private func lengthen(_ path: String, _ which: String, by count: Int) throws {
    let connection = try Connection(path)
    try connection.execute(
      """
      UPDATE TABLE_2 SET soup = substr(soup, 1, length(soup) - 1) || ',"Terms\(count)":"'
        || hex(zeroblob(\(count))) || '"}' WHERE \(which)
      """)
    connection.close()
  }

  private func pack(_ issued: Issued, _ format: ArchiveFormat) throws -> String {
    let path = directory.file("a." + format.rawValue)
    try BundleWriter.pack(
      issued.manifest, storeDirectory: directory.file("stores"), to: path, format: format,
      modified: 0)
    return path
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a bundle of similar records is read back, and can return`(format: ArchiveFormat) throws {
    let issued = try alike()
    let path = try pack(issued, format)
    // Deflate cannot compress text across pages to a two-hundredth.
    let limits = ArchiveReader.Limits(ratio: format == .tarZst ? 200 : 20)
    #expect(
      try Files.size(of: path) * limits.ratio < issued.entry.bytes,
      "otherwise the test shows nothing")
    #expect(try BundleReader.verify(path, limits: limits) == issued.manifest)
    try BundleReader.extract(path, to: directory.file("out"), limits: limits)
    // The store has grown on the device and is returned.
    try lengthen(directory.file("out/" + issued.entry.path), "id = 1", by: 500_000)
    let returned = directory.file("returned")
    let writer = try ArchiveWriter(path: returned, format: format, modified: 0)
    try writer.add(name: Manifest.fileName, bytes: issued.manifest.bytes)
    try writer.add(name: issued.entry.path, file: directory.file("out/" + issued.entry.path))
    try writer.close()
    var expectation = Issued.expectation()
    expectation.limits = limits
    #expect(try !Issued.validate(returned, expectation, in: directory).stores[0].isUntouched)
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `undeclared and excessive content of a bundle is rejected`(format: ArchiveFormat) throws {
    let issued = try alike()
    let path = try pack(issued, format)
    var small = Issued.expectation()
    small.fileBytes = issued.entry.bytes - 1
    small.limits.entryBytes = small.fileBytes
    let refusal = #expect(throws: Refusal.self) { try Issued.validate(path, small, in: directory) }
    #expect(refusal?.code == .tooLarge)
    // A bundle may contain two stores of the maximum size.
    let bytes = try Files.size(of: path)
    var half = Issued.expectation()
    half.fileBytes = max(issued.entry.bytes, (bytes + 1) / 2)
    #expect(try Issued.validate(path, half, in: TemporaryDirectory("half")).stores.count > 0)
    half.fileBytes = (bytes - 1) / 2
    let large = #expect(throws: Refusal.self) {
      try Issued.validate(path, half, in: TemporaryDirectory("large"))
    }
    #expect(large?.code == .tooLarge)
    var manifest = issued.manifest
    manifest.stores[0].bytes = 10
    let lying = directory.file("lying")
    let writer = try ArchiveWriter(path: lying, format: format, modified: 0)
    try writer.add(name: Manifest.fileName, bytes: manifest.bytes)
    try writer.add(name: issued.entry.path, file: issued.storePath)
    try writer.close()
    var strict = Issued.expectation()
    strict.limits.ratio = format == .tarZst ? 200 : 20
    let lie = #expect(throws: Refusal.self) { try Issued.validate(lying, strict, in: directory) }
    #expect(lie?.code == .tooLarge)
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a flipped bit of a returned bundle is rejected or harmless`(format: ArchiveFormat) throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    print("flipped returned \(format.rawValue): seed \(seed)")
    var draw = seed
    let issued = try Issued(.android, in: directory)
    let store = try Store(opening: issued.storePath)
    try store.upsert(["{\"Id\":\"x\",\"Name\":\"from the device\"}"], into: "accounts")
    try store.close()
    let expected = try Files.read(issued.storePath)
    let path = directory.file("returned")
    let writer = try ArchiveWriter(path: path, format: format, modified: 0)
    try writer.add(name: Manifest.fileName, bytes: issued.manifest.bytes)
    try writer.add(name: issued.entry.path, file: issued.storePath)
    try writer.close()
    let whole = try Files.read(path)
    func unpack(_ bytes: [UInt8]) throws -> [UInt8] {
      let (file, out) = (directory.file("flipped"), directory.file("out"))
      try Files.remove(out)
      try Files.makeDirectory(out)
      try DurableFile.write(bytes, to: file)
      let (_, files) = try BundleReader.unpackReturn(file, to: out, limits: .init())
      return try Files.read(files[0].path)
    }
    #expect(try unpack(whole) == expected)
    var refused = 0
    for _ in 0..<150 {
      draw = draw &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let bit = Int(draw >> 33) % (whole.count * 8)
      var changed = whole
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      do { #expect(try unpack(changed) == expected, "seed \(seed): bit \(bit)") } catch {
        refused += 1
      }
    }
    #expect(refused > 100)
  }

  @Test func `a changed bundle without a checksum is rejected, an unchanged one is not`() throws {
    let issued = try Issued(.ios, in: directory)
    let log = directory.file("log")
    try DurableFile.write([UInt8](repeating: 0, count: 64), to: log)
    func bare(withLog: Bool = false) throws -> String {
      let path = directory.file("bare")
      let writer = try ArchiveWriter(path: path, format: .tarZst, modified: 0)
      try writer.add(name: Manifest.fileName, bytes: issued.manifest.bytes)
      try writer.add(name: issued.entry.path, file: issued.storePath)
      if withLog { try writer.add(name: issued.entry.path + "-wal", file: log) }
      try writer.close()
      // As written by a library without the checksum option.
      var bytes = Array(try Files.read(path).dropLast(4))
      bytes[4] &= ~4
      try DurableFile.write(bytes, to: path)
      return path
    }
    #expect(try Issued.validate(bare(), in: directory).stores[0].isUntouched)
    // The manifest covers the stores, but not a log next to one.
    let logged = #expect(throws: Refusal.self) {
      try Issued.validate(bare(withLog: true), in: TemporaryDirectory("logged"))
    }
    #expect(logged?.code == .archive && logged?.sentence.contains("checksum") == true)
    let store = try Store(opening: issued.storePath)
    try store.upsert(["{\"Id\":\"x\"}"], into: "accounts")
    try store.close()
    let refusal = #expect(throws: Refusal.self) { try Issued.validate(bare(), in: directory) }
    #expect(refusal?.code == .archive && refusal?.sentence.contains("checksum") == true)
  }
}
