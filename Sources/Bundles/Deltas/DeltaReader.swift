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
  /// accepted. Without `key`, of a sealed archive only the sealed bytes are compared.
  @discardableResult
  package static func verify(
    _ path: String, key: ArchiveKey? = nil,
    check: (_ description: [UInt8]) throws -> Void = { _ in }
  ) throws(BundleError) -> DeltaDescription {
    try BundleError.mapping {
      guard let key else { return try read(path, nil, check: check) { _ in nil } }
      let scratch = try ScratchDirectory(ProcessEnvironment.variables())
      defer { scratch.remove() }
      return try read(path, (key, scratch.path), check: check) { _ in nil }
    }
  }

  /// Unpacks a verified delta: that of store number n becomes the file `n` of an existing directory.
  ///
  /// `key` opens a sealed archive.
  package static func unpack(
    _ path: String, to directory: String, key: ArchiveKey? = nil
  ) throws(BundleError) -> DeltaDescription {
    try BundleError.mapping {
      try read(path, key.map { ($0, directory) }, isWhole: true, check: { _ in }) {
        "\(directory)/\($0)"
      }
    }
  }

  /// Reads a delta; its sealed archive is opened in the directory `scratch`.
  private static func read(
    _ path: String, _ opening: (key: ArchiveKey, scratch: String)?, isWhole: Bool = false,
    check: (_ description: [UInt8]) throws -> Void, target: (Int) -> String?
  ) throws -> DeltaDescription {
    let reader = try ArchiveReader(path: path, limits: BundleReader.ofAnySize)
    let description = try description(of: reader, path, check: check)
    guard let part = description.archive else {
      try readStores(description, of: reader, path, target: target)
      return description
    }
    if isWhole, opening == nil { throw BundleError.locked(path: path, isKeyGiven: false) }
    let plain = opening.map { $0.scratch + "/content" }
    defer { if let plain { try? Files.remove(plain) } }
    try SealedArchive.read(
      part, of: reader, path, document: DeltaDescription.fileName,
      opening.map { ($0.key, $0.scratch + "/content") })
    guard let plain else { return description }
    let inner = try ArchiveReader(path: plain, limits: BundleReader.ofAnySize)
    for store in description.stores { inner.allow(store.bytes) }
    try readStores(description, of: inner, path, target: target)
    return description
  }

  private static func readStores(
    _ description: DeltaDescription, of reader: ArchiveReader, _ path: String,
    target: (Int) -> String?
  ) throws {
    for (index, store) in description.stores.enumerated() {
      guard let entry = try reader.next(), entry.name == store.name else {
        throw BundleError.damaged(path: path, file: store.name, reason: "is missing")
      }
      var digest = EntryDigest(
        store.name, bytes: store.bytes, sha256: store.sha256, of: path,
        document: DeltaDescription.fileName)
      if let name = target(index) {
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
