import SQLite

/// A row of a soup, regardless of whether its text is valid.
package struct StoredRow: ~Copyable {
  /// The row's ID.
  package let soupEntryID: Int64
  /// The time of the row's creation, in milliseconds.
  package let created: Int64
  /// The time of the row's last change, in milliseconds.
  package let lastModified: Int64
  /// The element's JSON, unvalidated; empty if it is too long to read.
  package let bytes: UnsafeRawBufferPointer
  /// Whether the element is longer than the limit for an untrusted file (32 MiB).
  ///
  /// A photograph may reach that; the row's other columns can still be used.
  package let isTooLong: Bool
  /// Whether the row is dirty by the index on `__local__`.
  ///
  /// If the soup has no such index, whether the element is too long to check.
  package let isIndexedDirty: Bool

  /// The same row with another text of its element.
  package borrowing func holding(_ bytes: UnsafeRawBufferPointer) -> StoredRow {
    StoredRow(
      soupEntryID: soupEntryID, created: created, lastModified: lastModified, bytes: bytes,
      isTooLong: isTooLong, isIndexedDirty: isIndexedDirty)
  }
}

extension Store {
  /// Calls `body` with every row of a soup, by ascending soup entry ID; the text is not parsed.
  package func forEachStoredRow(
    in soup: String, _ body: (borrowing StoredRow) throws -> Void
  ) throws {
    let soup = try self.soup(soup)
    let flag = flag(of: soup)
    var last: Int64?
    var thrown: (any Error)?
    while true {
      do {
        return try forEachRow(of: soup, where: Self.behind(last), telling: flag ?? "0") { row in
          last = row.soupEntryID
          do { try body(row) } catch {
            thrown = error
            throw error
          }
        }
      } catch let error as SQLiteError where error.isTooBig && thrown == nil {
        // Without an index, the row is not known to be clean.
        let next = try tooLongRow(of: soup, behind: last, telling: flag ?? "1", body)
        guard let next else { throw error }
        last = next
      }
    }
  }

  /// Calls `body` with the rows of a soup that have one of the IDs, in the order of the IDs.
  package func forEachStoredRow(
    of ids: [Int64], in soup: String, _ body: (borrowing StoredRow) throws -> Void
  ) throws {
    let soup = try self.soup(soup)
    let flag = flag(of: soup)
    for id in ids {
      do {
        try forEachRow(of: soup, where: "id = \(id)", telling: flag ?? "0", body)
      } catch let error as SQLiteError where error.isTooBig {
        _ = try tooLongRow(of: soup, behind: id &- 1, telling: flag ?? "1", body)
      }
    }
  }

  /// Whether a soup has an index that shows its dirty rows.
  package func tellsDirtyRows(of soup: String) throws -> Bool {
    flag(of: try self.soup(soup)) != nil
  }

  /// The SQL that shows whether a row is dirty, by the index on `__local__`; nil if the soup has
  /// none.
  func flag(of soup: Soup) -> SQL? {
    guard let position = soup.position(of: SyncField.local, on: platform),
      soup.specs[position].type != .json1
    else { return nil }
    return "\(raw: soup.columnNames[position]) = \(platform.text(of: true))"
  }

  private static func behind(_ last: Int64?) -> SQL { last.map { "id > \($0)" } ?? "1" }

  /// Calls `body` with the next row, without its element; returns its ID.
  private func tooLongRow(
    of soup: Soup, behind last: Int64?, telling flag: SQL,
    _ body: (borrowing StoredRow) throws -> Void
  ) throws -> Int64? {
    var id: Int64?
    let sql: SQL = """
      SELECT id, created, lastModified, \(flag) FROM \(raw: soup.table)
      WHERE \(Self.behind(last)) ORDER BY id LIMIT 1
      """
    try connection.rows(sql) { row in
      id = row.integer(0)
      try body(
        StoredRow(
          soupEntryID: row.integer(0), created: row.integer(1), lastModified: row.integer(2),
          bytes: UnsafeRawBufferPointer(start: nil, count: 0), isTooLong: true,
          isIndexedDirty: row.integer(3) != 0))
    }
    return id
  }

  /// Calls `body` with rows of a soup.
  ///
  /// All walks over its table use this function.
  ///
  /// `flag` is a row's value in the index on `__local__`.
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
          bytes: row.bytes(3), isTooLong: false, isIndexedDirty: row.integer(4) != 0))
    }
  }
}
