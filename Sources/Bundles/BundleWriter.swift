import Archive
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

  /// Writes a bundle to `path`: the manifest first, then the stores in the manifest's order.
  ///
  /// The stores are read from `storeDirectory` at their paths, and those of global scope from
  /// `globalDirectory`. The archive is read back and compared with the manifest before it gets its
  /// final name. Until then, nothing at `path` changes. `beforeNaming` gets its size in bytes right
  /// before that.
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
        let writer = try ArchiveWriter(
          path: temporary, format: format, level: level, modified: modified)
        try writer.add(name: Manifest.fileName, bytes: manifest.bytes)
        for store in manifest.stores {
          let directory = store.scope == .global ? globalDirectory : nil
          try writer.add(
            name: store.path, file: (directory ?? storeDirectory) + "/" + store.path)
        }
        try writer.close()
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
}
