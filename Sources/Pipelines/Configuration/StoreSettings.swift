import JSON
import MobileSync
import SmartStore

/// One store of a snapshot: its soups, its syncs and which of them are used.
package struct StoreSettings: Sendable {
  /// Whose data it holds.
  package var scope = StoreScope.user
  /// The store's name; `default` is the SDK's own default on each platform.
  package var storeName = StoreLocation.defaultStoreName
  /// The path of the store file.
  package var schemaFile: String
  /// The path of the sync file.
  package var syncsFile: String
  /// The soups.
  package var schema: StoreConfig
  /// All syncs of the file.
  package var syncs: SyncsConfig
  /// The names of the sync downs that are run.
  package var prime: [String]
  /// The names of the sync ups that are run.
  package var reconcile: [String]

  static let keys = ["scope", "storeName", "schema", "syncs", "prime", "reconcile"]

  /// The sync downs that are run, in order.
  package var primed: [SyncDefinition] { prime.compactMap { syncs[$0] } }
  /// The sync ups that are run, in order.
  package var reconciled: [SyncDefinition] { reconcile.compactMap { syncs[$0] } }

  /// Whether a soup may hold a record twice: where elements are told apart by another field than the record's Id, one
  /// whose value of it was changed in the org leaves the old element behind until ghosts are cleaned, as on a device.
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
