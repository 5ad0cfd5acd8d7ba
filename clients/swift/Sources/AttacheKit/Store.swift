import Foundation

/// The statements on one store.
struct Store {
  /// The members of the stamp.
  struct Stamp: Equatable {
    var stampId: String
    var generation: Int
    var install: String?
    var handback: Int
    var carried: Bool
  }

  let path: String
  let database: any Database
  private let tables: [(soup: String, table: String)]

  init(_ path: String, _ database: any Database) throws {
    (self.path, self.database) = (path, database)
    tables = try database.query("SELECT soupName, id FROM soup_attrs ORDER BY id", []).map {
      ($0[0] ?? "", "TABLE_\($0[1] ?? "")")
    }
    guard try database.query("SELECT 1 FROM long_operations_status", []).isEmpty else {
      throw Refusal(.store, "\(path) was stopped during a change of indexes: open and close it")
    }
  }

  private func table(_ soup: String) throws -> String {
    guard let found = tables.first(where: { $0.soup == soup }) else {
      throw Refusal(.store, "\(path) has no soup \(soup)")
    }
    return found.table
  }

  /// The stamp; nil if the store was not issued by attache.
  func stamp() throws -> Stamp? {
    guard let table = try? table("attache_stamp") else { return nil }
    let members = ["stampId", "generation", "install", "handback", "carried"]
      .map { "json_extract(soup, '$.\($0)')" }.joined(separator: ", ")
    guard let row = try database.query("SELECT \(members) FROM \(table)", []).first,
      let id = row[0]
    else { return nil }
    return Stamp(
      stampId: id, generation: row[1].flatMap { Int($0) } ?? 0, install: row[2],
      handback: row[3].flatMap { Int($0) } ?? 0, carried: row[4] != nil)
  }

  /// Sets the two members of the stamp that belong to the app.
  func mark(install: String, handback: Int) throws {
    try database.execute(
      """
      UPDATE \(table("attache_stamp"))
      SET soup = json_set(soup, '$.install', ?, '$.handback', \(handback))
      """, [install])
  }

  /// The rows with local changes of each soup, as a table's name and a condition.
  private func dirty() throws -> [(soup: String, table: String, condition: String)] {
    let columns = try database.query(
      """
      SELECT soupName, columnName FROM soup_index_map
      WHERE path = '__local__' AND columnType <> 'json1'
      """, [])
    return tables.filter { $0.soup != "attache_stamp" && $0.soup != "syncs_soup" }.map { soup in
      let column =
        columns.first { $0[0] == soup.soup }?[1] ?? "json_extract(soup, '$.__local__')"
      return (
        soup.soup, soup.table, "CAST(\(column) AS TEXT) NOT IN ('0', 'false', 'NO', '')"
      )
    }
  }

  /// A line for each row with local changes.
  func changes() throws -> [String] {
    try dirty().flatMap { soup, table, condition in
      try database.query("SELECT id, lastModified FROM \(table) WHERE \(condition) ORDER BY id", [])
        .map { [path, soup, $0[0] ?? "", $0[1] ?? ""].joined(separator: "\t") }
    }
  }

  func reasons() throws -> [Attache.Reason] {
    func member(_ name: String) -> String { "json_extract(soup, '$.\(name)')" }
    return try dirty().flatMap { soup, table, condition in
      try database.query(
        """
        SELECT id, \(member("Id")), \(member("__last_error__")), \(member("__last_error_shown__"))
        FROM \(table) WHERE \(condition) AND \(member("__last_error__")) <> '' ORDER BY id
        """, []
      ).map { row in
        Attache.Reason(
          store: path, soup: soup, entryId: Int(row[0] ?? "") ?? 0, recordId: row[1],
          sentence: row[2] ?? "", isShown: row[2] == row[3])
      }
    }
  }

  /// Copies the store, with what its log has, to a new file without the device's key.
  func copy(to file: URL, passphrase: String?, iterations: Int) throws {
    let target = Self.quoted(file.path)
    guard try database.query("PRAGMA cipher_version", []).first?.first != nil else {
      return try database.execute("VACUUM INTO \(target)", [])
    }
    try database.execute(
      "ATTACH DATABASE \(target) AS returned KEY \(Self.quoted(passphrase ?? ""))", [])
    defer { try? database.execute("DETACH DATABASE returned", []) }
    if passphrase != nil { _ = try database.query("PRAGMA returned.kdf_iter = \(iterations)", []) }
    _ = try database.query("SELECT sqlcipher_export('returned')", [])
  }

  /// Whether the file is undamaged.
  func check() throws {
    guard try database.query("PRAGMA quick_check(1)", []).first?.first == "ok" else {
      throw Refusal(.store, "\(path) is damaged")
    }
  }

  static func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
  }
}

// MARK: deltas

extension Store {
  /// Applies a delta in one transaction, and marks the installation.
  ///
  /// The statements are those of `docs/on-disk.md`. A trial changes nothing.
  ///
  /// `step` is called before each statement.
  func apply(
    _ delta: URL, passphrase: String?, iterations: Int, install: String, isTrial: Bool = false,
    step: () throws -> Void = {}
  ) throws {
    _ = try database.query("PRAGMA secure_delete = ON", [])
    if passphrase != nil {
      _ = try database.query("PRAGMA cipher_default_kdf_iter = \(iterations)", [])
    }
    try database.execute(
      "ATTACH DATABASE \(Self.quoted(delta.path)) AS delta KEY \(Self.quoted(passphrase ?? ""))", []
    )
    defer { try? database.execute("DETACH DATABASE delta", []) }
    try database.execute("BEGIN", [])
    do {
      let soups = try database.query(
        "SELECT name, number, changed FROM delta.soups ORDER BY number", [])
      try require(conditions())
      for soup in soups {
        for sql in try statements(soup[0] ?? "", soup[1] ?? "", isChanged: soup[2] == "1") {
          try step()
          try database.execute(sql, [])
        }
      }
      for sql in Self.sequences {
        try step()
        try database.execute(sql, [])
      }
      try require(soups.filter { $0[0] != "attache_stamp" }.map { try result($0[0]!, $0[1]!) })
      try mark(install: install, handback: 0)
      try step()
      try database.execute(isTrial ? "ROLLBACK" : "COMMIT", [])
    } catch {
      try? database.execute("ROLLBACK", [])
      throw error
    }
  }

  private func require(_ conditions: [String]) throws {
    for sql in conditions where try database.query(sql, []).first?.first != "0" {
      throw Refusal(.delta, "\(path) is not the store that the delta is for")
    }
  }

  private func conditions() throws -> [String] {
    [
      """
      SELECT count(*) FROM (SELECT name, number FROM delta.soups
      EXCEPT SELECT soupName, id FROM main.soup_attrs)
      """,
      """
      SELECT count(*) FROM (SELECT * FROM delta.indexes
      EXCEPT SELECT soupName, path, columnName, columnType FROM main.soup_index_map)
      """,
      """
      SELECT count(*) - (SELECT count(*) FROM delta.indexes) FROM main.soup_index_map
      WHERE soupName IN (SELECT name FROM delta.soups)
      """,
      "SELECT count(*) FROM main.long_operations_status",
      """
      SELECT count(*) <> 1 OR max(json_extract(soup, '$.stampId')) IS NOT
      (SELECT was FROM delta.stamp) FROM main.\(try table("attache_stamp"))
      """,
      """
      SELECT count(*) FROM (SELECT id, maxTimeStamp FROM delta.syncs
      EXCEPT SELECT id, json_extract(soup, '$.maxTimeStamp') FROM main.\(try table("syncs_soup")))
      """,
    ]
  }

  /// The columns of the soup's full-text table, in order; the names are known to be those that the
  /// SDK generates.
  private func words(_ soup: String) throws -> [String] {
    try database.query(
      "SELECT column FROM delta.indexes WHERE soup = ? AND type = 'full_text' ORDER BY rowid",
      [soup]
    ).compactMap(\.first!)
  }

  private func statements(_ soup: String, _ number: String, isChanged: Bool) throws -> [String] {
    let table = "TABLE_\(number)"
    let was = "(SELECT was FROM delta.soups WHERE number = \(number))"
    let gone = "(SELECT id FROM delta.gone WHERE soup = \(number))"
    let words = try words(soup)
    var (before, after): ([String], [String]) = ([], [])
    if !words.isEmpty {
      before = [
        "DELETE FROM main.\(table)_fts WHERE rowid > \(was)",
        "DELETE FROM main.\(table)_fts WHERE rowid IN \(gone)",
      ]
      if isChanged {
        before.append(
          "DELETE FROM main.\(table)_fts WHERE rowid IN (SELECT id FROM delta.r_\(table)_fts)")
        after = [
          """
          INSERT INTO main.\(table)_fts (rowid, \(words.joined(separator: ", ")))
          SELECT * FROM delta.r_\(table)_fts
          """
        ]
      }
    }
    let rows = "INSERT OR REPLACE INTO main.\(table) SELECT * FROM delta.r_\(table)"
    return before + [
      "DELETE FROM main.\(table) WHERE id > \(was)",
      "DELETE FROM main.\(table) WHERE id IN \(gone)",
    ] + (isChanged ? [rows] : []) + after
  }

  private static let sequences = [
    """
    DELETE FROM main.sqlite_sequence
    WHERE name IN (SELECT 'TABLE_' || number FROM delta.soups)
    """,
    """
    INSERT INTO main.sqlite_sequence (name, seq)
    SELECT 'TABLE_' || number, now FROM delta.soups WHERE now IS NOT NULL
    """,
  ]

  private func result(_ soup: String, _ number: String) throws -> String {
    let count =
      try words(soup).isEmpty ? "0" : "(SELECT count(*) FROM main.TABLE_\(number)_fts_docsize)"
    return """
      SELECT count(*) FROM (SELECT rows, dates, words FROM delta.soups WHERE number = \(number)
      EXCEPT SELECT count(*), coalesce(sum(lastModified % 1000000007 * (id % 997 + 1)), 0), \(count)
      FROM main.TABLE_\(number))
      """
  }
}
