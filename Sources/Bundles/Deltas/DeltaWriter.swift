import Archive
import Crypto
import SmartStore
import Snapshots
import System

/// Makes the delta between two bundles of a user.
package enum DeltaWriter {
  /// A bundle and where its plain stores are.
  package struct Side: Sendable {
    /// The manifest of the bundle.
    package var manifest: Manifest
    /// The path of each plain store.
    package var file: @Sendable (StoreEntry) -> String

    package init(_ manifest: Manifest, file: @escaping @Sendable (StoreEntry) -> String) {
      (self.manifest, self.file) = (manifest, file)
    }
  }

  /// The result of making a delta.
  package enum Outcome: Sendable, Hashable {
    /// It was written, with this size in bytes.
    case written(Int64)
    /// There is none, because the bundles have different configurations, stores or layouts.
    case unlike
    /// It has more bytes than allowed, and was not written.
    case large(Int64)
  }

  /// Seals the plain file of a delta between two stores as a new file, and returns its salt in
  /// hexadecimal digits.
  package typealias Sealing = (
    _ plain: String, _ target: String, _ old: StoreEntry, _ new: StoreEntry
  ) throws -> String

  /// Seals the archive of a delta between stores as a new file.
  package typealias ArchiveSealing = (
    _ plain: String, _ target: String, _ old: [StoreEntry], _ new: [StoreEntry]
  ) throws -> SealedPart

  /// Whether a device can get from one bundle to the other by a delta at all.
  package static func areAlike(_ old: Manifest, _ new: Manifest) -> Bool {
    func places(_ manifest: Manifest) -> [[String]] {
      manifest.stores.map { [$0.scope.rawValue, $0.storeName, $0.path] }
    }
    return old.org == new.org && old.user == new.user && old.pipeline == new.pipeline
      && old.platform == new.platform && old.generation <= new.generation
      && old.configHash == new.configHash && form(old.seal) == form(new.seal)
      && places(old) == places(new)
  }

  /// The encryption of a bundle without what depends on its content.
  private static func form(_ seal: Manifest.Seal?) -> Manifest.Seal? {
    seal.map { Manifest.Seal(method: $0.method, kdfIterations: $0.kdfIterations) }
  }

  /// Writes the delta from one bundle to another as `path`.
  ///
  /// `limit` is the largest size that is worth a file. The archive is read back and compared with its
  /// description before it gets its final name. `sign` gets the exact bytes of `delta.json` right
  /// before that.
  package static func write(
    from old: Side, to new: Side, as path: String, limit: Int64 = .max, modified: Int64,
    seal: Sealing? = nil, sealArchive: ArchiveSealing? = nil,
    sign: (_ description: [UInt8]) throws -> Void = { _ in }
  ) throws(BundleError) -> Outcome {
    try BundleError.mapping {
      guard areAlike(old.manifest, new.manifest) else { return .unlike }
      let temporary = DurableFile.temporaryName(for: path)
      defer { try? Files.remove(temporary) }
      try Files.makeDirectory(temporary)
      var description = DeltaDescription(
        fromGeneration: old.manifest.generation, to: new.manifest, stores: [])
      for (index, (one, other)) in zip(old.manifest.stores, new.manifest.stores).enumerated() {
        let file = "\(temporary)/\(index)"
        guard
          case .written(let changes) = try StoreDelta.write(
            from: old.file(one), to: new.file(other), as: file)
        else { return .unlike }
        let salt = try seal.map { seal in
          let plain = file + ".plain"
          try Files.rename(file, to: plain)
          return try seal(plain, file, one, other)
        }
        description.stores.append(
          DeltaDescription.StoreFile(
            path: other.path, bytes: try Files.size(of: file),
            sha256: try Digest.sha256Hex(file: file), salt: salt, fromStampID: one.stampID,
            fromGeneration: one.generation, changes: changes))
      }
      let archive = temporary + "/delta.zip"
      if let sealArchive {
        let plain = temporary + "/content"
        try pack(description.stores, in: temporary, as: plain, modified: modified)
        let sealed = temporary + "/" + SealedArchive.entryName
        description.archive = try sealArchive(
          plain, sealed, old.manifest.stores, new.manifest.stores)
      }
      try pack(
        description.archive == nil ? description.stores : [], of: description, in: temporary,
        as: archive, modified: modified)
      let size = try Files.size(of: archive)
      guard size <= limit else { return .large(size) }
      try DeltaReader.verify(archive)
      try sign(description.bytes)
      try DurableFile.rename(archive, to: path)
      return .written(size)
    }
  }

  /// Writes a zip of deltas, with their description first and their sealed archive last, if there are
  /// any.
  private static func pack(
    _ stores: [DeltaDescription.StoreFile], of description: DeltaDescription? = nil,
    in directory: String, as archive: String, modified: Int64
  ) throws {
    // Both platforms read deflate without a library, but not Zstandard. Encrypted bytes do not become
    // smaller.
    let writer = try ArchiveWriter(
      path: archive, format: .zip,
      level: description?.to.seal == nil ? nil : ArchiveFormat.zip.leastLevel, modified: modified)
    if let description {
      try writer.add(name: DeltaDescription.fileName, bytes: description.bytes)
    }
    for (index, store) in stores.enumerated() {
      try writer.add(name: store.name, file: "\(directory)/\(index)")
    }
    if description?.archive != nil {
      try writer.add(
        name: SealedArchive.entryName, file: directory + "/" + SealedArchive.entryName)
    }
    try writer.close()
  }
}
