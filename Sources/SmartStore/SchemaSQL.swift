import SQLite

/// The SQL texts of a platform's store, character by character as its SDK writes them to
/// `sqlite_master`.
struct SchemaSQL {
  let platform: Platform

  /// The meta tables and their indexes, in the order in which the SDK creates them.
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

  /// The content of `soup_index_map.columnName` for the index spec at `position`.
  static func column(_ table: String, _ position: Int, _ spec: IndexSpec) -> String {
    spec.type.columnType == nil ? extract(spec.path) : "\(table)_\(position)"
  }

  /// The expression for a path without a column.
  static func extract(_ path: String) -> String {
    "json_extract(soup, \(SQL.quoted(text: "$." + path)))"
  }

  /// The statement for the soup's table; `name` is a temporary name.
  func createTable(_ soup: Soup, as name: String? = nil) -> String {
    let columns = soup.columns.map { ", \($0.name) \($0.spec.type.columnType ?? "TEXT") " }
    return "CREATE TABLE \(name ?? soup.table) (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, "
      + "created INTEGER, lastModified INTEGER" + columns.joined() + ")"
  }

  /// The statement for the soup's full-text table, if it has full-text indexes.
  func createFullTextTable(_ soup: Soup) -> String? {
    guard soup.hasFullText else { return nil }
    return SchemaSQL.createFullTextTable(soup, as: soup.fullTextTable, by: .fts5)
  }

  /// The statement for a soup's full-text table under its current name, in the form in which it is
  /// created or found later.
  static func createFullTextTable(
    _ soup: Soup, as name: String, by module: FullTextGrammar
  ) -> String {
    let columns = soup.fullTextColumns.map(\.name).joined(separator: ",")
    return "CREATE VIRTUAL TABLE \(name) USING \(module.rawValue)(\(columns))"
  }

  /// The soup's SQL indexes in the SDK's order; `table` is a temporary name of its table while the
  /// indexes keep their names.
  func createIndexes(_ soup: Soup, of table: String? = nil) -> [(name: String, sql: String)] {
    // The spelling of each SDK.
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
