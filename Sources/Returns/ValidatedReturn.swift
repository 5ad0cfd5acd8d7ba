import Snapshots
import SmartStore
import System

/// A validated return.
///
/// Its stores may be read, as untrusted files that follow SmartStore's grammar.
package struct ValidatedReturn: Sendable {
  /// The digest of the taken file.
  package var sha256: String
  /// The original name.
  package var sourceName: String
  /// The stamp of the user's store, or of the first one.
  ///
  /// Its `install` and `handback` identify the lineage.
  package var stamp: Provenance
  /// The platform whose layout all of its stores have.
  package var platform: Platform
  package var stores: [ValidatedStore]
  /// Notes for the operator.
  package var notes: [String]

  /// Its stores grouped by stamp, the return's own stamp first.
  ///
  /// The user's stores of a bundle share one stamp. The global store has its own, and is the same
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
  /// Whether the store belongs to one user or to all.
  package var scope: StoreScope
  /// Its name in the pipeline file.
  package var storeName: String
  /// The private file with its `-wal` merged; open it with `Store(untrusted:proof:)`.
  ///
  /// It is only read, because it may be a hard link to the taken file.
  package var path: String
  /// The file status when it was validated.
  package var proof: FileStatus?
  /// Its own stamp.
  package var stamp: Provenance
  /// Soups that the pipeline does not have.
  ///
  /// They belong to the app, and are ignored.
  package var unknownSoups: [String]
  /// Soups of the pipeline that it lacks: the app removed them, or the pipeline added them later.
  package var missingSoups: [String]
  /// Soups whose indexes differ from the pipeline's: the app or the pipeline changed them later.
  package var reindexedSoups: [String]
  /// The indexes of those soups in the file.
  package var indexes: [String: [IndexSpec]] = [:]
  /// Whether the file is identical to the issued one, so that it cannot contain edits.
  package var isUntouched: Bool
}
