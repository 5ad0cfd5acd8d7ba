/// The objects of a full-text table in the schema: the one that SmartStore creates and the shadow
/// tables of SQLite.
package enum FullTextGrammar: String, CaseIterable {
  /// The version that SmartStore creates.
  case fts5
  /// The version that SDKs before 4.2 created. It can be read, and altering the soup replaces it
  /// with FTS5.
  case fts4

  /// The version of a full-text table by its text in the schema; FTS5 if the table is missing.
  init(of sql: String?) {
    self = StoreSchemaCheck.tokens(sql ?? "").contains(Self.fts4.rawValue) ? .fts4 : .fts5
  }

  /// An object: its type, its name and its text, if any.
  struct Object {
    let type: String
    let name: String
    let sql: String?
  }

  /// The objects of a soup's full-text table with the given name.
  func objects(of soup: Soup, table: String) -> [Object] {
    let columns = soup.fullTextColumns.map(\.name)
    let main = Object(
      type: "table", name: table,
      sql: SchemaSQL.createFullTextTable(soup, as: table, by: self))
    let list = contentColumns(columns).map { ", '\($0)'" }.joined()
    switch self {
    case .fts5:
      return [main]
        + shadows(
          table,
          [
            ("data", "id INTEGER PRIMARY KEY, block BLOB"),
            ("idx", "segid, term, pgno, PRIMARY KEY(segid, term)"),
            ("content", "id INTEGER PRIMARY KEY\(list)"),
            ("docsize", "id INTEGER PRIMARY KEY, sz BLOB"), ("config", "k PRIMARY KEY, v"),
          ], withoutRowID: ["idx", "config"])
    case .fts4:
      let segments = "sqlite_autoindex_\(table)_segdir_1"
      return [main, Object(type: "index", name: segments, sql: nil)]
        + shadows(
          table,
          [
            ("content", "docid INTEGER PRIMARY KEY\(list)"),
            ("segments", "blockid INTEGER PRIMARY KEY, block BLOB"),
            (
              "segdir",
              "level INTEGER,idx INTEGER,start_block INTEGER,leaves_end_block INTEGER,"
                + "end_block INTEGER,root BLOB,PRIMARY KEY(level, idx)"
            ),
            ("docsize", "docid INTEGER PRIMARY KEY, size BLOB"),
            ("stat", "id INTEGER PRIMARY KEY, value BLOB"),
          ])
    }
  }

  /// The key of the table with the indexed texts.
  var contentKey: String { self == .fts5 ? "id" : "docid" }

  /// The columns of that table, in the order of the full-text columns.
  func contentColumns(_ columns: [String]) -> [String] {
    columns.enumerated().map { self == .fts5 ? "c\($0.offset)" : "c\($0.offset)\($0.element)" }
  }

  private func shadows(
    _ table: String, _ parts: [(suffix: String, columns: String)], withoutRowID: Set<String> = []
  ) -> [Object] {
    parts.map { suffix, columns in
      let end = withoutRowID.contains(suffix) ? " WITHOUT ROWID" : ""
      return Object(
        type: "table", name: "\(table)_\(suffix)",
        sql: "CREATE TABLE '\(table)_\(suffix)'(\(columns))\(end)")
    }
  }
}
