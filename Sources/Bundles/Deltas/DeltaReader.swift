import Archive
import Crypto
import System

/// Reads deltas as untrusted archives.
package enum DeltaReader {
  /// Whether an archive starts as a delta does.
  package static func isDelta(_ path: String) -> Bool {
    guard let reader = try? ArchiveReader(path: path, limits: BundleReader.ofAnySize) else {
      return false
    }
    return (try? reader.next())?.name == DeltaDescription.fileName
  }

  /// Reads only the description.
  package static func inspect(_ path: String) throws(BundleError) -> DeltaDescription {
    try BundleError.mapping {
      try description(of: ArchiveReader(path: path, limits: BundleReader.ofAnySize), path)
    }
  }

  /// Reads the exact bytes of the description, which a signature is made of.
  package static func descriptionBytes(_ path: String) throws(BundleError) -> [UInt8] {
    try BundleError.mapping {
      try bytes(of: ArchiveReader(path: path, limits: BundleReader.ofAnySize), path)
    }
  }

  /// Reads the whole delta and compares every file with the description.
  ///
  /// `check` gets the exact bytes of the description first, and throws if its signature is not
  /// accepted.
  @discardableResult
  package static func verify(
    _ path: String, check: (_ description: [UInt8]) throws -> Void = { _ in }
  ) throws(BundleError) -> DeltaDescription {
    try read(path, check: check) { _, _ in nil }
  }

  /// Unpacks a verified delta: that of store number n becomes the file `n` of an existing directory.
  package static func unpack(
    _ path: String, to directory: String
  ) throws(BundleError) -> DeltaDescription {
    try read(path, check: { _ in }) { index, _ in "\(directory)/\(index)" }
  }

  private static func read(
    _ path: String, check: (_ description: [UInt8]) throws -> Void,
    target: (Int, DeltaDescription.StoreFile) -> String?
  ) throws(BundleError) -> DeltaDescription {
    try BundleError.mapping {
      let reader = try ArchiveReader(path: path, limits: BundleReader.ofAnySize)
      let description = try description(of: reader, path, check: check)
      for (index, store) in description.stores.enumerated() {
        guard let entry = try reader.next(), entry.name == store.name else {
          throw BundleError.damaged(path: path, file: store.name, reason: "is missing")
        }
        var digest = EntryDigest(
          store.name, bytes: store.bytes, sha256: store.sha256, of: path,
          document: DeltaDescription.fileName)
        if let name = target(index, store) {
          let file = try Files.createNew(name)
          try reader.read {
            try digest.add($0)
            try file.write($0)
          }
        } else {
          try reader.read { try digest.add($0) }
        }
        try digest.finish()
      }
      if let entry = try reader.next() {
        throw BundleError.damaged(
          path: path, file: entry.name, reason: "is not in \(DeltaDescription.fileName)")
      }
      return description
    }
  }

  private static func bytes(of reader: ArchiveReader, _ path: String) throws -> [UInt8] {
    guard let first = try reader.next(), first.name == DeltaDescription.fileName else {
      throw BundleError.notABundle(
        path: path, reason: "its first file is not \(DeltaDescription.fileName)")
    }
    return try reader.readAll(limit: DeltaDescription.longest)
  }

  private static func description(
    of reader: ArchiveReader, _ path: String,
    check: (_ description: [UInt8]) throws -> Void = { _ in }
  ) throws -> DeltaDescription {
    let bytes = try bytes(of: reader, path)
    try check(bytes)
    let description = try DeltaDescription(parsing: bytes, path: path)
    for store in description.stores { reader.allow(store.bytes) }
    return description
  }
}
