import SmartStore

/// Names of snapshots: a user's 18-character Id, or the one of the global stores.
package enum SnapshotID {
  /// The snapshot that holds the stores of scope `global`.
  package static let global = StoreScope.global.rawValue
}
