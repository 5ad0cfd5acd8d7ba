import JSON
import SmartStore

/// The soup in which Mobile Sync keeps the syncs of a store.
package enum SyncsSoup {
  /// The soup's name.
  package static let name = "syncs_soup"

  /// The soup's indexes, in the SDK's order.
  package static let indexSpecs = ["type", "name", "status"].map {
    IndexSpec(path: $0, type: .json1)
  }

  /// Creates the soup if it is missing, and adds the three indexes to a soup of an old app.
  package static func register(in store: Store) throws(SyncError) {
    try SyncError.inStore {
      guard try store.hasSoup(name) else {
        return try store.registerSoup(name, indexSpecs: indexSpecs)
      }
      guard try store.indexSpecs(of: name).count != indexSpecs.count else { return }
      try store.alterSoup(name, indexSpecs: indexSpecs, reIndexData: true)
    }
  }

  /// The syncs of a store, ordered by ID.
  package static func states(in store: Store) throws(SyncError) -> [SyncState] {
    try SyncError.inStore {
      guard try store.hasSoup(name) else { return [] }
      var states: [SyncState] = []
      let sql = "SELECT {\(name):_soup} FROM {\(name)} ORDER BY {\(name):_soupEntryId}"
      for row in try store.queryValues(QuerySpec(smartSQL: sql, pageSize: 10_000)) {
        if let state = row[0].flatMap(SyncState.init(element:)) { states.append(state) }
      }
      return states
    }
  }

  /// The sync with an ID; nil if there is none.
  package static func state(id: Int64, in store: Store) throws(SyncError) -> SyncState? {
    let rows = try SyncError.inStore {
      try store.hasSoup(name) ? try store.retrieve([id], from: name) : []
    }
    return rows.first.flatMap { try? JSONValue(parsing: $0) }.flatMap(SyncState.init(element:))
  }

  /// Updates an existing sync and returns whether it exists; a sync deleted in the meantime is not
  /// recreated.
  @discardableResult
  package static func update(_ state: SyncState, in store: Store) throws(SyncError) -> Bool {
    try SyncError.inStore {
      do throws(StoreError) {
        try store.upsert([state.element], into: name)
        return true
      } catch StoreError.noSuchEntry {
        return false
      }
    }
  }

  /// Removes a sync; an unknown ID is not an error.
  package static func remove(id: Int64, from store: Store) throws(SyncError) {
    try SyncError.inStore { try store.remove([id], from: name) }
  }

  /// Inserts or updates a sync and returns it with its ID.
  ///
  /// A name that another sync of the store has is refused.
  package static func save(_ state: SyncState, in store: Store) throws(SyncError) -> SyncState {
    if let name = state.name,
      try states(in: store).contains(where: { $0.name == name && $0.id != state.id })
    {
      throw SyncError(
        .definition, "the store already has a sync with this name",
        fix: "give it another name", syncName: name)
    }
    return try SyncError.inStore {
      let stored = try store.upsert([state.element], into: name)
      return stored.first.flatMap(SyncState.init(element:)) ?? state
    }
  }
}
