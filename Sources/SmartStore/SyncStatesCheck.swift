import JSON
import SQLite

/// The check of the sync states in a store, which the SDKs read.
enum SyncStatesCheck {
  /// The soup in which Mobile Sync stores them.
  static let soup = "syncs_soup"

  private static let types: Set<String> = ["syncDown", "syncUp"]
  private static let states: Set<String> = ["NEW", "STOPPED", "RUNNING", "DONE", "FAILED"]

  /// Violations that no SDK produces: an unknown type or state, or two syncs with the same name.
  static func violations(of table: String, _ connection: Connection) throws -> [Violation] {
    var found: [Violation] = []
    var names: [String: Int64] = [:]
    let sql: SQL = "SELECT id, soup FROM \(raw: table) ORDER BY id"
    try connection.rows(sql) { row in
      // The check of the rows reports invalid elements.
      guard case .text = row[1], let element = try? JSONValue(parsing: row.bytes(1)) else { return }
      let id = row.integer(0)
      if !types.contains(element["type"]?.string ?? "") {
        found.append(Violation(table, row: id, path: "type", "no SDK has this type of sync"))
      }
      if !states.contains(element["status"]?.string ?? "") {
        found.append(Violation(table, row: id, path: "status", "no SDK has this state of a sync"))
      }
      guard let name = element["name"]?.string else { return }
      if let first = names[name] {
        found.append(
          Violation(table, row: id, path: "name", "the sync in row \(first) has the same name"))
      } else {
        names[name] = id
      }
    }
    return found
  }
}
