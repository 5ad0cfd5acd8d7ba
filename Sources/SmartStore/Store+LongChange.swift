import SQLite

/// One change of a store that lasts longer than a call: a load of many pages.
extension Store {
  /// Begins a change; all that is written until `commitLongChange` is kept together or not at all.
  package func beginLongChange() throws(StoreError) {
    heldLock = try takeLock()
    do throws(StoreError) {
      try StoreError.mapping { try connection.execute("BEGIN IMMEDIATE") }
    } catch {
      releaseLock()
      throw error
    }
  }

  /// Keeps what was written since `beginLongChange`.
  package func commitLongChange() throws(StoreError) {
    try StoreError.mapping { try connection.execute("COMMIT") }
    releaseLock()
  }

  /// Undoes what was written since `beginLongChange`; a change that broke off is undone already.
  package func undoLongChange() {
    forgetSoups()
    // The error that led here is the one to tell.
    if connection.inTransaction { try? connection.execute("ROLLBACK") }
    releaseLock()
  }

  private func releaseLock() {
    heldLock?.close()
    heldLock = nil
  }

  /// Whether a soup has no element.
  package func isEmpty(_ soup: String) throws(StoreError) -> Bool {
    try StoreError.mapping {
      let table = try self.soup(soup).table
      return try connection.integer("SELECT 1 FROM \(raw: table) LIMIT 1") == nil
    }
  }
}
