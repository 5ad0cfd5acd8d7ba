import SQLite

/// A change of a store that lasts longer than a call: a load of many pages.
extension Store {
  /// Starts a change.
  ///
  /// Everything written until `commitLongChange` is committed together or not at all.
  package func beginLongChange() throws(StoreError) {
    heldLock = try takeLock()
    do throws(StoreError) {
      try StoreError.mapping { try connection.execute("BEGIN IMMEDIATE") }
    } catch {
      releaseLock()
      throw error
    }
  }

  /// Commits everything written since `beginLongChange`.
  package func commitLongChange() throws(StoreError) {
    try StoreError.mapping { try connection.execute("COMMIT") }
    releaseLock()
  }

  /// Rolls back everything written since `beginLongChange`, unless an error has already done so.
  package func undoLongChange() {
    forgetSoups()
    // The original error is the one to report.
    if connection.inTransaction { try? connection.execute("ROLLBACK") }
    releaseLock()
  }

  private func releaseLock() {
    heldLock?.close()
    heldLock = nil
  }

  /// Whether a soup has no elements.
  package func isEmpty(_ soup: String) throws(StoreError) -> Bool {
    try StoreError.mapping {
      let table = try self.soup(soup).table
      return try connection.integer("SELECT 1 FROM \(raw: table) LIMIT 1") == nil
    }
  }
}

/// A store in a file that has no reader until its creator completes it.
extension Store {
  /// Creates a store in a file that is missing or empty, and that is discarded unless the caller
  /// completes it.
  ///
  /// Nothing is synced to disk until then, and first loads write finished pages.
  package convenience init(disposable path: String, platform: Platform) throws(StoreError) {
    self.init(try Self.create(path, platform, isDisposable: true), platform: platform)
    isDisposable = true
  }

  /// Opens a copy of a store, which is discarded unless the caller completes it.
  package convenience init(disposableCopy path: String) throws(StoreError) {
    try self.init(opening: path)
    isDisposable = true
    try StoreError.mapping { try connection.execute("PRAGMA synchronous = OFF") }
  }

  /// Records that a load into a disposable file failed, so that its soups lack records.
  package func spoil() { isSpoiled = true }
}
