import SQLite

/// A row of a soup as it stands in the file, whatever its text holds.
package struct StoredRow: ~Copyable {
  /// The row's id.
  package let soupEntryID: Int64
  /// When the row was made, in milliseconds.
  package let created: Int64
  /// When the row was last written, in milliseconds.
  package let lastModified: Int64
  /// What should be the element's JSON.
  package let bytes: UnsafeRawBufferPointer
  /// Whether the index on `__local__` calls the row dirty; false where the soup has none.
  package let isIndexedDirty: Bool
}

extension Store {
  /// Hands every row of a soup to `body`, by ascending soup entry id; nothing of its text is read.
  package func forEachStoredRow(
    in soup: String, _ body: (borrowing StoredRow) throws -> Void
  ) throws {
    let soup = try self.soup(soup)
    var flag: SQL = "0"
    if let position = soup.position(of: SyncField.local, on: platform),
      soup.specs[position].type != .json1
    {
      flag = "\(raw: soup.columnNames[position]) = \(platform.text(of: true))"
    }
    try forEachRow(of: soup, telling: flag, body)
  }

  /// Hands rows of a soup to `body`: the one walk over its table.
  ///
  /// `flag` is what a row says of its index on `__local__`.
  func forEachRow(
    of soup: Soup, where condition: SQL = "1", orderedBy order: String = "id",
    telling flag: SQL = "0", _ body: (borrowing StoredRow) throws -> Void
  ) throws {
    let sql: SQL = """
      SELECT id, created, lastModified, soup, \(flag) FROM \(raw: soup.table)
      WHERE \(condition) ORDER BY \(raw: order)
      """
    try connection.rows(sql) { row in
      try body(
        StoredRow(
          soupEntryID: row.integer(0), created: row.integer(1), lastModified: row.integer(2),
          bytes: row.bytes(3), isIndexedDirty: row.integer(4) != 0))
    }
  }
}
