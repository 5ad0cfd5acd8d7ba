import JSON
import SQLite
import SmartStore
import Snapshots
import System

extension StoreDelta {
  /// The number of changed and removed rows of a soup.
  package struct Change: Sendable, Hashable {
    package var rows: Int
    package var gone: Int

    package init(rows: Int, gone: Int) { (self.rows, self.gone) = (rows, gone) }

    /// The changes of a store by soup, as JSON.
    package static func json(_ changes: [String: Change]) -> JSONValue {
      var soups = JSONObject()
      for (soup, change) in changes.sorted(by: { $0.key < $1.key }) {
        soups[soup] = ["rows": JSONValue(change.rows), "gone": JSONValue(change.gone)]
      }
      return .object(soups)
    }
  }

  /// The result of comparing two stores.
  package enum Comparison: Sendable, Hashable {
    /// The delta was written; the changes by soup, without equal soups.
    case written([String: Change])
    /// The stores have other soups, indexes or tables, so that there is no delta.
    case unlike
  }

  /// Compares the plain stores of two generations, and writes the delta from `old` to `new` as the
  /// new file `path`.
  ///
  /// The stores are read where they are, and must not change meanwhile.
  package static func write(
    from old: String, to new: String, as path: String
  ) throws -> Comparison {
    let connection = try Connection(path, mode: .create)
    defer { connection.close() }
    // The file is read back and hashed before anyone uses it.
    try connection.execute("PRAGMA page_size = \(StorePages.size)")
    try connection.reserveBytes(StorePages.reservedBytes)
    try connection.execute(
      "PRAGMA encoding = 'UTF-8'; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
    try connection.run("ATTACH DATABASE \(Connection.plain(old)) AS old")
    try connection.run("ATTACH DATABASE \(Connection.plain(new)) AS new")
    // Both stores may be one file, which an immediate transaction would lock twice.
    try connection.execute("BEGIN")
    guard try isLayoutEqual(connection) else { return .unlike }
    let changes = try compare(connection)
    try connection.execute("COMMIT")
    return .written(changes)
  }

  /// Whether both stores have the same tables, soups and indexes, and neither was interrupted.
  private static func isLayoutEqual(_ connection: Connection) throws -> Bool {
    let parts = [
      "type, name, tbl_name, sql FROM %.sqlite_schema",
      "id, soupName FROM %.soup_attrs",
      "rowid, soupName, path, columnName, columnType FROM %.soup_index_map",
      "seq FROM %.sqlite_sequence WHERE name = 'soup_attrs'",
    ]
    for part in parts {
      let (one, other) = (part.replacing("%", with: "old"), part.replacing("%", with: "new"))
      for (left, right) in [(one, other), (other, one)] {
        let sql: SQL = """
          SELECT count(*) FROM (SELECT \(raw: left) EXCEPT SELECT \(raw: right))
          """
        guard try connection.integer(sql) == 0 else { return false }
      }
    }
    for side in ["old", "new"] {
      let operations: SQL = "SELECT count(*) FROM \(raw: side).long_operations_status"
      guard try connection.integer(operations) == 0 else { return false }
    }
    let (was, now): (SQL, SQL) = ("PRAGMA old.user_version", "PRAGMA new.user_version")
    return try connection.integer(was) == connection.integer(now)
  }

  /// The soups of the attached store `new`; whether they changed is not known yet.
  private static func soups(_ connection: Connection) throws -> [Soup] {
    try connection.all("SELECT soupName, id FROM new.soup_attrs ORDER BY id").compactMap {
      row -> Soup? in
      guard let name = row[0].text, let number = row[1].integer else { return nil }
      let soup = Soup(name: name, number: number, isChanged: false, columns: [], words: [])
      let all = try columns(of: soup.table, connection)
      return Soup(
        name: name, number: number, isChanged: false,
        columns: Array(all.dropFirst(4)), words: try columns(of: soup.fullTextTable, connection))
    }
  }

  /// The columns of a table of the store `new`; empty if there is none.
  private static func columns(of table: String, _ connection: Connection) throws -> [String] {
    try connection.texts("SELECT name FROM pragma_table_info(\(table), 'new') ORDER BY cid")
  }

  /// Writes the tables of the delta.
  private static func compare(_ connection: Connection) throws -> [String: Change] {
    for table in tables(of: []) { try connection.execute(table) }
    var changes: [String: Change] = [:]
    for soup in try soups(connection) {
      let change = try compare(soup, connection)
      // The stamp differs in every generation, and an app writes into it.
      let isStamp = soup.name == Provenance.soupName
      if !isStamp, change != Change(rows: 0, gone: 0) { changes[soup.name] = change }
      try connection.run(
        """
        INSERT INTO soups
        SELECT \(soup.name), \(soup.number), \(isStamp || change.rows > 0),
          coalesce((SELECT seq FROM old.sqlite_sequence WHERE name = \(soup.table)), 0),
          (SELECT seq FROM new.sqlite_sequence WHERE name = \(soup.table)), *
        FROM (\(raw: content(of: soup, in: "new")))
        """)
      if soup.name == syncStates {
        try connection.run(
          """
          INSERT INTO syncs SELECT id, json_extract(soup, '$.maxTimeStamp')
          FROM old.\(raw: soup.table)
          """)
      }
      if isStamp {
        try connection.run(
          """
          INSERT INTO stamp SELECT
            (SELECT json_extract(soup, '$.stampId') FROM old.\(raw: soup.table)),
            (SELECT json_extract(soup, '$.stampId') FROM new.\(raw: soup.table))
          """)
      }
    }
    try connection.run(
      "INSERT INTO indexes SELECT soupName, path, columnName, columnType FROM new.soup_index_map")
    return changes
  }

  private static func compare(_ soup: Soup, _ connection: Connection) throws -> Change {
    try connection.run(
      """
      INSERT INTO gone SELECT \(soup.number), id FROM old.\(raw: soup.table) AS o
      WHERE NOT EXISTS (SELECT 1 FROM new.\(raw: soup.table) AS n WHERE n.id = o.id)
      """)
    let gone = connection.changes
    let columns = ["soup", "created", "lastModified"] + soup.columns
    let differs = columns.map { "n.\($0) IS NOT o.\($0)" }.joined(separator: " OR ")
    // An app has written the mark of its installation into the row of the stamp.
    let isWanted = soup.name == Provenance.soupName ? "1" : "o.id IS NULL OR \(differs)"
    let changed: SQL = """
      SELECT n.* FROM new.\(raw: soup.table) AS n
      LEFT JOIN old.\(raw: soup.table) AS o ON o.id = n.id WHERE \(raw: isWanted)
      """
    guard try connection.first(changed) != nil else { return Change(rows: 0, gone: gone) }
    for table in tables(of: soup) { try connection.execute(table) }
    try connection.run("INSERT INTO \(raw: soup.rows) \(changed)")
    let rows = connection.changes
    if !soup.words.isEmpty {
      // The words of an element change only with the element.
      let words = (["rowid"] + soup.words).joined(separator: ", ")
      try connection.run(
        """
        INSERT INTO \(raw: soup.fullTextRows) SELECT \(raw: words)
        FROM new.\(raw: soup.fullTextTable)
        WHERE rowid IN (SELECT id FROM \(raw: soup.rows))
        """)
    }
    return Change(rows: rows, gone: gone)
  }
}
