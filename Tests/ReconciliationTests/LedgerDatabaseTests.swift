import Ledger
import SQLite
import TestSupport
import Testing

struct LedgerDatabaseTests {
  @Test func `a new ledger has an epoch, no runs and no key`() throws {
    let fixture = try LedgerFixture()
    #expect(try fixture.state.epoch == 1)
    #expect(try fixture.state.runNumber == 0)
    #expect(try fixture.state.noted(.stampKey) == nil)
    try fixture.state.store("one", as: .stampKey)
    fixture.state.close()
    let again = try LedgerDatabase(path: fixture.directory.file("state.sqlite"))
    #expect(try again.noted(.stampKey) == "one")
  }

  @Test func `the verdicts that the ledger's index leaves out are the resolved ones`() {
    for verdict in Verdict.allCases {
      #expect(
        LedgerSchema.isUnsettledOutcome.contains("'\(verdict.rawValue)'") == verdict.isSettled,
        "\(verdict.rawValue)")
    }
  }

  @Test func `checks of each write have no list, for which SQLite creates a table`() throws {
    let state = try LedgerFixture().state
    let rules = try state.connection.texts(
      """
      SELECT sql FROM sqlite_schema WHERE sql LIKE '% IN (%'
        AND (tbl_name IN ('operation', 'outcome') OR name = 'edit_unsettled')
      """)
    #expect(rules == [])
  }

  @Test(arguments: [
    ("SELECT id FROM operation WHERE \(LedgerSchema.isUnfinished) ORDER BY +id", "operation_live"),
    (
      "SELECT u.edit_id FROM outcome u WHERE \(LedgerSchema.isUnsettled("u.verdict"))",
      "outcome_unsettled"
    ),
    (
      """
      SELECT e.id FROM edit e JOIN returned r ON r.id = e.return_id
      WHERE r.snapshot_id = 'x' AND (e.state <> 'closed' OR \(LedgerSchema.isUnsettled("e.verdict")))
      """, "edit_unsettled"
    ),
  ])
  func `open items are found by their index`(question: String, index: String) throws {
    let state = try LedgerFixture().state
    let plan = try state.connection.all("EXPLAIN QUERY PLAN \(raw: question)")
    #expect(plan.contains { $0.last?.text?.contains(index) == true }, "\(plan)")
  }

  @Test(
    arguments: [(99, "newer"), (LedgerSchema.version + 1, "newer"), (17, "older"), (1, "older")]
      as [(Int64, String)])
  func `another version's ledger is refused with its version`(version: Int64, word: String) throws {
    let directory = TemporaryDirectory("ledger")
    let path = directory.file("state.sqlite")
    try LedgerDatabase(path: path).close()
    let raw = try Connection(path)
    try raw.execute("PRAGMA user_version = \(version)")
    let error = #expect(throws: LedgerError.self) { try LedgerDatabase(path: path) }
    #expect(error == .unsupportedVersion(path: path, found: version, known: LedgerSchema.version))
    #expect(error?.description.contains("\(word) attache") == true)
    #expect(try raw.integer("PRAGMA user_version") == version)
    raw.close()
  }

  @Test func `a database that is not a ledger is left alone`() throws {
    let directory = TemporaryDirectory("ledger")
    let path = directory.file("other.sqlite")
    let raw = try Connection(path, mode: .create)
    try raw.execute("CREATE TABLE recipe (id INTEGER)")
    raw.close()
    #expect(throws: LedgerError.notALedger(path: path)) { try LedgerDatabase(path: path) }
  }

  @Test func `only the org of the first run is accepted`() throws {
    let fixture = try LedgerFixture()
    try fixture.state.pinOrganization(id: "00D000000000001EAA")
    try fixture.state.pinOrganization(id: "00D000000000001EAA")
    #expect(
      throws: LedgerError.foreignOrganization(
        pinned: "00D000000000001EAA", found: "00D000000000002EAA")
    ) { try fixture.state.pinOrganization(id: "00D000000000002EAA") }
  }

  @Test func `an interrupted run is resumed with its clock, and closed after a day`() throws {
    let state = try LedgerFixture().state
    let now: Int64 = 1_770_000_000_000
    let run = try state.beginRun(pipeline: "p", now: now, configHash: "c", host: "h")
    #expect(run.id == "20260202T024000Z-1")
    #expect(try state.openRun(now: now + 3_600_000)?.now == now)
    #expect(try state.openRun(now: now + 25 * 3_600_000) == nil)
    #expect(try state.run(id: run.id)?.exitStatus == 1)
    let next = try state.beginRun(pipeline: "p", now: now, configHash: "c", host: "h")
    try state.note(.ended(exitStatus: 0, summary: "{}"), run: next.id)
    #expect(try state.openRun(now: now) == nil)
    #expect(try state.runs(limit: 5).map(\.number) == [2, 1])
  }

  @Test func `a snapshot keeps its cursors`() throws {
    let state = try LedgerFixture().state
    var row = SnapshotRow(id: "global", userID: nil, username: nil)
    row.cursors = ["down": 17]
    try state.save(row)
    row.generation = 2
    try state.save(row)
    #expect(try state.snapshotRow(id: "global") == row)
    #expect(try state.snapshotRow(id: "nobody") == nil)
    #expect(try state.snapshotRows().count == 1)
  }

  @Test(arguments: [
    ("planned", "done"), ("planned", "doubt"), ("done", "sent"), ("rejected", "planned"),
    ("conflict", "sent"), ("dropped", "planned"), ("sent", "dropped"),
  ])
  func `the ledger refuses an impossible transition`(from: String, to: String) throws {
    let fixture = try LedgerFixture()
    let run = try fixture.state.beginRun(pipeline: "p", now: 0, configHash: "c", host: "h")
    try fixture.record("a", [LedgerFixture.update(1, date: 1, name: "x")])
    let raw = try Connection(fixture.directory.file("state.sqlite"))
    try raw.run(
      """
      INSERT INTO operation (edit_id, run_id, action, purpose, sender, sobject, payload, expected, level,
        state)
      VALUES (1, \(run.id), 'update', 'send', 'u', 'Account', '{}', '{}', 0, 'planned')
      """)
    let paths = [
      "planned": [], "sent": ["sent"], "done": ["sent", "done"], "rejected": ["sent", "rejected"],
      "conflict": ["sent", "conflict"], "dropped": ["dropped"],
    ]
    for step in paths[from] ?? [] { try raw.run("UPDATE operation SET state = \(step)") }
    #expect(throws: SQLiteError.self) { try raw.run("UPDATE operation SET state = \(to)") }
  }

  @Test func `an edit keeps its verdict, and only a retry reopens it`() throws {
    let fixture = try LedgerFixture()
    try fixture.record("a", [LedgerFixture.update(1, date: 1, name: "x")])
    let raw = try Connection(fixture.directory.file("state.sqlite"))
    #expect(throws: SQLiteError.self) { try raw.run("UPDATE edit SET state = 'closed'") }
    try raw.run("UPDATE edit SET state = 'closed', verdict = 'failed'")
    #expect(throws: SQLiteError.self) { try raw.run("UPDATE edit SET state = 'open'") }
    try raw.run("UPDATE edit SET state = 'open', retries = retries + 1")
  }
}
