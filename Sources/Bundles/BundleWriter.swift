import Archive
import System

/// What a bundle is packed as.
package typealias BundleFormat = ArchiveFormat

/// Packs a generation's stores of one platform into an archive.
package enum BundleWriter {
  /// Why a store of a path is not packed, as the end of a sentence about the path; nil for one that is.
  ///
  /// A device has SQLite's files beside the store, of which the journal's name is the longest.
  package static func refusal(ofStorePath path: String) -> String? {
    ArchiveWriter.refusal(ofName: path + "-journal")
  }

  /// Writes a bundle to `path`: the manifest first, then the stores in its order.
  ///
  /// The stores lie below `storeDirectory` at their paths, those of global scope below
  /// `globalDirectory`. The archive is read back and compared with the manifest before it gets its
  /// name; until then there is nothing at `path`, or what stood there before.
  package static func pack(
    _ manifest: Manifest, storeDirectory: String, globalDirectory: String? = nil,
    to path: String, format: ArchiveFormat, level: Int? = nil, modified: Int64
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
        try DurableFile.rename(temporary, to: path)
      } catch {
        // The first error is the one to tell.
        try? Files.remove(temporary)
        throw error
      }
    }
  }
}
