import SmartStore

/// The IDs of snapshots: a user's 18-character ID, or `global`.
package enum SnapshotID {
  /// The snapshot of the stores with scope `global`.
  package static let global = StoreScope.global.rawValue
}
