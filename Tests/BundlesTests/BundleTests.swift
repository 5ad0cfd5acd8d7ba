import Archive
import Bundles
import Crypto
import Glibc
import SmartStore
import System
import TestSupport
import Testing

@Suite struct BundleTests {
  let directory = TemporaryDirectory()

  private func pack(_ issued: Issued, _ format: ArchiveFormat = .zip) throws -> String {
    let path = directory.file("ios.bundle." + format.rawValue)
    try BundleWriter.pack(
      issued.manifest, storeDirectory: issued.directory.file("stores"), to: path, format: format,
      modified: Issued.now)
    return path
  }

  @Test(arguments: ArchiveFormat.allCases, Platform.allCases)
  func `a bundle is packed, verified, extracted`(format: ArchiveFormat, platform: Platform) throws {
    let issued = try Issued(platform)
    let path = try pack(issued, format)
    #expect(try BundleReader.inspect(path) == issued.manifest)
    #expect(try BundleReader.verify(path) == issued.manifest)
    let target = directory.file("out")
    #expect(try BundleReader.extract(path, to: target) == issued.manifest)
    #expect(try Files.read("\(target)/\(issued.entry.path)") == Files.read(issued.storePath))
    #expect(try Files.read("\(target)/manifest.json") == issued.manifest.bytes)
    #expect(throws: BundleError.self) { try BundleReader.extract(path, to: target) }
    #expect(try Files.list(directory.path).allSatisfy { !$0.hasPrefix(".tmp") })
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `the same generation gives the same bytes`(format: ArchiveFormat) throws {
    let issued = try Issued(.ios)
    let first = try Files.read(pack(issued, format))
    #expect(try Files.read(pack(issued, format)) == first)
  }

  @Test func `a store that the manifest does not describe is not packed`() throws {
    var issued = try Issued(.ios)
    issued.manifest.stores[0].sha256 = String(repeating: "0", count: 64)
    let error = #expect(throws: BundleError.self) { try pack(issued) }
    #expect(error?.isDamage == true)
    #expect(error?.description.contains(issued.entry.path) == true)
    #expect(try Files.list(directory.path) == [])
  }

  /// Run by `make soak`: the store takes no space on disk, but its digests take half a minute.
  @Test(.enabled(if: CampaignSize.largeBundles.count > 0))
  func `a store larger than the inbox accepts is packed, verified and extracted`() throws {
    var issued = try Issued(.ios)
    let bytes: Int64 = 4 << 30 + 1 << 20
    #expect(truncate(issued.storePath, Int(bytes)) == 0)
    (issued.manifest.stores[0].bytes, issued.entry.bytes) = (bytes, bytes)
    issued.manifest.stores[0].sha256 = try Digest.sha256Hex(file: issued.storePath)
    let path = try pack(issued, .tarZst)
    #expect(try BundleReader.verify(path) == issued.manifest)
    try BundleReader.extract(path, to: directory.file("out"))
    #expect(try Files.size(of: "\(directory.path)/out/\(issued.entry.path)") == bytes)
  }

  @Test func `a global store is read from its own directory`() throws {
    var issued = try Issued(.ios)
    let global = TemporaryDirectory()
    let path = StoreLocation(.ios).path
    try Files.makeDirectory(Files.parent(of: global.file(path)) ?? "/")
    try Files.copy(issued.storePath, to: global.file(path))
    var entry = issued.entry
    entry.scope = .global
    entry.path = path
    issued.manifest.stores.append(entry)
    let bundle = directory.file("a.zip")
    try BundleWriter.pack(
      issued.manifest, storeDirectory: issued.directory.file("stores"),
      globalDirectory: global.path, to: bundle, format: .zip, modified: 0)
    #expect(try BundleReader.verify(bundle).stores.count == 2)
  }

  @Test func `a missing, additional or misplaced file is reported as damage by name`() throws {
    let issued = try Issued(.ios)
    func error(_ entries: [(String, [UInt8])]) throws -> String {
      let path = directory.file("a.zip")
      let writer = try ArchiveWriter(path: path, format: .zip, modified: 0)
      for (name, bytes) in entries { try writer.add(name: name, bytes: bytes) }
      try writer.close()
      let error = #expect(throws: BundleError.self) { try BundleReader.verify(path) }
      #expect(error?.isDamage == true)
      return error?.description ?? ""
    }
    let manifest = ("manifest.json", issued.manifest.bytes)
    let store = (issued.entry.path, try Files.read(issued.storePath))
    #expect(try error([manifest]).contains("\(issued.entry.path) is missing"))
    #expect(try error([manifest, store, ("extra", [])]).contains("extra is not in the manifest"))
    #expect(try error([store, manifest]).contains("its first file is not manifest.json"))
    #expect(
      try error([manifest, (store.0, store.1.dropLast())]).contains("bytes, but the manifest says"))
    // Nothing beyond the size in the manifest is unpacked.
    let more = store.1 + [UInt8](repeating: 7, count: 1 << 20)
    #expect(try error([manifest, (store.0, more)]).contains("has more bytes than the"))
    let out = directory.file("out")
    #expect(throws: BundleError.self) { try BundleReader.extract(directory.file("a.zip"), to: out) }
    #expect(try Files.list(directory.path) == ["a.zip"])
    var changed = store.1
    changed[5000] ^= 1
    #expect(try error([manifest, (store.0, changed)]).contains("has a different SHA-256"))
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a changed byte is detected, or does not change the content`(format: ArchiveFormat) throws {
    let issued = try Issued(.android)
    let whole = try Files.read(pack(issued, format))
    let path = directory.file("flipped")
    var found = 0
    var tried = 0
    for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 150)) {
      var changed = whole
      changed[place] ^= 0x10
      try DurableFile.write(changed, to: path)
      tried += 1
      do throws(BundleError) {
        #expect(try BundleReader.verify(path) == issued.manifest, "byte \(place)")
      } catch {
        found += 1
        #expect(error.isDamage, "\(error)")
      }
    }
    #expect(found > tried / 2)
  }
}
