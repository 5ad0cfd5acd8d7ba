import Archive
import Bundles
import Crypto
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct SealedArchiveTests {
  static let chunk = SealedArchive.chunkBytes
  static let header = SealedArchive.headerBytes
  static let key = ArchiveKey(passphrase: Secret(Base64.encode(Array(0..<32))))
  static let other = ArchiveKey(passphrase: Secret(Base64.encode(Array(1..<33))))
  static let salt = Array(UInt8(32)..<64)

  let directory = TemporaryDirectory("sealed-archive")

  /// Bytes that differ from chunk to chunk.
  static func content(_ count: Int) -> [UInt8] {
    var state: UInt64 = 88_172_645_463_325_252
    return (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state)
    }
  }

  func sealed(_ content: [UInt8], salt: [UInt8] = salt) throws -> (bytes: [UInt8], part: SealedPart)
  {
    let (plain, file) = (directory.file("plain"), directory.file("sealed"))
    for path in [plain, file] { try Files.remove(path) }
    try DurableFile.write(content, to: plain)
    let part = try SealedArchive.seal(plain, to: file, key: Self.key, salt: salt)
    return (try Files.read(file), part)
  }

  private final class Collected { var bytes: [UInt8] = [] }

  func opened(_ bytes: [UInt8], key: ArchiveKey = key, pieces: Int = 1 << 18) throws -> [UInt8] {
    let collected = Collected()
    let opener = SealedArchive.Opener(key: key, path: "a.zip") {
      collected.bytes.append(contentsOf: $0)
    }
    try bytes.withUnsafeBytes { all in
      for start in stride(from: 0, to: all.count, by: pieces) {
        try opener.update(
          UnsafeRawBufferPointer(rebasing: all[start..<min(start + pieces, all.count)]))
      }
    }
    try opener.finish()
    return collected.bytes
  }

  func refusal(_ bytes: [UInt8], key: ArchiveKey = key, _ name: String) throws {
    do {
      let content = try opened(bytes, key: key)
      Issue.record("\(name) is opened: \(content.count) bytes")
    } catch let error as BundleError {
      #expect(error.isDamage, "\(name): \(error)")
      #expect(error.fix?.contains("copy it again") == true, "\(name)")
    }
  }

  @Test func `the bytes are those of another implementation`() throws {
    // Computed with Python's cryptography package.
    let expected =
      "4154545345414c31202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
      + "5d5f22bebeb1392586db3370a5dedd9b31ba4d0780148dc392a505b685d33fd1716369af58f5e6"
    let (bytes, part) = try sealed(Array("attache".utf8))
    #expect(Hex.encode(bytes) == expected)
    #expect(part.salt == Hex.encode(Self.salt.prefix(16)))
    let two = try sealed([UInt8](repeating: UInt8(ascii: "a"), count: Self.chunk) + Array("b".utf8))
    #expect(
      two.part.sha256 == "815f8bb6e520a21d589b6cea9cde6236449c3d2d1b5877aaad92f6a76a61b6e4")
  }

  @Test(arguments: [
    0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk, 2 * chunk + 1, 5 * chunk + 77,
  ])
  func `an archive of any size is sealed and opened`(_ count: Int) throws {
    let content = Self.content(count)
    let (bytes, part) = try sealed(content)
    #expect(Int64(bytes.count) == SealedArchive.bytes(ofPlain: Int64(count)))
    #expect(part.bytes == Int64(bytes.count) && part.sha256 == Digest.sha256Hex(bytes))
    for pieces in [4093, 1 << 18, Self.chunk, Self.chunk + 16, max(1, bytes.count)] {
      #expect(try opened(bytes, pieces: pieces) == content, "pieces of \(pieces)")
    }
    #expect(try sealed(content).bytes == bytes)
  }

  @Test(arguments: [0, 1, chunk, 2 * chunk, 2 * chunk + 5])
  func `an archive that is cut anywhere is refused`(_ count: Int) throws {
    let (bytes, _) = try sealed(Self.content(count))
    var cuts: Set<Int> = [0, 1, 7, 8, 40, Self.header - 1, Self.header]
    for start in stride(from: Self.header, through: bytes.count, by: Self.chunk + 16) {
      cuts.formUnion([-17, -16, -1, 0, 1, 15, 16, 17].map { start + $0 })
    }
    cuts.formUnion([bytes.count - 17, bytes.count - 16, bytes.count - 1])
    for cut in cuts where cut >= 0 && cut < bytes.count {
      try refusal(Array(bytes[..<cut]), "the first \(cut) bytes")
    }
    try refusal(bytes + [0], "a byte more")
  }

  @Test func `chunks that were moved, repeated, removed or exchanged are refused`() throws {
    let (bytes, _) = try sealed(Self.content(3 * Self.chunk + 9))
    let size = Self.chunk + 16
    let head = Array(bytes[..<Self.header])
    let chunks = stride(from: Self.header, to: bytes.count, by: size).map {
      Array(bytes[$0..<min($0 + size, bytes.count)])
    }
    let other = try sealed(Self.content(3 * Self.chunk + 9), salt: Self.salt.reversed()).bytes
    let foreign = Array(other[Self.header..<(Self.header + size)])
    let empty = try sealed([]).bytes[Self.header...]
    for (name, order) in [
      ("two exchanged", [chunks[1], chunks[0], chunks[2], chunks[3]]),
      ("one repeated", [chunks[0], chunks[0], chunks[1], chunks[2], chunks[3]]),
      ("the first removed", [chunks[1], chunks[2], chunks[3]]),
      ("one in the middle removed", [chunks[0], chunks[2], chunks[3]]),
      ("the last removed", [chunks[0], chunks[1], chunks[2]]),
      ("the last first", [chunks[3], chunks[0], chunks[1], chunks[2]]),
      ("one of another archive", [foreign, chunks[1], chunks[2], chunks[3]]),
      ("an empty one at the end", [chunks[0], chunks[1], chunks[2], Array(empty)]),
    ] {
      try refusal(head + order.flatMap(\.self), name)
    }
  }

  @Test func `a changed byte anywhere is refused`() throws {
    let (bytes, _) = try sealed(Self.content(Self.chunk + 33))
    let second = Self.header + Self.chunk + 16
    let places =
      Array(8..<40) + [
        Self.header, Self.header + 1000, second - 17, second - 16, second - 1, second, second + 32,
        bytes.count - 1,
      ]
    for place in places {
      var changed = bytes
      changed[place] ^= 0x01
      if place < Self.header {
        // A changed salt gives another key, and only the digest shows that it is damage.
        #expect(throws: BundleError.self, "byte \(place)") { try opened(changed) }
      } else {
        try refusal(changed, "byte \(place)")
      }
    }
  }

  @Test func `another key is refused with the fix`() throws {
    let (bytes, _) = try sealed(Self.content(100))
    for key in [Self.other, ArchiveKey(passphrase: Secret("text"))] {
      let error = #expect(throws: BundleError.self) { try opened(bytes, key: key) }
      #expect(error?.isDamage == false)
      #expect(error?.description == "a.zip is sealed with another passphrase")
      #expect(error?.fix?.contains("the passphrase of pack.seal") == true)
    }
    #expect(ArchiveKey.isKey(Secret(Base64.encode(Array(0..<32)) + "\n")))
    for text in ["", "text", Base64.encode(Array(0..<31)), Base64.encode(Array(0..<33))] {
      #expect(!ArchiveKey.isKey(Secret(text)), "\(text)")
    }
  }
}

/// Bundles whose archive is sealed.
@Suite struct SealedArchiveBundleTests {
  let directory = TemporaryDirectory("sealed-bundle")

  private func sealing(
    _ format: ArchiveFormat, key: ArchiveKey = SealedArchiveTests.key, secret: [UInt8] = Issued.key
  ) -> BundleSealing {
    .archive(ArchiveSealing(key: key, secret: secret, format: format))
  }

  private func pack(
    _ issued: Issued, _ format: ArchiveFormat = .zip, as name: String = "a"
  ) throws -> (path: String, manifest: Manifest) {
    let (work, path) = (directory.file("work"), directory.file("\(name).\(format.rawValue)"))
    try Files.remove(work)
    let manifest = try sealing(format).seal(
      issued.manifest, storeDirectory: issued.directory.file("stores"), to: work)
    #expect(try Files.list(work) == [SealedArchive.entryName])
    try BundleWriter.pack(
      manifest, storeDirectory: work, to: path, format: format, modified: Issued.now)
    try Files.remove(work)
    return (path, manifest)
  }

  @Test(arguments: ArchiveFormat.allCases, Platform.allCases)
  func `a bundle is sealed, verified and extracted`(
    _ format: ArchiveFormat, _ platform: Platform
  ) throws {
    let issued = try Issued(platform)
    let (path, manifest) = try pack(issued, format)
    #expect(manifest.stores == issued.manifest.stores)
    #expect(manifest.storeSeal == nil && manifest.seal?.method == "archive")
    #expect(try Manifest(parsing: manifest.bytes, path: "") == manifest)
    #expect(try BundleReader.inspect(path) == manifest)
    #expect(try BundleReader.manifestBytes(path) == manifest.bytes)
    #expect(try BundleReader.verify(path) == manifest)
    #expect(try BundleReader.verify(path, key: SealedArchiveTests.key) == manifest)
    let out = directory.file("out")
    try BundleReader.extract(path, to: out, key: SealedArchiveTests.key)
    #expect(try Files.read("\(out)/\(issued.entry.path)") == Files.read(issued.storePath))
    #expect(try Files.read("\(out)/manifest.json") == manifest.bytes)
    #expect(try Files.list(out).allSatisfy { !$0.hasPrefix(".tmp") && $0 != "content.sealed" })
    #expect(!(try Files.read(path)).contains(sequence: Array("SQLite format 3".utf8)))
    // The same bytes again; and the salt of another passphrase or another content differs.
    #expect(try Files.read(pack(issued, format, as: "b").path) == Files.read(path))
    let announced = sealing(format).announcing(issued.manifest)
    #expect(announced.seal?.archive?.salt == manifest.seal?.archive?.salt)
    for changed in [
      sealing(format, key: SealedArchiveTests.other).announcing(issued.manifest),
      sealing(format, secret: [1]).announcing(issued.manifest),
    ] {
      #expect(changed.seal?.archive?.salt != manifest.seal?.archive?.salt)
    }
  }

  @Test func `without the passphrase, or with another one, nothing is extracted`() throws {
    let (path, _) = try pack(Issued(.ios))
    for (key, text) in [
      (nil, "is sealed, and no passphrase is given"),
      (SealedArchiveTests.other, "is sealed with another passphrase"),
    ] {
      let error = #expect(throws: BundleError.self) {
        try BundleReader.extract(path, to: directory.file("out"), key: key)
      }
      #expect(error?.description.contains(text) == true)
      #expect(error?.fix?.contains("passphrase") == true)
    }
    #expect(throws: BundleError.self) {
      try BundleReader.verify(path, key: SealedArchiveTests.other)
    }
    #expect(try Files.list(directory.path) == ["a.zip"])
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a changed byte is detected, or does not change the content`(format: ArchiveFormat) throws {
    let issued = try Issued(.android)
    let (path, manifest) = try pack(issued, format)
    let whole = try Files.read(path)
    let flipped = directory.file("flipped")
    var found = 0
    var tried = 0
    for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 200)) {
      var changed = whole
      changed[place] ^= 0x10
      try DurableFile.write(changed, to: flipped)
      tried += 1
      do throws(BundleError) {
        #expect(
          try BundleReader.verify(flipped, key: SealedArchiveTests.key) == manifest,
          "byte \(place)")
      } catch {
        found += 1
        #expect(error.isDamage, "byte \(place): \(error)")
      }
    }
    #expect(found > tried / 2)
  }

  @Test func `a store that changed after it was primed is not sealed`() throws {
    var issued = try Issued(.ios)
    issued.manifest.stores[0].sha256 = String(repeating: "0", count: 64)
    let error = #expect(throws: BundleError.self) { try pack(issued) }
    #expect(error?.isDamage == true)
    #expect(try Files.list(directory.file("work")) == [])
  }

  @Test(arguments: ArchiveFormat.allCases)
  func `a sealed archive has at most 1.05 times the size of a plain bundle`(
    format: ArchiveFormat
  ) throws {
    var issued = try Issued(.ios)
    let store = try Store(opening: issued.storePath)
    try store.upsert(
      (0..<4000).map { number in
        "{\"Id\":\"0010000000\(10_000 + number)AAA\",\"Name\":\"Account \(number * 7919)\"}"
      },
      into: "accounts")
    try store.close()
    issued.entry.bytes = try Files.size(of: issued.storePath)
    issued.entry.sha256 = try Digest.sha256Hex(file: issued.storePath)
    issued.manifest.stores = [issued.entry]
    let plain = directory.file("plain")
    try BundleWriter.pack(
      issued.manifest, storeDirectory: issued.directory.file("stores"), to: plain, format: format,
      modified: Issued.now)
    let (path, _) = try pack(issued, format)
    #expect(try Double(Files.size(of: path)) <= 1.05 * Double(Files.size(of: plain)))
  }

  @Test func `bundles of sealed stores are stored, not compressed`() throws {
    let issued = try Issued(.ios)
    let (work, path) = (directory.file("work"), directory.file("a.zip"))
    let key = try SQLCipherKey(passphrase: Secret("word"))
    let manifest = try StoreSealing(key: key, secret: Issued.key).seal(
      issued.manifest, storeDirectory: issued.directory.file("stores"), to: work)
    try BundleWriter.pack(manifest, storeDirectory: work, to: path, format: .zip, modified: 0)
    let bytes = try Files.read(path)
    #expect(bytes.contains(sequence: try Files.read(work + "/" + issued.entry.path).suffix(4096)))
    #expect(try BundleReader.verify(path) == manifest)
  }

  @Test(arguments: [Platform.ios, .android])
  func `a delta between sealed archives is sealed, and is applied with the passphrase`(
    _ platform: Platform
  ) throws {
    let scene = try DeltaScene(platform, seed: 7, stores: 2)
    let plain = (try scene.generation(3), try scene.generation(4))
    func bundle(_ manifest: Manifest) throws -> String {
      let number = manifest.generation
      let (stores, work) = (directory.file("stores-\(number)"), directory.file("work-\(number)"))
      for store in manifest.stores {
        try Files.makeDirectory(Files.parent(of: stores + "/" + store.path) ?? "/")
        try Files.copy(scene.file(number, store.path), to: stores + "/" + store.path)
      }
      let sealed = try sealing(.zip).seal(manifest, storeDirectory: stores, to: work)
      let path = directory.file("\(number).zip")
      try BundleWriter.pack(sealed, storeDirectory: work, to: path, format: .zip, modified: 0)
      return path
    }
    let (old, new) = (try bundle(plain.0), try bundle(plain.1))
    let delta = directory.file("3-4.zip")
    let key = SealedArchiveTests.key
    guard
      case .written = try DeltaWriter.write(
        fromBundle: old, toBundle: new, as: delta, archiveKey: key)
    else { throw Issued.Lost() }
    #expect(!(try Files.read(delta)).contains(sequence: Array("SQLite format 3".utf8)))
    let description = try DeltaReader.verify(delta)
    #expect(try DeltaReader.verify(delta, key: key) == description)
    #expect(description.archive != nil)
    #expect(try BundleReader.inspect(new) == description.to)
    #expect(throws: BundleError.self) {
      try DeltaReader.verify(delta, key: SealedArchiveTests.other)
    }
    let device = directory.file("device")
    try BundleReader.extract(old, to: device, key: key)
    for wrong in [nil, SealedArchiveTests.other] {
      #expect(throws: BundleError.self) {
        try DeltaInstallation(delta, archiveKey: wrong).apply(to: device, install: "i")
      }
    }
    _ = try DeltaInstallation(delta, archiveKey: key).apply(to: device, install: "i")
    for store in plain.1.stores {
      #expect(
        try DeltaScene.content(device + "/" + store.path)
          == DeltaScene.content(scene.file(4, store.path)))
    }
  }

  @Test func `a returned issue says what to return`() throws {
    let (path, _) = try pack(Issued(.ios))
    let out = directory.file("returned")
    try Files.makeDirectory(out)
    let error = #expect(throws: BundleError.self) {
      try BundleReader.unpackReturn(path, to: out, limits: .init())
    }
    #expect(error?.description.contains("return the stores") == true)
  }
}

extension Array where Element == UInt8 {
  /// Whether bytes occur in this order.
  fileprivate func contains(sequence: some Collection<UInt8>) -> Bool {
    let wanted = Array(sequence)
    guard let first = wanted.first, count >= wanted.count else { return wanted.isEmpty }
    return (0...(count - wanted.count)).contains { start in
      self[start] == first && self[start..<(start + wanted.count)].elementsEqual(wanted)
    }
  }
}
