import JSON
import SmartStore

/// One sync state that a store carries, as `generation.json` and a bundle's manifest describe it.
package struct SyncStateEntry: Sendable, Hashable {
  /// The store's scope.
  package var scope: StoreScope
  /// The store's name in the pipeline file.
  package var storeName: String
  /// The sync's name.
  package var syncName: String
  /// `syncDown` or `syncUp`.
  package var type: String
  /// The SDK's word for its state.
  package var status: String
  /// Milliseconds since 1970 up to which it has seen changes; -1 for none.
  package var maxTimeStamp: Int64

  /// Makes a state of its parts.
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

  /// The state's member of `syncStates`.
  package var json: JSONValue {
    [
      "scope": .string(scope.rawValue), "storeName": .string(storeName),
      "syncName": .string(syncName), "type": .string(type), "status": .string(status),
      "maxTimeStamp": .number(String(maxTimeStamp)),
    ]
  }

  /// Reads a member of `syncStates`.
  package init(_ reader: MemberReader) throws(SnapshotError) {
    scope = try reader.scope()
    storeName = try reader.text("storeName")
    syncName = try reader.text("syncName")
    type = try reader.text("type")
    status = try reader.text("status")
    maxTimeStamp = Int64(try reader.integer("maxTimeStamp"))
  }
}
