import Foundation
import JSON
import Ledger
import Reconciliation
import SQLite
import TestSupport
import Testing

/// The conversion of ledgers of earlier versions.
///
/// `Tests/Fixtures/ledger-18.sql` is such a ledger.
struct LedgerConversionTests {
  let directory = TemporaryDirectory("ledger")
  var path: String { directory.file("state.sqlite") }

  /// Creates the ledger of the fixture.
  private func former(_ changes: String = "") throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Fixtures/ledger-18.sql")
    let raw = try Connection(path, mode: .create)
    try raw.execute(try String(contentsOf: file, encoding: .utf8))
    try raw.execute(changes)
    raw.close()
  }

  private func definitions(_ connection: Connection) throws -> Set<[SQLiteValue]> {
    Set(
      try connection.all(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))
  }

  /// The rows of all tables with the given columns, as text, by table.
  private func rows(
    _ connection: Connection, _ columns: [String: [String]]
  ) throws -> [String: [String]] {
    var rows: [String: [String]] = [:]
    for (table, names) in columns {
      let values = names.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
      rows[table] = try connection.texts("SELECT \(raw: values) FROM \(raw: table)").sorted()
    }
    return rows
  }

  private func columns(_ connection: Connection) throws -> [String: [String]] {
    let tables = try connection.texts("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return Dictionary(
      uniqueKeysWithValues: try tables.map { table in
        (table, try connection.texts("SELECT name FROM pragma_table_info(\(table)) ORDER BY cid"))
      })
  }

  @Test func `a converted ledger has the definitions of a new one`() throws {
    try former()
    let new = try LedgerDatabase(path: directory.file("new.sqlite"))
    let converted = try LedgerDatabase(path: path)
    let (wanted, found) = (try definitions(new.connection), try definitions(converted.connection))
    #expect(found.subtracting(wanted) == [])
    #expect(wanted.subtracting(found) == [])
    #expect(try columns(converted.connection) == columns(new.connection))
    #expect(try converted.connection.integer("PRAGMA user_version") == LedgerSchema.version)
    #expect(try converted.connection.all("PRAGMA foreign_key_check") == [])
    #expect(try converted.connection.text("PRAGMA integrity_check") == "ok")
    #expect(try converted.connection.integer("PRAGMA foreign_keys") == 1)
    #expect(try converted.connection.integer("PRAGMA legacy_alter_table") == 0)
  }

  @Test func `a converted ledger has every row as it was`() throws {
    try former()
    let raw = try Connection(path, mode: .readOnly)
    let columns = try columns(raw)
    var before = try rows(raw, columns)
    raw.close()
    #expect(before.values.allSatisfy { !$0.isEmpty })
    let converted = try LedgerDatabase(path: path)
    // The verdict has another name, and the restrictions of decisions and what runs saw of records
    // have columns.
    for table in ["edit", "outcome", "decision"] {
      before[table] = before[table]?.map {
        $0.replacingOccurrences(of: "'not permitted'", with: "'exceeds user access'")
      }.sorted()
    }
    try converted.connection.execute(
      """
      DROP TRIGGER decision_moves;
      UPDATE operation SET left_values = sights WHERE sights IS NOT NULL;
      UPDATE outcome SET detail = json_remove(detail, '$.restriction')
      """)
    before["decision"] = before["decision"]?.map {
      $0.replacing(/"lifts":"(?:[^"\\]|\\.)*",/, with: "")
    }.sorted()
    let after = try rows(converted.connection, columns)
    for (table, rows) in before { #expect(after[table] == rows, "\(table)") }
  }

  @Test func `an undo is known by its purpose`() throws {
    try former()
    let state = try LedgerDatabase(path: path)
    #expect(
      try state.connection.all("SELECT id FROM operation WHERE purpose = 'undo' ORDER BY id")
        .compactMap { $0[0].integer } == [2, 4, 5, 12])
    #expect(
      try state.connection.integer("SELECT count(*) FROM operation WHERE purpose = 'send'") == 9)
    #expect(
      try state.operations(.unfinished).map(\.purpose.rawValue) == ["send", "send", "send", "undo"])
  }

  @Test func `what decisions lifted stays lifted`() throws {
    try former()
    let state = try LedgerDatabase(path: path)
    let lifted = try (11...16).map { try state.openEdit(id: $0)?.lifted ?? [] }
    #expect(
      lifted == [
        ["objectType Case "], ["record  "], ["externalID  001000000000099AAA"],
        ["reference ParentId 001000000000098AAA"],
        [#"indirectReference Owner {"Key__c":"K 1"}"#], [],
      ])
    #expect(try state.decidable(13)?.pending?.otherID == "001000000000099AAA")
    #expect(
      try state.connection.text("SELECT detail FROM decision WHERE id = 1")
        == #"{"fields":["Name"]}"#)
    #expect(
      try state.connection.texts(
        """
        SELECT coalesce(detail ->> '$.restriction', 'none') FROM outcome
        WHERE verdict = 'exceeds user access' ORDER BY edit_id
        """) == [
          "objectType Case ", "record  ", "externalID  001000000000099AAA",
          "reference ParentId 001000000000098AAA", #"indirectReference Owner {"Key__c":"K 1"}"#,
          "externalID  ",
        ])
  }

  @Test func `each restriction has the code that a run gives it`() throws {
    try former()
    let edit = try #require(try LedgerDatabase(path: path).openEdit(id: 11))
    let subjects = [["account"], ["case"]].map {
      PermissionRule.Subject(sobject: "Case", types: $0, isNew: false, isGiven: false)
    }
    let references = PermissionRule.references(
      in: ["ParentId": "001000000000098AAA", "Owner": ["Key__c": "K 1"]], of: nil
    ) { _ in [] }
    let found =
      subjects.compactMap(PermissionRule.restriction(of:))
      + PermissionRule.restrictions(of: references) { _ in false }
    #expect(found.count == 4)
    for restriction in found {
      let detail = restriction.settlement(of: edit).detail
      #expect(
        LedgerConversion.restriction(message: detail.message ?? "", record: detail.otherID)
          == detail.restriction)
    }
  }

  @Test func `a conversion that fails changes nothing, and a later one does all`() throws {
    try former("UPDATE decision SET detail = '{' WHERE id = 9")
    func state() throws -> (Int64?, Set<[SQLiteValue]>) {
      let raw = try Connection(path, mode: .readOnly)
      defer { raw.close() }
      return (try raw.integer("PRAGMA user_version"), try definitions(raw))
    }
    let before = try state()
    #expect(throws: (any Error).self) { try LedgerDatabase(path: path) }
    #expect(try state() == before)
    #expect(LedgerDatabase.isOfEarlierVersion(path: path))
    let raw = try Connection(path)
    try raw.execute("UPDATE decision SET detail = '{}' WHERE id = 9")
    raw.close()
    try LedgerDatabase(path: path).close()
    #expect(!LedgerDatabase.isOfEarlierVersion(path: path))
    #expect(try state().0 == LedgerSchema.version)
  }

  @Test func `the rules of a new ledger hold in a converted one`() throws {
    try former()
    let state = try LedgerDatabase(path: path)
    for sql in [
      "UPDATE operation SET state = 'done' WHERE state = 'rejected'",
      "UPDATE operation SET purpose = 'other'", "DELETE FROM operation WHERE state = 'sent'",
      "UPDATE decision SET state = 'pending' WHERE state = 'done'",
      "UPDATE operation SET edit_id = 1000 WHERE id = 1",
    ] { #expect(throws: SQLiteError.self, "\(sql)") { try state.connection.execute(sql) } }
  }
}
