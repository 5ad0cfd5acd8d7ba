import Ledger
import Reports
import SQLite
import Testing

/// Which report shows what, over several runs, and what the ledger stores about requests and
/// stages.
struct LedgerReportsTests {
  private typealias F = LedgerFixture
  private let fixture: F
  private var state: LedgerDatabase { fixture.state }
  init() throws {
    fixture = try F()
    try fixture.record("a", install: "A", handback: 1, [F.update(1, date: 1, name: "x")])
  }

  private func begin() throws -> String {
    try state.beginRun(pipeline: "p", now: 1_770_000_000_000, configHash: "c", host: "h").id
  }

  private func end(_ run: String) throws {
    try state.note(.report(.written), run: run)
    try state.note(.ended(exitStatus: 0, summary: "{}"), run: run)
  }

  private func model(_ run: String) throws -> ReportModel {
    try ReportModel(state: state, run: run, called: "demo")
  }

  // MARK: verdicts

  @Test func `of several runs' verdicts of an edit the last one is shown`() throws {
    let first = try begin()
    try state.settle(1, run: first, Settlement(.notAttempted))
    try state.note(.ended(exitStatus: 1, summary: "{}"), run: first)
    let second = try begin()
    try state.settle(1, run: second, Settlement(.updated))
    try state.note(.report(.begun), run: second)
    #expect(try model(second).edits.all().map(\.verdict) == [.updated])
    #expect(try model(second).edits.all().map(\.run) == [second])
  }

  @Test func `a new verdict is new even if an interrupted run repeated the old one`() throws {
    let first = try begin()
    try state.settle(1, run: first, Settlement(.unconfirmed))
    try state.note(.report(.begun), run: first)
    try end(first)
    let dead = try begin()
    try state.settle(1, run: dead, Settlement(.unconfirmed))
    try state.note(.ended(exitStatus: 1, summary: "{}"), run: dead)
    let last = try begin()
    try state.settle(1, run: last, Settlement(.duplicateCreated))
    try state.note(.report(.begun), run: last)
    #expect(try model(last).edits.all().map(\.verdict) == [.duplicateCreated])
    #expect(try model(last).stillOpen.isEmpty)
  }

  @Test func `verdicts of several runs have one order, however they are read`() throws {
    let edits = (0..<1300).map { place in
      LedgerFixture.update(
        Int64(place) + 100, id: "001000000\(100_000 + place)AAA", date: 1000, name: "n")
    }
    _ = try state.record(
      return: LedgerFixture.returned("many", install: "phone", handback: 9), edits: edits)
    let numbers = Array(2...1301).map(Int64.init)
    let dead = try begin()
    for number in numbers where number % 3 == 0 { try settle(number, dead, .conflict) }
    try state.note(.ended(exitStatus: 1, summary: "{}"), run: dead)
    let last = try begin()
    for number in numbers where number % 3 != 0 { try settle(number, last, .updated) }
    try state.note(.report(.begun), run: last)
    let told = try model(last)
    #expect(try told.edits.all().map(\.number) == numbers)
    #expect(told.edits.totals.verdicts == [.conflict: 433, .updated: 867])
    var conflicts: [Int64] = []
    try told.edits.forEach(where: { $0.verdict == .conflict }, limit: 400) {
      #expect($0.run == dead)
      conflicts.append($0.number)
    }
    #expect(conflicts == Array(numbers.filter { $0 % 3 == 0 }.prefix(400)))
    for number in [0, 1, 1302] { #expect(!told.edits.contains(Int64(number))) }
    #expect(numbers.allSatisfy(told.edits.contains))
  }

  private func settle(_ number: Int64, _ run: String, _ verdict: Verdict) throws {
    try state.settle(number, run: run, Settlement(verdict))
  }

  @Test func `the next report shows the verdicts of an unwritten report`() throws {
    let first = try begin()
    try state.settle(1, run: first, Settlement(.conflict))
    try state.note(.userSkipped, "ada", [:], run: first)
    try state.note(.report(.begun), run: first)
    // Until its files are written, it is new to that run only.
    #expect(try state.hasNews(for: first))
    #expect(try !state.hasNews(for: "another"))
    try state.note(.ended(exitStatus: 1, summary: "{}"), run: first)
    #expect(try state.reports(.unfinished) == [first])
    try state.note(.report(.dropped), run: first)
    #expect(try state.reports(.unfinished).isEmpty)
    #expect(try state.hasNews(for: first))
    let second = try begin()
    try state.note(.report(.begun), run: second)
    #expect(try model(second).edits.all().map(\.verdict) == [.conflict])
    #expect(try model(second).findings.map(\.subject) == ["ada"])
    try end(second)
    #expect(try state.reports(.unfinished).isEmpty)
    #expect(try state.reports(.showing(run: first)) == [second])
  }

  // MARK: findings

  @Test(arguments: Finding.Kind.allCases)
  func `a finding for an operator is news by itself, others are not`(_ kind: Finding.Kind) throws {
    let run = try begin()
    #expect(try !state.hasNews(for: run))
    try state.note(kind, "subject", [:], run: run)
    #expect(try state.hasNews(for: run) == kind.wantsPerson)
  }

  @Test func `a finding is listed until it is resolved`() throws {
    let first = try begin()
    try state.note(.userSkipped, "ada", ["words": "one"], run: first)
    try state.note(.userSkipped, "ben", [:], run: first)
    try state.note(.report(.begun), run: first)
    try end(first)
    let second = try begin()
    try state.settleFindings(.userSkipped, subject: "ada", by: second)
    try state.note(.report(.begun), run: second)
    try end(second)
    #expect(try model(second).findings.isEmpty)
    #expect(try model(second).earlierFindings.map(\.subject) == ["ben"])
    #expect(try model(first).findings.map(\.subject) == ["ada", "ben"])
    let third = try begin()
    try state.settleFindings(.userSkipped, by: third)
    try state.note(.report(.begun), run: third)
    #expect(try model(third).earlierFindings.isEmpty)
    #expect(try state.findings(.open).isEmpty)
  }

  @Test func `of each kind and subject a run keeps the last finding`() throws {
    let run = try begin()
    try state.note(.incomplete, "ada", ["records": 1], run: run)
    try state.settleFindings(.incomplete, subject: "ada", by: run)
    try state.note(.incomplete, "ada", ["records": 2], run: run)
    #expect(try state.findings(.open).map { $0.detail["records"] } == [2])
    try state.note(.userSkipped, "ada", [:], run: run)
    try end(run)
    // A later run's finding replaces it.
    let later = try begin()
    try state.note(.incomplete, "ada", ["records": 3], run: later)
    try state.note(.incomplete, "ben", ["records": 4], run: later)
    let open = try state.findings(.open)
    #expect(open.map(\.kind) == [.userSkipped, .incomplete, .incomplete])
    #expect(open.map { $0.detail["records"] } == [nil, 3, 4])
  }

  // MARK: stages

  @Test func `a stage that is restarted is not complete`() throws {
    let run = try begin()
    try state.note(.finished(stage: "prime"), run: run)
    try state.note(.finished(stage: "pack"), run: run)
    #expect(try state.run(id: run)?.finished == ["prime", "pack"])
    try state.note(.started(stage: "prime"), run: run)
    #expect(try state.run(id: run)?.finished == ["pack"])
  }

  // MARK: requests

  private func planned(_ run: String) throws -> OperationRow {
    let row = OperationRow(
      editID: 1, action: .update, sender: "ada@example.com", sobject: "Account",
      recordID: F.accountID, payload: ["Name": "x"], expected: Settlement(.updated))
    return try #require(try state.plan([([row], "005000000000001AAA")], run: run).first?.first)
  }

  @Test func `a completed write is known as unread until it is read back`() throws {
    let operation = try planned(try begin())
    try state.markSent([operation], now: 1000)
    #expect(try state.operations(.unread(since: 0)).isEmpty)
    try state.finish(operation, .done(recordID: nil))
    #expect(try state.operations(.unread(since: 1000)).map(\.id) == [operation.id])
    #expect(try state.operations(.unread(since: 1001)).isEmpty)
    try state.noteLeft([(operation, nil, nil)])
    #expect(try state.operations(.unread(since: 0)).isEmpty)
  }

  @Test(arguments: [true, false])
  func `a discarded request is still known to have been unconfirmed`(_ wasInDoubt: Bool) throws {
    let operation = try planned(try begin())
    try state.markSent([operation], now: 1000)
    try state.finish(operation, wasInDoubt ? .doubt : .again)
    try state.finish(operation, .dropped)
    let raw = try Connection(fixture.directory.file("state.sqlite"))
    #expect(try raw.integer("SELECT is_doubted FROM operation") == (wasInDoubt ? 1 : 0))
    #expect(try state.operations(.unfinished).isEmpty)
  }
}
