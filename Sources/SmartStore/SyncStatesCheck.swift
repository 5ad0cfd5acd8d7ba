import JSON
import SQLite

/// The check of the sync states in a store: those that the SDKs read.
enum SyncStatesCheck {
  /// The soup that Mobile Sync keeps them in.
  static let soup = "syncs_soup"

  private static let types: Set<String> = ["syncDown", "syncUp"]
  private static let states: Set<String> = ["NEW", "STOPPED", "RUNNING", "DONE", "FAILED"]

  /// What no SDK has: a kind or a state in other words, and a name that says two syncs.
  static func violations(of table: String, _ connection: Connection) throws -> [Violation] {
    var found: [Violation] = []
    var names: [String: Int64] = [:]
    let sql: SQL = "SELECT id, soup FROM \(raw: table) ORDER BY id"
    try connection.rows(sql) { row in
      // What is no element is told by the check of the rows.
      guard case .text = row[1], let element = try? JSONValue(parsing: row.bytes(1)) else { return }
      let id = row.integer(0)
      if !types.contains(element["type"]?.string ?? "") {
        found.append(Violation(table, row: id, path: "type", "no SDK has a sync of this type"))
      }
      if !states.contains(element["status"]?.string ?? "") {
        found.append(Violation(table, row: id, path: "status", "no SDK has a sync in this state"))
      }
      guard let name = element["name"]?.string else { return }
      if let first = names[name] {
        found.append(
          Violation(table, row: id, path: "name", "the sync of row \(first) has this name too"))
      } else {
        names[name] = id
      }
    }
    return found
  }
}
