import Archive
import Crypto
import Snapshots
import System

/// Seals the archives of a pipeline's bundles and deltas.
///
/// A salt has two halves. The first one is derived from the pipeline's secret, the passphrase and the
/// stores, so a run knows without sealing anything whether a bundle is current. The second one is
/// derived from the bytes of the archive: two archives never have the same salt, and so no nonce is
/// used twice under one key.
package struct ArchiveSealing: Sendable {
  private let key: ArchiveKey
  private let secret: [UInt8]
  private let format: ArchiveFormat
  private let level: Int?

  /// Creates a sealing with a key, and with the format and level of the archive.
  ///
  /// `secret` never leaves the pipeline's ledger.
  package init(key: ArchiveKey, secret: [UInt8], format: ArchiveFormat, level: Int? = nil) {
    (self.key, self.secret) = (key, secret)
    (self.format, self.level) = (format, level)
  }

  /// The manifest of a sealed bundle, except for the size and digest of the sealed archive.
  func announcing(_ manifest: Manifest) -> Manifest {
    var manifest = manifest
    let seed = seed(of: manifest.stores)
    manifest.seal = Manifest.Seal(
      archive: SealedPart(bytes: 0, sha256: "", salt: Hex.encode(half(of: seed))))
    return manifest
  }

  /// Writes the sealed archive of the stores into a new directory, and returns the manifest.
  func seal(
    _ manifest: Manifest, storeDirectory: String, globalDirectory: String?, to target: String
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      try Files.makeDirectory(target, intermediate: true)
      let plain = target + "/content"
      defer { try? Files.remove(plain) }
      try BundleWriter.write(
        manifest.stores, storeDirectory: storeDirectory, globalDirectory: globalDirectory,
        to: plain, format: format, level: level, modified: manifest.created)
      // What was primed is what is sealed: nothing compares the stores afterwards.
      try BundleReader.verify(manifest.stores, inArchive: plain)
      var manifest = manifest
      manifest.seal = Manifest.Seal(
        archive: try seal(
          plain, to: target + "/" + SealedArchive.entryName, seed: seed(of: manifest.stores)))
      return manifest
    }
  }

  /// Seals the archive of a delta to stores, from those with the given stamps.
  func sealDelta(
    _ plain: String, to target: String, of stores: [StoreEntry], from stampIDs: [String]
  ) throws(BundleError) -> SealedPart {
    try BundleError.mapping {
      let context = ["delta"] + stampIDs + stores.flatMap { [$0.path, $0.stampID] }
      return try seal(plain, to: target, seed: key.seed(secret, context: context))
    }
  }

  private func seal(_ plain: String, to file: String, seed: [UInt8]) throws -> SealedPart {
    let content = HMAC.sha256(
      key: seed, Array("content".utf8) + Array(try Digest.sha256Hex(file: plain).utf8))
    let part = try SealedArchive.seal(
      plain, to: file, key: key, salt: half(of: seed) + half(of: content))
    try SealedArchive.verify(file, part, key: key, content: plain)
    return part
  }

  private func half(of seed: [UInt8]) -> [UInt8] {
    Array(HMAC.sha256(key: seed, Array("salt".utf8)).prefix(SealedArchive.saltBytes / 2))
  }

  private func seed(of stores: [StoreEntry]) -> [UInt8] {
    let parts = stores.flatMap { [$0.path, $0.stampID, String($0.generation), $0.sha256] }
    return key.seed(secret, context: ["bundle"] + parts)
  }
}

/// How a pipeline seals its bundles.
package enum BundleSealing: Sendable {
  /// Store by store.
  case stores(StoreSealing)
  /// The archive as a whole.
  case archive(ArchiveSealing)

  /// The manifest of the sealed bundle, except for sizes and digests, from that of the plain one.
  package func announcing(_ manifest: Manifest) -> Manifest {
    switch self {
    case .stores(let sealing): sealing.announcing(manifest)
    case .archive(let sealing): sealing.announcing(manifest)
    }
  }

  /// Writes what a bundle contains after its manifest into `target`, and returns the manifest.
  ///
  /// The plain stores are where `BundleWriter.pack` expects them. They are not changed.
  package func seal(
    _ manifest: Manifest, storeDirectory: String, globalDirectory: String? = nil, to target: String
  ) throws(BundleError) -> Manifest {
    switch self {
    case .stores(let sealing):
      try sealing.seal(
        manifest, storeDirectory: storeDirectory, globalDirectory: globalDirectory, to: target)
    case .archive(let sealing):
      try sealing.seal(
        manifest, storeDirectory: storeDirectory, globalDirectory: globalDirectory, to: target)
    }
  }

  /// Seals the stores of the deltas to a bundle; nil if their archives are sealed.
  package var deltaStores: DeltaWriter.Sealing? {
    guard case .stores(let sealing) = self else { return nil }
    return { plain, target, one, other in
      try sealing.sealDelta(plain, to: target, of: other, from: one.stampID)
    }
  }

  /// Seals the archives of the deltas to a bundle; nil if their stores are sealed.
  package var deltaArchive: DeltaWriter.ArchiveSealing? {
    guard case .archive(let sealing) = self else { return nil }
    return { plain, target, old, new in
      try sealing.sealDelta(plain, to: target, of: new, from: old.map(\.stampID))
    }
  }
}
