import JSON
import SmartStore

/// A sync state in a store, as described in `generation.json` and a bundle's manifest.
package struct SyncStateEntry: Sendable, Hashable {
  /// The scope of the store.
  package var scope: StoreScope
  /// The store's name in the pipeline file.
  package var storeName: String
  package var syncName: String
  /// The type: `syncDown` or `syncUp`.
  package var type: String
  /// The SDK's name for the status.
  package var status: String
  /// The time up to which the sync has seen changes, in milliseconds since 1970; -1 for none.
  package var maxTimeStamp: Int64

  package init(
    scope: StoreScope, storeName: String, syncName: String, type: String, status: String,
    maxTimeStamp: Int64
  ) {
    self.scope = scope
    self.storeName = storeName
    self.syncName = syncName
    self.type = type
    self.status = status
    self.maxTimeStamp = maxTimeStamp
  }

  /// The state as a member of `syncStates`.
  package var json: JSONValue {
    [
      "scope": .string(scope.rawValue), "storeName": .string(storeName),
      "syncName": .string(syncName), "type": .string(type), "status": .string(status),
      "maxTimeStamp": .number(String(maxTimeStamp)),
    ]
  }

  /// Parses a member of `syncStates`.
  package init(_ reader: MemberReader) throws(SnapshotError) {
    scope = try reader.scope()
    storeName = try reader.text("storeName")
    syncName = try reader.text("syncName")
    type = try reader.text("type")
    status = try reader.text("status")
    maxTimeStamp = Int64(try reader.integer("maxTimeStamp"))
  }
}
