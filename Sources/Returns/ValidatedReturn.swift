import Snapshots
import SmartStore
import System

/// A return that was validated: its stores may be read, as untrusted files of SmartStore's grammar.
package struct ValidatedReturn: Sendable {
  /// The digest of what was taken.
  package var sha256: String
  /// The name it came under.
  package var sourceName: String
  /// The stamp of the user's store, or of the first; its `install` and `handback` tell the lineage.
  package var stamp: Provenance
  /// The layout of all its stores.
  package var platform: Platform
  /// Its stores.
  package var stores: [ValidatedStore]
  /// What a person may want to know of it.
  package var notes: [String]

  /// Its stores by their stamps, the return's own stamp first.
  ///
  /// The user's stores of a bundle share one; the global store in it has its own, and is the same
  /// store in the bundles of all users of a phone.
  package var storesByStamp: [(stamp: Provenance, stores: [ValidatedStore])] {
    var result = [(stamp: stamp, stores: [ValidatedStore]())]
    for store in stores {
      if let index = result.firstIndex(where: { $0.stamp.stampID == store.stamp.stampID }) {
        result[index].stores.append(store)
      } else {
        result.append((store.stamp, [store]))
      }
    }
    return result
  }
}

/// One store of a validated return.
package struct ValidatedStore: Sendable {
  /// Whose it is.
  package var scope: StoreScope
  /// Its name in the pipeline file.
  package var storeName: String
  /// A private file, its `-wal` folded in; open it with `Store(untrusted:proof:)`.
  ///
  /// It is only read: it may be what was taken, under another name.
  package var path: String
  /// What the file system said of it when it was found sound.
  package var proof: FileStatus?
  /// Its own stamp.
  package var stamp: Provenance
  /// Soups that the pipeline does not have: an app's own, ignored.
  package var unknownSoups: [String]
  /// Soups of the pipeline that are not there: the app removed them, or the pipeline has them since.
  package var missingSoups: [String]
  /// Soups whose indexes are not the pipeline's: the app changed them, or the pipeline did since.
  package var reindexedSoups: [String]
  /// The indexes of those as the file has them.
  package var indexes: [String: [IndexSpec]] = [:]
  /// Whether the file is byte for byte the issued one: there can be no edit in it.
  package var isUntouched: Bool
}
