import Crypto
import SmartStore
import Snapshots
import System

/// Seals the stores of a pipeline's bundles.
///
/// A store's salt and IVs are derived from the pipeline's secret, the passphrase, the stamp, the
/// generation, the path and the digest of the plain store. Packing a generation again therefore
/// gives the same bytes, and a different passphrase or content gives a different salt. So the salt
/// in a manifest shows whether a bundle is still current without sealing anything.
package struct StoreSealing: Sendable {
  /// The key that opens the stores.
  package let key: SQLCipherKey
  private let secret: [UInt8]

  /// Creates a sealing with a key.
  ///
  /// `secret` never leaves the pipeline's ledger.
  package init(key: SQLCipherKey, secret: [UInt8]) {
    self.key = key
    self.secret = secret
  }

  /// The manifest of the sealed stores, except for their sizes and digests, from that of the plain
  /// ones.
  package func announcing(_ manifest: Manifest) -> Manifest {
    var manifest = manifest
    manifest.seal = Manifest.Seal(
      method: Manifest.Seal.Method.sqlcipher.rawValue, kdfIterations: key.iterations)
    for index in manifest.stores.indices {
      let seed = seed(of: manifest.stores[index])
      manifest.stores[index].salt = Hex.encode(SQLCipherFile.salt(seed: seed))
    }
    return manifest
  }

  /// Seals the plain stores of a manifest into `target`, and returns the manifest of the sealed
  /// stores.
  ///
  /// The plain stores are where `BundleWriter.pack` expects them. They are not changed.
  package func seal(
    _ manifest: Manifest, storeDirectory: String, globalDirectory: String? = nil, to target: String
  ) throws(BundleError) -> Manifest {
    try BundleError.mapping {
      var sealed = announcing(manifest)
      for (index, store) in manifest.stores.enumerated() {
        let global = store.scope == .global ? globalDirectory : nil
        let plain = (global ?? storeDirectory) + "/" + store.path
        let file = target + "/" + store.path
        try Files.makeDirectory(Files.parent(of: file) ?? target)
        let outcome = try SQLCipherFile.seal(
          plain, to: file, key: key, randomness: .derived(seed: seed(of: store)))
        // The seed depends on the content, so files sealed from other content must not remain.
        let content =
          outcome.wasRebuilt ? try Digest.sha256Hex(file: plain) : outcome.digests?.plain
        guard let digests = outcome.digests, content == store.sha256 else {
          try Files.remove(file)
          throw BundleError.damaged(
            path: plain, file: Files.name(of: plain), reason: "changed after it was primed")
        }
        sealed.stores[index].bytes = try Files.size(of: file)
        sealed.stores[index].sha256 = digests.sealed
      }
      return sealed
    }
  }

  /// Seals the delta of a store from a stamp, and returns its salt in hexadecimal digits.
  ///
  /// Its seed differs from those of stores, and depends on the content.
  package func sealDelta(
    _ plain: String, to target: String, of store: StoreEntry, from stampID: String
  ) throws(BundleError) -> String {
    try BundleError.mapping {
      let seed = key.seed(
        secret,
        context: ["delta", stampID, store.stampID, store.path, try Digest.sha256Hex(file: plain)])
      let outcome = try SQLCipherFile.seal(
        plain, to: target, key: key, randomness: .derived(seed: seed))
      return Hex.encode(outcome.salt)
    }
  }

  private func seed(of store: StoreEntry) -> [UInt8] {
    key.seed(
      secret, context: [store.stampID, String(store.generation), store.path, store.sha256])
  }
}
