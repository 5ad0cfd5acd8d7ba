import SQLite

/// The SQL texts of a platform's store, character by character as its SDK leaves them in
/// `sqlite_master`.
struct SchemaSQL {
  let platform: Platform

  /// The meta tables and their indexes in the SDK's order of making.
  var metaObjects: [(name: String, sql: String)] {
    var objects = [
      (
        "soup_index_map",
        "CREATE TABLE soup_index_map (soupName TEXT, path TEXT, columnName TEXT, columnType TEXT )"
      )
    ]
    if platform == .android {
      objects.append(
        ("soup_index_map_0", "CREATE INDEX soup_index_map_0 on soup_index_map ( soupName )"))
    }
    objects += [
      (
        "soup_attrs",
        "CREATE TABLE soup_attrs (id INTEGER PRIMARY KEY AUTOINCREMENT, soupName TEXT )"
      ),
      ("soup_attrs_0", "CREATE INDEX soup_attrs_0 on soup_attrs ( soupName )"),
      (
        "long_operations_status",
        "CREATE TABLE long_operations_status (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, "
          + "details TEXT, status TEXT, created INTEGER, lastModified INTEGER )"
      ),
    ]
    return objects
  }

  /// The name of a soup's table.
  static func table(_ number: Int64) -> String { "TABLE_\(number)" }

  /// What stands in `soup_index_map.columnName` for the index spec at `position`.
  static func column(_ table: String, _ position: Int, _ spec: IndexSpec) -> String {
    spec.type.columnType == nil ? extract(spec.path) : "\(table)_\(position)"
  }

  /// The expression for a path without a column.
  static func extract(_ path: String) -> String {
    "json_extract(soup, \(SQL.quoted(text: "$." + path)))"
  }

  /// The soup's table; `name` is another one that it has for a time.
  func createTable(_ soup: Soup, as name: String? = nil) -> String {
    let columns = soup.columns.map { ", \($0.name) \($0.spec.type.columnType ?? "TEXT") " }
    return "CREATE TABLE \(name ?? soup.table) (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, "
      + "created INTEGER, lastModified INTEGER" + columns.joined() + ")"
  }

  /// The soup's full-text table, if it has full-text indexes.
  func createFullTextTable(_ soup: Soup) -> String? {
    guard soup.hasFullText else { return nil }
    return SchemaSQL.createFullTextTable(soup, as: soup.fullTextTable, by: .fts5)
  }

  /// A soup's full-text table under the name that it has: as it is made, and as it may come back.
  static func createFullTextTable(
    _ soup: Soup, as name: String, by module: FullTextGrammar
  ) -> String {
    let columns = soup.fullTextColumns.map(\.name).joined(separator: ",")
    return "CREATE VIRTUAL TABLE \(name) USING \(module.rawValue)(\(columns))"
  }

  /// The soup's SQL indexes in the SDK's order; `table` is another name that its table has for a time,
  /// when the indexes still have theirs.
  func createIndexes(_ soup: Soup, of table: String? = nil) -> [(name: String, sql: String)] {
    // As each SDK writes it.
    let preposition = platform == .android ? "on" : "ON"
    let columns = [("created", "created"), ("lastModified", "lastModified")]
    let indexed = soup.columnNames.enumerated().map { ("\($0.offset)", $0.element) }
    return (columns + indexed).map { suffix, column in
      let name = "\(soup.table)_\(suffix)_idx"
      let place = "\(preposition) \(table ?? soup.table) ( \(column) )"
      return (name, "CREATE INDEX \(name) \(place)")
    }
  }
}
