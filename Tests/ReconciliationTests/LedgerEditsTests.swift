import Ledger
import SQLite
import Testing

/// The ledger's queries about edits: which wait for which, which record they are of, and what
/// devices may install over.
struct LedgerEditsTests {
  private let fixture: F
  private var state: LedgerDatabase { fixture.state }
  init() throws { fixture = try F() }

  private typealias F = LedgerFixture
  private static let snapshot = "005000000000001AAA"
  private static let others = "others"

  private func other(_ entry: Int64, date: Int64) -> Edit {
    var edit = F.update(entry, date: date, name: "other")
    edit.row = F.row(entry, soup: Self.others)
    return edit
  }

  /// Records a return of a store that has both soups.
  @discardableResult private func record(
    _ sha: String, install: String = "A", handback: Int64 = 1, _ edits: Edit...,
    witnesses: [CleanRow] = []
  ) throws -> IngestResult {
    let totals = ["accounts", Self.others].reduce(into: [:]) {
      $0[SoupKey(store: F.store, soup: $1)] = 100
    }
    return try fixture.record(
      sha, install: install, handback: handback, totals: totals, edits, witnesses: witnesses)
  }

  private func begin() throws -> String {
    try state.beginRun(pipeline: "p", now: 0, configHash: "c", host: "h").id
  }

  private func edit(_ id: Int64) throws -> OpenEdit {
    try #require(try state.openEdit(id: id))
  }

  private func isOnlyEdit(_ id: Int64) throws -> Bool {
    try state.history(of: .init(edit(id))).isOnlyEdit(id)
  }

  private func predecessor(_ id: Int64) throws -> (id: Int64, isInDoubt: Bool)? {
    let edit = try edit(id)
    return try state.history(of: .init(edit)).openPredecessor(of: edit)
  }

  // MARK: single edits

  @Test func `an edit is alone until another edit of its record arrives`() throws {
    try record(
      "a", F.update(1, date: 5, name: "x"), F.create(2, local: "local_1", date: 5, name: "new"))
    #expect(try isOnlyEdit(1))
    #expect(try isOnlyEdit(2))
    var remade = try edit(2)
    (remade.edit.serverID, remade.remadeID) = (F.accountID, "001000000000009AAA")
    #expect(try !state.history(of: .init(remade)).isOnlyEdit(2))
    try record("b", install: "B", F.update(1, date: 6, name: "y"))
    #expect(try !isOnlyEdit(1))
    #expect(try !isOnlyEdit(3))
    try record("c", handback: 2, F.create(2, local: "local_1", date: 7, name: "newer"))
    #expect(try !isOnlyEdit(2))
    #expect(try !isOnlyEdit(4))
  }

  @Test func `an edit of a record that attache wrote to is not alone`() throws {
    try record("a", F.update(1, date: 5, name: "x"))
    let run = try begin()
    let row = OperationRow(
      editID: 1, action: .update, sender: "u", sobject: "Account", recordID: F.accountID,
      payload: [:], expected: Settlement(.updated))
    let planned = try state.plan([([row], "005000000000001AAA")], run: run)[0]
    try state.markSent(planned, now: 1)
    #expect(try isOnlyEdit(1))
    try state.finish(planned[0], .done(recordID: nil))
    #expect(try !isOnlyEdit(1))
  }

  // MARK: waiting edits

  @Test func `an edit waits for an earlier edit of its device's row`() throws {
    try record("a", F.update(1, date: 5, name: "x"))
    try record("b", install: "B", F.update(1, date: 6, name: "y"))
    // Another device's edit of the record is not a predecessor.
    #expect(try predecessor(2) == nil)
    #expect(try predecessor(1) == nil)
  }

  @Test(arguments: [(Verdict.notAttempted, true), (.conflict, false), (.notConfigured, false)])
  func `an edit waits for one of another soup that is not attempted`(
    _ verdict: Verdict, _ waits: Bool
  ) throws {
    try record("a", other(7, date: 5))
    let run = try begin()
    try state.settle(1, run: run, Settlement(verdict))
    try record("b", handback: 2, other(7, date: 5), F.update(1, date: 6, name: "y"))
    let found = try predecessor(2)
    #expect((found?.id == 1) == waits)
    #expect(found?.isInDoubt != true)
  }

  @Test func `a resumed run processes waiting edits again, but no closed ones`() throws {
    try record(
      "a", F.update(1, date: 5, name: "x"),
      F.update(2, id: "001000000000002AAA", date: 5, name: "y"))
    let run = try begin()
    try state.settle(1, run: run, Settlement(.blocked))
    try state.settle(2, run: run, Settlement(.updated))
    #expect(try state.openEdits(run: run, snapshotID: Self.snapshot).isEmpty)
    #expect(try state.beginReconciling(run: run, now: 0) == 1)
    #expect(try state.openEdits(run: run, snapshotID: Self.snapshot).map(\.id) == [1])
    #expect(try state.account(run: run).verdicts == [.updated: 1])
  }

  @Test func `a retried edit is undecided, whatever it was before`() throws {
    try record("a", F.update(1, date: 5, name: "x"))
    let run = try begin()
    func verdict() throws -> Verdict? {
      try #require(try state.history(of: .init(recordID: F.accountID)).claims.first).verdict
    }
    try state.settle(1, run: run, Settlement(.conflict))
    #expect(try verdict() == .conflict)
    try state.decide([PendingDecision(1, .retry)], by: "an operator")
    #expect(try verdict() == nil)
  }

  // MARK: records

  @Test func `a row created at another time is another record`() throws {
    func make(_ sha: String, created: Int64) throws {
      _ = try state.record(
        return: F.returned(sha, install: sha, handback: 1),
        edits: [F.create(101, local: "local_1", created: created, date: created, name: sha)])
    }
    try make("a", created: 500)
    try make("b", created: 501)
    #expect(try state.creationCount() == 2)
    // When it has an ID, the row and its time show which of them it is.
    var sent = F.update(101, id: "001000000000007AAA", date: 900, name: "sent")
    sent.created = 501
    _ = try state.record(return: F.returned("c", install: "b", handback: 2), edits: [sent])
    let creation = try #require(try edit(3).creation)
    #expect(creation.id == 2)
    #expect(creation.deviceRecordID == "001000000000007AAA")
    #expect(try state.isClaimed(recordID: "001000000000007AAA"))
    sent.created = 502
    sent.lastModified += 1
    _ = try state.record(return: F.returned("d", install: "d", handback: 1), edits: [sent])
    #expect(try edit(4).creation == nil)
  }

  @Test(arguments: ["001000000000007AAA", nil])
  func `a row that cannot be sent is still the record that it created`(_ deviceID: String?) throws {
    /// A row changed since; the other one of the soup has the same Id.
    func changed(_ entry: Int64, created: Int64, date: Int64, _ name: String) -> Edit {
      var edit =
        deviceID.map { F.update(entry, id: $0, date: date, name: name) }
        ?? F.create(entry, local: "local_1", date: date, name: name)
      (edit.created, edit.finding) = (created, "several rows have the same Id")
      return edit
    }
    try record("a", F.create(101, local: "local_1", date: 500, name: "x"))
    try record(
      "b", handback: 2, changed(101, created: 500, date: 600, "y"),
      changed(102, created: 550, date: 700, "z"))
    #expect(try fixture.verdicts() == ["closed superseded", "open -", "open -"])
    let creation = try #require(try edit(2).creation)
    #expect(creation.deviceRecordID == deviceID)
    #expect(try edit(3).creation == nil)
    #expect(try state.creationCount() == 1)
    // It is not sent, so it conflicts with no other edit.
    #expect(try state.history(of: .init(creationID: creation.id)).claims.map(\.editID) == [1])
  }

  @Test(arguments: ["001000000000007AAA", "001000000000008AAA"])
  func `a record that its device's sync created too is reported once`(_ deviceID: String) throws {
    let ours = "001000000000007AAA"
    try record("a", F.create(101, local: "local_1", date: 500, name: "x"))
    let raw = try Connection(fixture.directory.file("state.sqlite"))
    try raw.run("UPDATE creation SET record_id = \(ours)")
    let clean = CleanRow(row: F.row(101), created: 500, lastModified: 600, serverID: deviceID)
    let second = try record("b", handback: 2, witnesses: [clean])
    #expect(second.new == (deviceID == ours ? 0 : 1))
    let third = try record("c", handback: 3, witnesses: [clean])
    #expect(third.new == 0)
    let synced = try state.editStates().count { $0.state == "open" }
    #expect(synced == (deviceID == ours ? 0 : 1))
    if deviceID != ours { #expect(try edit(2).creation?.isTwice == true) }
  }

  @Test func `a duplicate is reported although its device resolved the edit showing it`() throws {
    let (ours, theirs) = ("001000000000007AAA", "001000000000008AAA")
    try record("a", F.create(101, local: "local_1", date: 500, name: "x"))
    let raw = try Connection(fixture.directory.file("state.sqlite"))
    try raw.run("UPDATE creation SET record_id = \(ours)")
    raw.close()
    // The device has sent it too, and its user has edited it since.
    var sent = F.update(101, id: theirs, date: 600, name: "y")
    sent.created = 500
    try record("b", handback: 2, sent)
    // Before a run processes that edit, the device sends it by itself.
    let clean = CleanRow(row: F.row(101), created: 500, lastModified: 700, serverID: theirs)
    let third = try record("c", handback: 3, witnesses: [clean])
    #expect(third.new == 1)
    #expect(try edit(3).creation?.isTwice == true)
  }

  // MARK: installing

  private func includes() throws -> [String] {
    try state.includes(snapshotID: Self.snapshot).map { "\($0.install) \($0.handback)" }
  }

  @Test func `a device may install over its resolved edits`() throws {
    let run = try begin()
    try record("a", F.update(1, date: 5, name: "x"))
    #expect(try includes().isEmpty)
    // Open edits of another installation do not matter to this one.
    try record("b", install: "B", F.update(1, date: 6, name: "y"))
    try state.settle(1, run: run, Settlement(.updated))
    #expect(try includes() == ["A 1"])
    try state.settle(2, run: run, Settlement(.conflict))
    #expect(try includes() == ["A 1"])
    try record("c", handback: 2, F.update(1, date: 9, name: "z"))
    #expect(try includes() == ["A 1"])
    try state.settle(3, run: run, Settlement(.notInFieldList))
    #expect(try includes() == ["A 2"])
  }

  @Test func `a replaced edit is resolved when its replacement is`() throws {
    let run = try begin()
    try record("a", F.update(1, date: 5, name: "x"))
    try record("b", handback: 2, F.update(1, date: 6, name: "y"))
    #expect(try fixture.verdicts() == ["closed superseded", "open -"])
    #expect(try includes().isEmpty)
    try state.settle(2, run: run, Settlement(.updated))
    #expect(try includes() == ["A 2"])
  }

  @Test func `a later return supersedes the earlier ones of its soups`() throws {
    let run = try begin()
    try record("a", F.create(101, local: "local_1", date: 5, name: "x"))
    // It needs review, and no return closes it.
    try state.settle(1, run: run, Settlement(.duplicateCreated))
    _ = try state.record(return: F.returned("b", install: "A", handback: 2, totals: [:]), edits: [])
    #expect(try includes().isEmpty)
    try record("c", handback: 3)
    #expect(try includes() == ["A 3"])
  }

  // MARK: identity

  @Test(arguments: [Verdict.conflict, .updated])
  func `an element with reordered members is the same edit`(_ verdict: Verdict) throws {
    var edit = F.update(1, date: 5, name: "x")
    edit.element = Array(#"{"Id":"001000000000001AAA","Name":"x","Phone":{"a":1,"b":2}}"#.utf8)
    try record("a", edit)
    try state.settle(1, run: try begin(), Settlement(verdict))
    edit.element = Array(#"{"Phone":{"b":2,"a":1},"Name":"x","Id":"001000000000001AAA"}"#.utf8)
    let again = try record("b", handback: 2, edit)
    #expect(again.new == 0)
    #expect(again.known == (verdict == .conflict ? 1 : 0))
    #expect(again.superseded == (verdict == .conflict ? 0 : 1))
    #expect(try fixture.verdicts().first == "closed \(verdict.rawValue)")
  }

  @Test func `a return's run and parts are recorded with it`() throws {
    let run = try begin()
    _ = try state.record(
      return: F.returned("a", install: "A", handback: 1),
      edits: [F.update(1, date: 5, name: "x")], run: run)
    #expect(try !state.findings(.about(.returnAccepted, "a", by: run)).isEmpty)
    let found = try #require(try state.findings(.made(by: run)).first)
    #expect(found.detail["edits"] == 1)
    #expect(found.detail["new"] == 1)
    try record("b")
    #expect(try state.findings(.about(.returnAccepted, "b", by: run)).isEmpty)
  }
}
