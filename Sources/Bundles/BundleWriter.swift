import Archive
import Snapshots
import System

/// The archive format of a bundle.
package typealias BundleFormat = ArchiveFormat

/// Packs one platform's stores of a generation into an archive.
package enum BundleWriter {
  /// The reason a store at `path` is not packed, as the end of a sentence about the path; nil if it
  /// is packed.
  ///
  /// Other files have names that begin with the store's. The longest is that of the journal of a copy in which an
  /// alteration is finished.
  package static func refusal(ofStorePath path: String) -> String? {
    ArchiveWriter.refusal(ofName: path + ".finished-journal")
  }

  /// Writes a bundle to `path`: the manifest first, then the stores in the manifest's order, or
  /// their sealed archive.
  ///
  /// The stores are read from `storeDirectory` at their paths, and those of global scope from
  /// `globalDirectory`. The archive is read back and compared with the manifest before it gets its
  /// final name. Until then, nothing at `path` changes. `beforeNaming` gets its size in bytes right
  /// before that.
  ///
  /// Encrypted bytes do not become smaller, so those of a sealed bundle are only stored.
  package static func pack(
    _ manifest: Manifest, storeDirectory: String, globalDirectory: String? = nil,
    to path: String, format: ArchiveFormat, level: Int? = nil, modified: Int64,
    beforeNaming: (_ bytes: Int64) throws -> Void = { _ in }
  ) throws(BundleError) {
    try BundleError.mapping {
      for store in manifest.stores {
        guard let reason = refusal(ofStorePath: store.path) else { continue }
        throw ArchiveError(.refusedEntry, path, "the path of a store \(reason)")
      }
      let temporary = DurableFile.temporaryName(for: path)
      do {
        try write(
          manifest.seal?.archive == nil ? manifest.stores : [], document: manifest.bytes,
          sealed: manifest.seal?.archive.map { _ in
            storeDirectory + "/" + SealedArchive.entryName
          },
          storeDirectory: storeDirectory, globalDirectory: globalDirectory, to: temporary,
          format: format, level: manifest.seal == nil ? level : format.leastLevel,
          modified: modified)
        try BundleReader.verify(temporary)
        try beforeNaming(Files.size(of: temporary))
        try DurableFile.rename(temporary, to: path)
      } catch {
        // The first error is the one to report.
        try? Files.remove(temporary)
        throw error
      }
    }
  }

  /// Writes an archive: a document if there is one, the stores, and a sealed archive if there is one.
  static func write(
    _ stores: [StoreEntry], document: [UInt8]? = nil, sealed: String? = nil,
    storeDirectory: String, globalDirectory: String?, to path: String, format: ArchiveFormat,
    level: Int?, modified: Int64
  ) throws(ArchiveError) {
    let writer = try ArchiveWriter(path: path, format: format, level: level, modified: modified)
    if let document { try writer.add(name: Manifest.fileName, bytes: document) }
    for store in stores {
      let directory = store.scope == .global ? globalDirectory : nil
      try writer.add(name: store.path, file: (directory ?? storeDirectory) + "/" + store.path)
    }
    if let sealed { try writer.add(name: SealedArchive.entryName, file: sealed) }
    try writer.close()
  }
}
