import Archive
import Crypto
import Snapshots
import System

/// Reads bundles, ours or returned, as hostile archives.
package enum BundleReader {
  /// Bounds of a bundle of any size, which ours may have.
  ///
  /// What comes out of it is bounded all the same: by the file's own size and by what its manifest says of each
  /// store.
  package static let ofAnySize = ArchiveReader.Limits(
    entries: 1 << 16, totalBytes: 1 << 60, entryBytes: 1 << 60)

  /// Reads the manifest and nothing else.
  package static func inspect(
    _ path: String, limits: ArchiveReader.Limits = ofAnySize
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      try manifest(of: ArchiveReader(path: path, limits: limits), path)
    }
  }

  /// Reads the whole bundle and compares every store with the manifest.
  @discardableResult
  package static func verify(
    _ path: String, limits: ArchiveReader.Limits = ofAnySize
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      let reader = try ArchiveReader(path: path, limits: limits)
      let manifest = try manifest(of: reader, path)
      var expected = byPath(manifest)
      while let entry = try reader.next() {
        guard let store = expected.removeValue(forKey: entry.name) else {
          throw BundleError.damaged(
            path: path, file: entry.name, reason: "is not named by the manifest")
        }
        var check = StoreDigest(store, path)
        try reader.read { try check.add($0) }
        try check.finish()
      }
      try requireNone(expected, path)
      return manifest
    }
  }

  /// Unpacks a verified bundle to a directory that does not exist yet, stores at their paths.
  @discardableResult
  package static func extract(
    _ path: String, to directory: String, limits: ArchiveReader.Limits = ofAnySize
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      let temporary = DurableFile.temporaryName(for: directory)
      do {
        try Files.makeDirectory(temporary, intermediate: true)
        let manifest = try unpack(path, to: temporary, limits)
        try DurableFile.publishDirectory(temporary: temporary, final: directory)
        return manifest
      } catch {
        try? Files.remove(temporary)
        throw error
      }
    }
  }

  private static func unpack(
    _ path: String, to directory: String, _ limits: ArchiveReader.Limits
  ) throws -> Manifest {
    let reader = try ArchiveReader(path: path, limits: limits)
    let manifest = try manifest(of: reader, path)
    try DurableFile.write(manifest.bytes, to: directory + "/" + Manifest.fileName)
    var expected = byPath(manifest)
    while let entry = try reader.next() {
      guard let store = expected.removeValue(forKey: entry.name) else {
        throw BundleError.damaged(
          path: path, file: entry.name, reason: "is not named by the manifest")
      }
      // The manifest's paths are names of checked entries: plain, relative, without dots.
      // An archive's own may have another form of the same letters.
      let target = directory + "/" + store.path
      try Files.makeDirectory(Files.parent(of: target) ?? directory)
      let file = try Files.createNew(target)
      var check = StoreDigest(store, path)
      try reader.read {
        try check.add($0)
        try file.write($0)
      }
      try check.finish()
    }
    try requireNone(expected, path)
    return manifest
  }

  /// Unpacks a returned bundle: its stores may have changed, and each may have its `-wal` and `-shm` beside it.
  ///
  /// Nothing is written under a name of the archive's: store number n is `n.db`, its log `n.db-wal`, and the log's
  /// index `n.db-shm`.
  package static func unpackReturn(
    _ path: String, to directory: String, limits: ArchiveReader.Limits
  ) throws -> (manifest: Manifest, files: [ReturnedFile]) {
    let reader = try ArchiveReader(path: path, limits: limits)
    let manifest = try manifest(of: reader, path)
    var files: [Int: ReturnedFile] = [:]
    let names = manifest.stores.map(\.path)
    var hasLog = false
    while let entry = try reader.next() {
      let suffix = ["-wal", "-shm"].first(where: entry.name.hasSuffix) ?? ""
      if suffix == "-wal" { hasLog = true }
      let name = String(entry.name.dropLast(suffix.count))
      guard let index = names.firstIndex(of: name) else {
        throw BundleError.damaged(
          path: path, file: entry.name, reason: "is not named by the manifest")
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
    // Where the format has no checksum, the manifest has one for what came back as it went.
    let isCovered =
      reader.isChecked
      || (!hasLog && files.values.allSatisfy { $0.sha256 == $0.entry.sha256 })
    guard isCovered else {
      throw ArchiveError(
        .damaged, path,
        "its stores have changed and it has no checksum of its content: make it a zip, or let "
          + "Zstandard write its checksum (zstd --check, ZSTD_c_checksumFlag)")
    }
    try requireNone(
      byPath(manifest).filter { item in !files.values.contains { $0.entry.path == item.key } }, path
    )
    return (manifest, files.sorted { $0.key < $1.key }.map(\.value))
  }

  /// A store of a returned bundle, in a private directory.
  package struct ReturnedFile {
    /// What the manifest says of it, as it went.
    package let entry: StoreEntry
    /// Where it was unpacked to.
    package let path: String
    /// Its digest, as it came back.
    package let sha256: String
  }

  private static func manifest(of reader: ArchiveReader, _ path: String) throws -> Manifest {
    guard let first = try reader.next(), first.name == Manifest.fileName else {
      throw BundleError.notABundle(
        path: path, reason: "its first file is not \(Manifest.fileName)")
    }
    let manifest = try Manifest(parsing: reader.readAll(limit: Manifest.longest), path: path)
    // A returned store may have grown, and its log is as large as what was changed.
    for store in manifest.stores {
      let twice = store.bytes.multipliedReportingOverflow(by: 2)
      reader.allow(twice.overflow ? .max : twice.partialValue)
    }
    return manifest
  }

  private static func byPath(_ manifest: Manifest) -> [String: StoreEntry] {
    Dictionary(manifest.stores.map { ($0.path, $0) }) { first, _ in first }
  }

  private static func requireNone(
    _ missing: [String: StoreEntry], _ path: String
  ) throws {
    guard let name = missing.keys.min() else { return }
    throw BundleError.damaged(path: path, file: name, reason: "is missing")
  }
}

/// Compares a store's bytes with the manifest while they pass.
private struct StoreDigest: ~Copyable {
  private let store: StoreEntry
  private let path: String
  private var hasher = SHA256Hasher()
  private var bytes: Int64 = 0

  init(_ store: StoreEntry, _ path: String) {
    self.store = store
    self.path = path
  }

  /// Takes the next bytes; throws at the first that is more than the manifest says.
  mutating func add(_ piece: UnsafeRawBufferPointer) throws(BundleError) {
    bytes += Int64(piece.count)
    guard bytes <= store.bytes else {
      throw .damaged(
        path: path, file: store.path,
        reason: "has more bytes than the \(store.bytes) that the manifest says")
    }
    hasher.update(piece)
  }

  consuming func finish() throws(BundleError) {
    let (bytes, store, path) = (bytes, store, path)
    guard bytes == store.bytes else {
      throw .damaged(
        path: path, file: store.path,
        reason: "has \(bytes) bytes where the manifest says \(store.bytes)")
    }
    guard Hex.encode(hasher.finalize()) == store.sha256 else {
      throw .damaged(path: path, file: store.path, reason: "has another SHA-256")
    }
  }
}
