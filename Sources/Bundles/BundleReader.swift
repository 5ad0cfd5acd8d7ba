import Archive
import Crypto
import Snapshots
import System

/// Reads issued and returned bundles as untrusted archives.
package enum BundleReader {
  /// Limits for a bundle of any size, for bundles that attache wrote.
  ///
  /// The unpacked size is still limited: by the size of the file and by the store sizes in its
  /// manifest.
  package static let ofAnySize = ArchiveReader.Limits(
    entries: 1 << 16, totalBytes: 1 << 60, entryBytes: 1 << 60)

  /// Reads only the manifest.
  package static func inspect(
    _ path: String, limits: ArchiveReader.Limits = ofAnySize
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      try manifest(of: ArchiveReader(path: path, limits: limits), path)
    }
  }

  /// Reads the exact bytes of the manifest, which a signature is made of.
  package static func manifestBytes(
    _ path: String, limits: ArchiveReader.Limits = ofAnySize
  ) throws(BundleError) -> [UInt8] {
    try BundleError.mapping {
      try manifestBytes(of: ArchiveReader(path: path, limits: limits), path)
    }
  }

  /// Reads the whole bundle and compares every store with the manifest.
  ///
  /// `check` gets the exact bytes of the manifest first, and throws if its signature is not
  /// accepted. Without `key`, of a sealed archive only the sealed bytes are compared.
  @discardableResult
  package static func verify(
    _ path: String, limits: ArchiveReader.Limits = ofAnySize, key: ArchiveKey? = nil,
    check: (_ manifest: [UInt8]) throws -> Void = { _ in }
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      let reader = try ArchiveReader(path: path, limits: limits)
      let manifest = try manifest(of: reader, path, check: check)
      guard let part = manifest.seal?.archive else {
        try readStores(manifest.stores, of: reader, path, to: nil)
        return manifest
      }
      guard let key else {
        try SealedArchive.read(part, of: reader, path, document: "the manifest", nil)
        return manifest
      }
      let scratch = try ScratchDirectory(ProcessEnvironment.variables())
      defer { scratch.remove() }
      try readSealed(part, manifest, of: reader, path, limits, key, in: scratch.path, to: nil)
      return manifest
    }
  }

  /// Compares an archive of plain stores with their descriptions.
  static func verify(_ stores: [StoreEntry], inArchive path: String) throws {
    let reader = try ArchiveReader(path: path, limits: ofAnySize)
    for store in stores { reader.allow(store.bytes) }
    try readStores(stores, of: reader, path, to: nil)
  }

  /// Unpacks a verified bundle, each store at its path, to a directory that does not exist yet.
  ///
  /// `key` opens a sealed archive. Sealed stores stay sealed.
  @discardableResult
  package static func extract(
    _ path: String, to directory: String, limits: ArchiveReader.Limits = ofAnySize,
    key: ArchiveKey? = nil
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      let temporary = DurableFile.temporaryName(for: directory)
      do {
        try Files.makeDirectory(temporary, intermediate: true)
        let manifest = try unpack(path, to: temporary, limits, key)
        try DurableFile.publishDirectory(temporary: temporary, final: directory)
        return manifest
      } catch {
        try? Files.remove(temporary)
        throw error
      }
    }
  }

  private static func unpack(
    _ path: String, to directory: String, _ limits: ArchiveReader.Limits, _ key: ArchiveKey?
  ) throws -> Manifest {
    let reader = try ArchiveReader(path: path, limits: limits)
    let manifest = try manifest(of: reader, path)
    try DurableFile.write(manifest.bytes, to: directory + "/" + Manifest.fileName)
    guard let part = manifest.seal?.archive else {
      try readStores(manifest.stores, of: reader, path, to: directory)
      return manifest
    }
    guard let key else { throw BundleError.locked(path: path, isKeyGiven: false) }
    try readSealed(
      part, manifest, of: reader, path, limits, key, in: directory, to: directory)
    return manifest
  }

  /// Opens the sealed archive of a bundle in the directory `scratch`, then reads its stores.
  private static func readSealed(
    _ part: SealedPart, _ manifest: Manifest, of reader: ArchiveReader, _ path: String,
    _ limits: ArchiveReader.Limits, _ key: ArchiveKey, in scratch: String, to directory: String?
  ) throws {
    let plain = DurableFile.temporaryName(for: scratch + "/" + SealedArchive.entryName)
    defer { try? Files.remove(plain) }
    try SealedArchive.read(part, of: reader, path, document: "the manifest", (key, plain))
    let inner = try ArchiveReader(path: plain, limits: limits)
    for store in manifest.stores { inner.allow(store.bytes) }
    try readStores(manifest.stores, of: inner, path, to: directory)
  }

  /// Compares the remaining entries of an archive with the descriptions of stores, and writes them
  /// below a directory unless it is nil.
  private static func readStores(
    _ stores: [StoreEntry], of reader: ArchiveReader, _ path: String, to directory: String?
  ) throws {
    var expected = byPath(stores)
    while let entry = try reader.next() {
      guard let store = expected.removeValue(forKey: entry.name) else {
        throw BundleError.damaged(
          path: path, file: entry.name, reason: "is not in the manifest")
      }
      var check = EntryDigest(store, path)
      if let directory {
        // The manifest's paths are names of checked entries: plain and relative, without dots. The
        // archive may spell the same letters in another Unicode form.
        let target = directory + "/" + store.path
        try Files.makeDirectory(Files.parent(of: target) ?? directory)
        let file = try Files.createNew(target)
        try reader.read {
          try check.add($0)
          try file.write($0)
        }
      } else {
        try reader.read { try check.add($0) }
      }
      try check.finish()
    }
    try requireNone(expected, path)
  }

  /// Unpacks a returned bundle.
  ///
  /// Its stores may have changed, and each may come with its `-wal` and `-shm` files.
  ///
  /// No name of the archive is used for a file: store number n becomes `n.db`, its log `n.db-wal`,
  /// and the log's index `n.db-shm`.
  package static func unpackReturn(
    _ path: String, to directory: String, limits: ArchiveReader.Limits
  ) throws -> (manifest: Manifest, files: [ReturnedFile]) {
    let reader = try ArchiveReader(path: path, limits: limits)
    let manifest = try manifest(of: reader, path)
    var files: [Int: ReturnedFile] = [:]
    let names = manifest.stores.map(\.path)
    var hasLog = false
    while let entry = try reader.next() {
      if entry.name == SealedArchive.entryName, manifest.seal?.archive != nil {
        throw BundleError.damaged(
          path: path, file: entry.name,
          reason: "is the archive that was issued, and no store of a device: return the stores")
      }
      let suffix = ["-wal", "-shm"].first(where: entry.name.hasSuffix) ?? ""
      if suffix == "-wal" { hasLog = true }
      let name = String(entry.name.dropLast(suffix.count))
      guard let index = names.firstIndex(of: name) else {
        throw BundleError.damaged(
          path: path, file: entry.name, reason: "is not in the manifest")
      }
      let target = "\(directory)/\(index).db"
      let file = try Files.createNew(target + suffix)
      var hasher = SHA256Hasher()
      try reader.read {
        hasher.update($0)
        try file.write($0)
      }
      if !suffix.isEmpty { continue }
      files[index] = ReturnedFile(
        entry: manifest.stores[index], path: target, sha256: Hex.encode(hasher.finalize()))
    }
    // If the format has no checksum, the manifest's digest covers a store that was returned
    // unchanged.
    let isCovered =
      reader.isChecked
      || (!hasLog && files.values.allSatisfy { $0.sha256 == $0.entry.sha256 })
    guard isCovered else {
      throw ArchiveError(
        .damaged, path,
        "its stores have changed and it has no content checksum: make it a zip, or let "
          + "Zstandard write its checksum (zstd --check, ZSTD_c_checksumFlag)")
    }
    let found = Set(files.values.map(\.entry.path))
    try requireNone(byPath(manifest.stores).filter { !found.contains($0.key) }, path)
    return (manifest, files.sorted { $0.key < $1.key }.map(\.value))
  }

  /// A store of a returned bundle, unpacked to a private directory.
  package struct ReturnedFile {
    /// The store's entry in the manifest, as issued.
    package let entry: StoreEntry
    /// The path of the unpacked store.
    package let path: String
    /// The digest of the store, as returned.
    package let sha256: String
  }

  private static func manifestBytes(of reader: ArchiveReader, _ path: String) throws -> [UInt8] {
    guard let first = try reader.next(), first.name == Manifest.fileName else {
      throw BundleError.notABundle(
        path: path, reason: "its first file is not \(Manifest.fileName)")
    }
    return try reader.readAll(limit: Manifest.longest)
  }

  private static func manifest(
    of reader: ArchiveReader, _ path: String, check: (_ manifest: [UInt8]) throws -> Void = { _ in }
  ) throws -> Manifest {
    let bytes = try manifestBytes(of: reader, path)
    try check(bytes)
    let manifest = try Manifest(parsing: bytes, path: path)
    // A returned store may have grown, and its log is as large as the changes.
    for store in manifest.stores {
      let twice = store.bytes.multipliedReportingOverflow(by: 2)
      reader.allow(twice.overflow ? .max : twice.partialValue)
    }
    return manifest
  }

  private static func byPath(_ stores: [StoreEntry]) -> [String: StoreEntry] {
    Dictionary(stores.map { ($0.path, $0) }) { first, _ in first }
  }

  private static func requireNone(
    _ missing: [String: StoreEntry], _ path: String
  ) throws {
    guard let name = missing.keys.min() else { return }
    throw BundleError.damaged(path: path, file: name, reason: "is missing")
  }
}
