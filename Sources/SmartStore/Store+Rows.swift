import SQLite

/// A row of a soup as it stands in the file, whatever its text holds.
package struct StoredRow: ~Copyable {
  /// The row's id.
  package let soupEntryID: Int64
  /// When the row was made, in milliseconds.
  package let created: Int64
  /// When the row was last written, in milliseconds.
  package let lastModified: Int64
  /// What should be the element's JSON; nothing of one that is too long to be read.
  package let bytes: UnsafeRawBufferPointer
  /// Whether the element is longer than a file from outside may make us read (32 MiB): a photograph
  /// reaches that, and the row's other columns are as good as any.
  package let isTooLong: Bool
  /// Whether the index on `__local__` calls the row dirty; where the soup has none, whether the
  /// element is too long to be asked.
  package let isIndexedDirty: Bool

  /// The same row with another text of its element.
  package borrowing func holding(_ bytes: UnsafeRawBufferPointer) -> StoredRow {
    StoredRow(
      soupEntryID: soupEntryID, created: created, lastModified: lastModified, bytes: bytes,
      isTooLong: isTooLong, isIndexedDirty: isIndexedDirty)
  }
}

extension Store {
  /// Hands every row of a soup to `body`, by ascending soup entry id; nothing of its text is read.
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
        // Without an index nothing says that it is clean.
        let next = try tooLongRow(of: soup, behind: last, telling: flag ?? "1", body)
        guard let next else { throw error }
        last = next
      }
    }
  }

  /// Hands the rows of a soup that bear one of the ids to `body`, in the order of the ids.
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

  /// Whether an index of a soup tells its dirty rows.
  package func tellsDirtyRows(of soup: String) throws -> Bool {
    flag(of: try self.soup(soup)) != nil
  }

  /// What says that a row is dirty, by the index on `__local__`; nil where the soup has none.
  func flag(of soup: Soup) -> SQL? {
    guard let position = soup.position(of: SyncField.local, on: platform),
      soup.specs[position].type != .json1
    else { return nil }
    return "\(raw: soup.columnNames[position]) = \(platform.text(of: true))"
  }

  private static func behind(_ last: Int64?) -> SQL { last.map { "id > \($0)" } ?? "1" }

  /// Hands the next row out without its element; answers its id.
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
          bytes: row.bytes(3), isTooLong: false, isIndexedDirty: row.integer(4) != 0))
    }
  }
}
