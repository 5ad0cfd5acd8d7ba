import JSON
import SQLite

/// The conversion of ledgers that earlier versions of the program wrote.
///
/// A step converts the content of one version into that of the next. It may add columns and tables
/// in any form. After the last step every table, index, view and trigger whose definition differs
/// from that of a new ledger is created again, and a table keeps its rows. So a converted ledger has
/// the definitions of a new one, whatever its steps were.
///
/// All of it is one transaction: an interrupted conversion has not happened.
package enum LedgerConversion {
  /// The steps, by the version that they convert.
  private static let steps: [Int64: @Sendable (LedgerDatabase) throws -> Void] = [
    18: addPurposes, 19: addSights,
  ]

  /// Whether there are steps from a version to this program's.
  static func isPossible(from version: Int64) -> Bool {
    version > 0 && version < LedgerSchema.version
      && (version..<LedgerSchema.version).allSatisfy { steps[$0] != nil }
  }

  /// Converts a ledger.
  ///
  /// The caller must be its only user: a run of an earlier program could not continue with it.
  static func perform(on state: LedgerDatabase) throws {
    let connection = state.connection
    // A table keeps its name in the definitions of others while its rows are moved. SQLite ignores
    // these settings in a transaction.
    try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
    let result = Result {
      try connection.transaction {
        // Another process may have converted it in the meantime.
        let found = try connection.integer("PRAGMA user_version") ?? 0
        guard isPossible(from: found) else { return }
        for version in found..<LedgerSchema.version { try steps[version]?(state) }
        try define(connection)
        try connection.execute("PRAGMA user_version = \(LedgerSchema.version)")
      }
    }
    connection.forgetStatements()
    try connection.execute("PRAGMA legacy_alter_table = OFF; PRAGMA foreign_keys = ON")
    try result.get()
  }

  // MARK: definitions

  /// The definition of a table, index, view or trigger.
  private struct Definition: Hashable {
    var kind: String
    var name: String
    var table: String
    var text: String

    static func all(of connection: Connection) throws -> [Definition] {
      try connection.all(
        """
        SELECT type, name, tbl_name, sql FROM sqlite_schema
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid
        """
      ).map { row in
        Definition(
          kind: row[0].text ?? "", name: row[1].text ?? "", table: row[2].text ?? "",
          text: row[3].text ?? "")
      }
    }
  }

  /// Creates again what differs from a new ledger.
  private static func define(_ connection: Connection) throws {
    let new = try Connection(":memory:", mode: .create)
    defer { new.close() }
    try new.execute(LedgerSchema.statements)
    let wanted = try Definition.all(of: new)
    let found = try Definition.all(of: connection)
    let kept = Set(wanted).intersection(found)
    let tables = wanted.filter { $0.kind == "table" && !kept.contains($0) }
    let moved = Set(tables.map(\.name))
    for one in found where one.kind != "table" {
      if kept.contains(one), !moved.contains(one.table) { continue }
      try connection.execute("DROP \(one.kind) \(SQL.quoted(name: one.name))")
    }
    let former = Set(found.filter { $0.kind == "table" }.map(\.name))
    for table in tables where former.contains(table.name) { try move(table, connection) }
    for name in former.subtracting(wanted.map(\.name)) {
      try connection.execute("DROP TABLE \(SQL.quoted(name: name))")
    }
    let defined = Set(try Definition.all(of: connection))
    for one in wanted where !defined.contains(one) { try connection.execute(one.text) }
  }

  /// Creates a table again with its rows.
  private static func move(_ table: Definition, _ connection: Connection) throws {
    func columns(_ name: String) throws -> [String] {
      try connection.texts("SELECT name FROM pragma_table_info(\(name)) ORDER BY cid")
    }
    let former = "former_" + table.name
    try connection.execute(
      "ALTER TABLE \(SQL.quoted(name: table.name)) RENAME TO \(SQL.quoted(name: former))")
    try connection.execute(table.text)
    let known = Set(try columns(former))
    let names = try columns(table.name).filter(known.contains).map(SQL.quoted(name:))
      .joined(separator: ", ")
    try connection.execute(
      """
      INSERT INTO \(SQL.quoted(name: table.name)) (\(names))
      SELECT \(names) FROM \(SQL.quoted(name: former));
      DROP TABLE \(SQL.quoted(name: former))
      """)
  }

  // MARK: steps

  /// From version 18: the purpose of a write and the restriction that a decision lifts get columns,
  /// and the restriction of a verdict a member.
  ///
  /// A write was an undo if its outcome in case of success was. A restriction was known by the
  /// message of its verdict. 1.0.0 called the verdict `not permitted`.
  private static func addPurposes(to state: LedgerDatabase) throws {
    let connection = state.connection
    try connection.execute(
      """
      ALTER TABLE operation ADD COLUMN purpose TEXT;
      UPDATE operation SET purpose =
        iif(json_extract(expected, '$.verdict') IN ('undone', 'partly undone'), 'undo', 'send');
      ALTER TABLE decision ADD COLUMN restriction TEXT;
      UPDATE edit SET verdict = 'exceeds user access' WHERE verdict = 'not permitted';
      UPDATE outcome SET verdict = 'exceeds user access' WHERE verdict = 'not permitted';
      UPDATE decision SET verdict = 'exceeds user access' WHERE verdict = 'not permitted'
      """)
    let lifting = try connection.all(
      "SELECT id, detail FROM decision WHERE json_extract(detail, '$.lifts') IS NOT NULL")
    for row in lifting {
      guard var detail = try state.parse(row[1].text, "a decision").object else { continue }
      let reason = (detail["lifts"]?.string ?? "").split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let code = restriction(
        message: reason.first.map(String.init) ?? "",
        record: reason.count > 1 ? String(reason[1]) : nil)
      guard let code else { continue }
      detail["lifts"] = nil
      try connection.run(
        """
        UPDATE decision SET restriction = \(code), detail = \(JSONValue.object(detail).text)
        WHERE id = \(row[0].integer)
        """)
    }
    let refused = try connection.all(
      "SELECT run_id, edit_id, detail FROM outcome WHERE verdict = 'exceeds user access'")
    for row in refused {
      guard var detail = try state.parse(row[2].text, "a verdict").object,
        let message = detail["message"]?.string,
        let code = restriction(message: message, record: detail["otherID"]?.string)
      else { continue }
      detail["restriction"] = .string(code)
      try connection.run(
        """
        UPDATE outcome SET detail = \(JSONValue.object(detail).text)
        WHERE run_id = \(row[0].text) AND edit_id = \(row[1].integer)
        """)
    }
  }

  /// From version 19: what runs saw of the records of a request has a separate column.
  private static func addSights(to state: LedgerDatabase) throws {
    try state.connection.execute(
      """
      ALTER TABLE operation ADD COLUMN sights TEXT;
      UPDATE operation SET sights = left_values, left_values = NULL
      WHERE state IN ('dropped', 'doubt')
      """)
  }

  /// The code and the subject of a restriction that version 18 knew by a message and a record.
  package static func restriction(message: String, record: String?) -> String? {
    let object = "none of the app's syncs for it names the object type "
    let reference = " refers to a record that was not issued to the user"
    let indirect = " refers to a record by something other than its ID"
    let parts: [String]
    switch message {
    case "the user was not issued the record in the soup where the device edited it":
      parts = ["record", "", ""]
    case "its external ID is that of a record that was not issued to the user":
      parts = ["externalID", "", record ?? ""]
    case _ where message.hasPrefix(object):
      parts = ["objectType", String(message.dropFirst(object.count)), ""]
    case _ where message.hasSuffix(reference):
      parts = ["reference", String(message.dropLast(reference.count)), record ?? ""]
    case _ where message.hasSuffix(indirect):
      parts = ["indirectReference", String(message.dropLast(indirect.count)), record ?? ""]
    default: return nil
    }
    return parts.joined(separator: " ")
  }
}
