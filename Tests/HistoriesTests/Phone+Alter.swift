import JSON
import SQLite

/// An interrupted change of a soup's indexes, as both SDKs can leave it.
extension Phone {
  /// Leaves a file with the old table of a soup under another name and with the new one, which has
  /// the rows changed on the phone.
  ///
  /// Android's SDK logs that the rows of the old table could not be copied, and the app continues.
  func alterHalf(_ path: String, _ soup: Soup) throws {
    let connection = try Connection(path)
    defer { connection.close() }
    let number = try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(soup.name)")
    guard let number else { throw Violation("a store has no soup \(soup.name)") }
    let table = "TABLE_\(number)"
    let old = try connection.all(
      "SELECT path, columnName, columnType FROM soup_index_map WHERE soupName = \(soup.name)"
    ).map { (path: $0[0].text ?? "", column: $0[1].text ?? "", type: $0[2].text ?? "") }
    let new = old.map { (path: $0.path, type: $0.type) } + [(path: soup.marker, type: "string")]
    let isIOS = platform == .ios
    let changed = state.rows.keys.filter { $0.soup == soup.name }.map { "\($0.entry)" }
      .joined(separator: ",")
    try connection.transaction {
      for sql in try renaming(table, connection) + making(table, new) {
        try connection.execute(sql)
      }
      try connection.run("DELETE FROM soup_index_map WHERE soupName = \(soup.name)")
      for (place, spec) in new.enumerated() {
        try connection.run(
          """
          INSERT INTO soup_index_map (soupName, path, columnName, columnType)
          VALUES (\(soup.name), \(spec.path), \("\(table)_\(place)"), \(spec.type))
          """)
      }
      let details: JSONObject = [
        "soupName": .string(soup.name), "soupTableName": .string(table),
        "oldIndexSpecs": .array(
          old.map {
            ["path": .string($0.path), "columnName": .string($0.column), "type": .string($0.type)]
          }),
        "newIndexSpecs": .array(new.map { ["path": .string($0.path), "type": .string($0.type)] }),
        "reIndexData": true,
      ]
      try connection.run(
        """
        INSERT INTO long_operations_status (type, details, status, created, lastModified)
        VALUES (\(isIOS ? "AlterSoup" : "alterSoup"), \(JSONValue.object(details).text),
          \(isIOS ? "3" : "REGISTER_SOUP_USING_TABLE_NAME"), 0, 0)
        """)
      let kept = (0..<old.count).map { "\(table)_\($0)" }.joined(separator: ", ")
      try connection.execute(
        """
        INSERT INTO \(table) (id, soup, created, lastModified, \(kept), \(table)_\(old.count))
        SELECT id, soup, created, lastModified, \(kept), json_extract(soup, '$.\(soup.marker)')
        FROM \(table)_old WHERE id IN (\(changed));
        DELETE FROM \(table)_old WHERE id IN (\(changed));
        """)
    }
  }

  private func renaming(_ table: String, _ connection: Connection) throws -> [String] {
    let indexes = try connection.all(
      "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = \(table) AND sql IS NOT NULL"
    )
    return ["ALTER TABLE \(table) RENAME TO \(table)_old"]
      + indexes.compactMap { $0[0].text.map { "DROP INDEX \($0)" } }
  }

  private func making(_ table: String, _ specs: [(path: String, type: String)]) -> [String] {
    let columns = specs.enumerated().map {
      ", \(table)_\($0) \($1.type == "integer" ? "INTEGER" : "TEXT") "
    }.joined()
    let core =
      "id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER, lastModified INTEGER"
    let on = platform == .ios ? "ON" : "on"
    let names = ["created", "lastModified"]
    return ["CREATE TABLE \(table) (\(core)\(columns))"]
      + names.map { "CREATE INDEX \(table)_\($0)_idx \(on) \(table) ( \($0) )" }
      + specs.indices.map { "CREATE INDEX \(table)_\($0)_idx \(on) \(table) ( \(table)_\($0) )" }
  }
}
