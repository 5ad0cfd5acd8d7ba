import JSON
import MobileSync
import SmartStore

/// One store of a snapshot: its soups, its syncs, and which of the syncs are used.
package struct StoreSettings: Sendable {
  /// Whether the store belongs to one user or to all.
  package var scope = StoreScope.user
  /// The store's name.
  ///
  /// `default` stands for the SDK's default name on each platform.
  package var storeName = StoreLocation.defaultStoreName
  package var schemaFile: String
  package var syncsFile: String
  package var schema: StoreConfig
  package var syncs: SyncsConfig
  /// The names of the sync downs to run.
  package var prime: [String]
  /// The names of the sync ups to run.
  package var reconcile: [String]

  static let keys = ["scope", "storeName", "schema", "syncs", "prime", "reconcile"]

  /// The sync downs to run, in order.
  package var primed: [SyncDefinition] { prime.compactMap { syncs[$0] } }
  /// The sync ups to run, in order.
  package var reconciled: [SyncDefinition] { reconcile.compactMap { syncs[$0] } }

  /// Whether a soup may hold a record twice.
  ///
  /// If elements are identified by a field other than the record's ID, and its value changes in the
  /// org, the old element remains until ghosts are cleaned, as on a device.
  var mayRepeatRecords: Bool {
    let idField = TargetFields().idFieldName
    return primed.contains { $0.soups.contains { $0.isEdited && $0.paths.first != idField } }
  }

  var json: JSONValue {
    [
      "scope": .string(scope.rawValue), "storeName": .string(storeName),
      "schema": .string(schemaFile), "syncs": .string(syncsFile), "prime": JSONValue(prime),
      "reconcile": JSONValue(reconcile),
    ]
  }
}
