import Crypto
import SmartStore
import Snapshots
import System

extension DeltaWriter {
  /// Writes the delta between two bundles as `path`, as a pipeline does when it packs the second one.
  ///
  /// Both are verified. `key` opens sealed stores, and `archiveKey` sealed archives; the delta between
  /// them is sealed with it.
  package static func write(
    fromBundle old: String, toBundle new: String, as path: String, key: SQLCipherKey? = nil,
    archiveKey: ArchiveKey? = nil
  ) throws(BundleError) -> Outcome {
    try BundleError.mapping {
      let work = DurableFile.temporaryName(for: path)
      defer { try? Files.remove(work) }
      try Files.makeDirectory(work)
      let (one, other) = (
        try side(old, in: work + "/old", key, archiveKey),
        try side(new, in: work + "/new", key, archiveKey)
      )
      let isArchive = other.manifest.seal?.archive != nil
      return try write(
        from: one, to: other, as: path, modified: other.manifest.created,
        seal: try other.manifest.storeSeal.map { seal in
          let key = try self.key(key, of: seal, new)
          return { plain, target, _, _ in
            Hex.encode(try SQLCipherFile.seal(plain, to: target, key: key).salt)
          }
        },
        sealArchive: isArchive ? archiveKey.map(sealing) : nil)
    }
  }

  /// Seals archives with a key, each under a random salt.
  private static func sealing(_ key: ArchiveKey) -> ArchiveSealing {
    { plain, target, _, _ in
      try SealedArchive.seal(
        plain, to: target, key: key, salt: RandomBytes.make(SealedArchive.saltBytes))
    }
  }

  /// Unpacks a bundle, with its stores unsealed and validated.
  private static func side(
    _ bundle: String, in directory: String, _ key: SQLCipherKey?, _ archiveKey: ArchiveKey?
  ) throws -> Side {
    let manifest = try BundleReader.extract(bundle, to: directory, key: archiveKey)
    let ending = manifest.storeSeal == nil ? "" : ".plain"
    for store in manifest.stores {
      let file = directory + "/" + store.path
      if let seal = manifest.storeSeal {
        try SQLCipherFile.unseal(file, to: file + ending, key: self.key(key, of: seal, bundle))
      }
      try Store(untrusted: file + ending).close()
    }
    return Side(manifest) { directory + "/" + $0.path + ending }
  }

  private static func key(
    _ key: SQLCipherKey?, of seal: Manifest.Seal, _ bundle: String
  ) throws -> SQLCipherKey {
    guard let key else {
      throw BundleError.invalid("the stores of \(bundle) are sealed, and no passphrase is given")
    }
    return try key.with(iterations: seal.kdfIterations)
  }
}
