import SQLite

/// Records that only an administrator may change, such as those under approval.
extension OrgStore {
  static func makeLockTable(_ connection: Connection) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS record_lock (record TEXT PRIMARY KEY) WITHOUT ROWID")
  }

  func setLock(_ recordID: String, _ locked: Bool) throws {
    let id = try known(recordID)
    if locked {
      try connection.run("INSERT OR REPLACE INTO record_lock (record) VALUES (\(id))")
    } else {
      try connection.run("DELETE FROM record_lock WHERE record = \(id)")
    }
  }

  /// Rejects a user's change of a locked record.
  func refuseLocked(_ id: String, _ user: OrgUser) throws {
    guard !user.modifiesAll else { return }
    let statement = try prepared("SELECT 1 FROM record_lock WHERE record = ?")
    try statement.bind(1, id)
    defer { statement.reset() }
    guard try statement.step() else { return }
    throw OrgError(code: "ENTITY_IS_LOCKED", message: "the entity is locked for editing")
  }
}
