import SQLite
import SmartStore
import Snapshots
import System

/// A row delta of one store: a small SQLite file with the rows and row IDs in which the store of a
/// later generation differs from that of an earlier one.
///
/// A device attaches the file as `delta`, and changes its store in one transaction. Rows keep their
/// IDs and dates, so afterwards the device has the rows of the bundle. Bytes of a file could not do
/// that: a device encrypts, exports and compacts its file.
///
/// | table | content |
/// |---|---|
/// | `stamp` | the stamp IDs `was` and `now` |
/// | `soups` | per soup: `name` and `number`; whether rows `changed`; the last ID that `was` and is `now` in `sqlite_sequence`; the `rows`, `dates` and full-text rows (`words`) afterwards |
/// | `indexes` | `soup_index_map` of these soups |
/// | `syncs` | per row of `syncs_soup` its `id`, and the `maxTimeStamp` that the device must have |
/// | `gone` | `soup` (its number) and `id` of each removed row |
/// | `r_TABLE_n` | the new and changed rows of a soup that `changed`, with all columns |
/// | `r_TABLE_n_fts` | the full-text values of these rows, if the soup has a full-text index |
package enum StoreDelta {
  /// The soup in which Mobile Sync keeps the states of its syncs.
  static let syncStates = "syncs_soup"

  /// A soup of a delta.
  package struct Soup: Sendable, Hashable {
    package let name: String
    let number: Int64
    /// Whether the delta has tables of changed rows.
    package let isChanged: Bool
    /// The columns of its indexes, in order.
    let columns: [String]
    /// The columns of its full-text table, in order.
    package let words: [String]

    package var table: String { "TABLE_\(number)" }
    var fullTextTable: String { table + "_fts" }
    var rows: String { "r_" + table }
    var fullTextRows: String { "r_" + fullTextTable }
  }

  /// The statements that create the delta's tables.
  static func tables(of soups: [Soup]) -> [String] {
    [
      "CREATE TABLE stamp (was TEXT, now TEXT)",
      "CREATE TABLE soups (name TEXT, number INTEGER, changed INTEGER, was INTEGER, now INTEGER, "
        + "rows INTEGER, dates INTEGER, words INTEGER)",
      "CREATE TABLE indexes (soup TEXT, path TEXT, column TEXT, type TEXT)",
      "CREATE TABLE syncs (id INTEGER PRIMARY KEY, maxTimeStamp INTEGER)",
      "CREATE TABLE gone (soup INTEGER, id INTEGER, PRIMARY KEY (soup, id)) WITHOUT ROWID",
    ] + soups.filter(\.isChanged).flatMap(tables)
  }

  /// The statements that create the tables of a changed soup.
  ///
  /// Their columns have no types, so that values stay as they are.
  static func tables(of soup: Soup) -> [String] {
    func table(_ name: String, _ columns: [String]) -> String {
      "CREATE TABLE \(name) (id INTEGER PRIMARY KEY"
        + columns.map { ", \($0)" }.joined() + ")"
    }
    let rows = table(soup.rows, ["soup", "created", "lastModified"] + soup.columns)
    return soup.words.isEmpty ? [rows] : [rows, table(soup.fullTextRows, soup.words)]
  }

  /// A row that describes the content of a soup's table: its rows, a sum over its dates and IDs, and
  /// its full-text rows.
  ///
  /// A row that an app has written has another date. The index on the dates answers it: a scan of a
  /// large sealed table would take longer than all changes.
  static func content(of soup: Soup, in schema: String) -> String {
    let words =
      soup.words.isEmpty ? "0" : "(SELECT count(*) FROM \(schema).\(soup.fullTextTable)_docsize)"
    return "SELECT count(*), "
      + "coalesce(sum(lastModified % 1000000007 * (id % 997 + 1)), 0), \(words) "
      + "FROM \(schema).\(soup.table)"
  }

  // MARK: the statements of a device

  /// A condition of a store that gets a delta: a query with one number, which must be 0.
  package struct Condition: Sendable {
    package let query: String
    /// The reason for which the delta is refused, as the end of a sentence about the store.
    let refusal: String
  }

  /// The conditions of a store before it is changed.
  package static func conditions(_ soups: [Soup]) -> [Condition] {
    var conditions = [
      Condition(
        query: """
          SELECT count(*) FROM (SELECT name, number FROM delta.soups
          EXCEPT SELECT soupName, id FROM main.soup_attrs)
          """, refusal: "lacks a soup of its generation, or has it under another number"),
      Condition(
        query: """
          SELECT count(*) FROM (SELECT * FROM delta.indexes
          EXCEPT SELECT soupName, path, columnName, columnType FROM main.soup_index_map)
          """, refusal: "has other indexes than its generation"),
      Condition(
        query: """
          SELECT count(*) - (SELECT count(*) FROM delta.indexes) FROM main.soup_index_map
          WHERE soupName IN (SELECT name FROM delta.soups)
          """, refusal: "has other indexes than its generation"),
      Condition(
        query: "SELECT count(*) FROM main.long_operations_status",
        refusal: "was interrupted while its indexes were changed"),
    ]
    if let stamp = soups.first(where: { $0.name == Provenance.soupName }) {
      conditions.append(
        Condition(
          query: """
            SELECT count(*) <> 1 OR max(json_extract(soup, '$.stampId')) IS NOT
            (SELECT was FROM delta.stamp) FROM main.\(stamp.table)
            """, refusal: "does not have the generation that the delta is for"))
    }
    if let syncs = soups.first(where: { $0.name == syncStates }) {
      conditions.append(
        Condition(
          query: """
            SELECT count(*) FROM (SELECT id, maxTimeStamp FROM delta.syncs
            EXCEPT SELECT id, json_extract(soup, '$.maxTimeStamp') FROM main.\(syncs.table))
            """, refusal: "was synced by its app since it was installed"))
    }
    return conditions
  }

  /// The statements that change the rows of a soup, in order.
  package static func statements(_ soup: Soup) -> [String] {
    let was = "(SELECT was FROM delta.soups WHERE number = \(soup.number))"
    let gone = "(SELECT id FROM delta.gone WHERE soup = \(soup.number))"
    var statements: [String] = []
    // Rows above the last ID of the generation are the device's own.
    if !soup.words.isEmpty {
      let table = "main.\(soup.fullTextTable)"
      statements += [
        "DELETE FROM \(table) WHERE rowid > \(was)",
        "DELETE FROM \(table) WHERE rowid IN \(gone)",
      ]
      if soup.isChanged {
        statements.append(
          "DELETE FROM \(table) WHERE rowid IN (SELECT id FROM delta.\(soup.fullTextRows))")
      }
    }
    statements += [
      "DELETE FROM main.\(soup.table) WHERE id > \(was)",
      "DELETE FROM main.\(soup.table) WHERE id IN \(gone)",
    ]
    if soup.isChanged {
      statements.append(
        "INSERT OR REPLACE INTO main.\(soup.table) SELECT * FROM delta.\(soup.rows)")
      if !soup.words.isEmpty {
        let columns = (["rowid"] + soup.words).joined(separator: ", ")
        statements.append(
          "INSERT INTO main.\(soup.fullTextTable) (\(columns)) "
            + "SELECT * FROM delta.\(soup.fullTextRows)")
      }
    }
    return statements
  }

  /// The statements that set the next IDs, after the rows of all soups.
  package static let sequences = [
    """
    DELETE FROM main.sqlite_sequence
    WHERE name IN (SELECT 'TABLE_' || number FROM delta.soups)
    """,
    """
    INSERT INTO main.sqlite_sequence (name, seq)
    SELECT 'TABLE_' || number, now FROM delta.soups WHERE now IS NOT NULL
    """,
  ]

  /// The conditions of a store after it was changed.
  ///
  /// The stamp is left out, because the app writes into it.
  package static func results(_ soups: [Soup]) -> [Condition] {
    soups.filter { $0.name != Provenance.soupName }.map { soup in
      Condition(
        query: """
          SELECT count(*) FROM (SELECT rows, dates, words FROM delta.soups
          WHERE number = \(soup.number) EXCEPT \(content(of: soup, in: "main")))
          """, refusal: "has other rows in the soup \"\(soup.name)\" than its generation")
    }
  }

  /// The statement that marks the installation, with its ID as the parameter.
  package static func mark(_ soups: [Soup]) -> String? {
    soups.first { $0.name == Provenance.soupName }.map {
      "UPDATE main.\($0.table) SET soup = json_set(soup, '$.install', ?, '$.handback', 0)"
    }
  }
}
