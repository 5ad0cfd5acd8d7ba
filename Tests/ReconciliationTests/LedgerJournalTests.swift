import JSON
import LocalOrg
import MobileSync
import Reconciliation
import SQLite
import System
import Testing

struct LedgerJournalTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  /// An account that Ada edits, and another user's change of it right before requests of a kind.
  private func day(
    _ fields: JSONObject, before kind: RequestKind, times: Int = 1,
    mode: MergeMode = .leaveIfChanged,
    _ change: @escaping @Sendable (LocalOrg.Org, String, OrgUser) -> Void
  ) throws -> (day: FieldDay, id: String) {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: mode)
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.org.transfer(id, to: "ada@example.com")
    try day.handBack([try day.edited(account: id, fields)])
    let admin = day.admin
    day.server.faults.add(
      .kind(kind), nth: 1, times: times, .mutate { org in change(org, id, admin) })
    return (day, id)
  }

  // MARK: changes between check and write

  @Test func `a refused condition is checked again before it is a conflict`() async throws {
    let (day, _) = try day(["Phone": "2"], before: .composite) { org, id, admin in
      _ = org.update("Account", id: id, ["Phone": "2"], as: admin)
    }
    #expect(day.verdicts(try await day.run()) == "already in org 1")
  }

  @Test func `a record changed in other fields is a conflict, and sent only once`() async throws {
    let (day, _) = try day(["Phone": "2"], before: .composite, times: 9) { org, id, admin in
      _ = org.update("Account", id: id, ["Website": "https://example.com"], as: admin)
    }
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(day.writes.count == 1)
  }

  @Test(arguments: [(MergeMode.leaveIfChanged, "deleted on server 1"), (.overwrite, "created 1")])
  func `a record that is missing when its edit arrives is checked again`(
    _ mode: MergeMode, _ verdict: String
  ) async throws {
    let kind: RequestKind = mode == .overwrite ? .collectionUpdate : .composite
    let (day, _) = try day(["Phone": "2"], before: kind, mode: mode) { org, id, admin in
      _ = org.delete("Account", id: id, as: admin)
    }
    #expect(day.verdicts(try await day.run()) == verdict)
  }

  // MARK: several sync ups

  @Test func `an edit refused for one sync up is sent by another only in full`() async throws {
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone"]), FieldDay.rule("contacts", ["LastName"]),
      FieldDay.rule("accounts", ["Name"]),
    ]
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let long = JSONValue.string(String(repeating: "5", count: 200))
    try day.handBack([try day.edited(account: id, ["Name": "Two", "Phone": long])])
    #expect(day.verdicts(try await day.run()) == "failed 1")
    #expect(try day.record("Account", id)["Name"] == "One")
    #expect(day.writes.count == 1)
    let told = try #require(try day.details().first)
    #expect(told.errorFields == ["Phone"] && told.fields.map(\.name) == ["Name", "Phone"])
  }

  @Test func `an edit refused to every sync up fails after one try each`() async throws {
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone"]), FieldDay.rule("accounts", ["Name"]),
    ]
    let id = try day.make("Account", ["Name": "One"])
    try day.handBack([
      try day.edited(account: id, ["Name": .string(String(repeating: "n", count: 300))])
    ])
    #expect(day.verdicts(try await day.run()) == "failed 1")
    #expect(day.writes.count == 2)
    #expect(try day.details().first?.errorFields == ["Name"])
  }

  // MARK: recorded state

  @Test func `the request of a blocked child is discarded`() async throws {
    try day.handBack([
      day.account("local_p", ["Phone": "no name"]),
      day.contact("local_c", ["LastName": "Child", "AccountId": "local_p"]),
    ])
    #expect(day.verdicts(try await day.run()) == "blocked 1, failed 1")
    #expect(try day.state.operations(.unfinished).isEmpty)
  }

  @Test func `a create is read back with the run's other writes`() async throws {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    #expect(try await day.verdicts([made], handback: 1) == "created 1")
    #expect(try day.state.operations(.unread(since: 0)).isEmpty)
    let raw = try Connection(day.directory.file("state.sqlite"))
    defer { raw.close() }
    let left = try raw.text("SELECT left_values FROM operation")
    #expect(try JSONValue(parsing: left ?? "null")["Phone"] == "1")
    // Shows changes by other users since.
    let page = try day.org.query("SELECT Id FROM Account", as: day.admin, includeDeleted: false)
    let id = try #require(try JSONValue(parsing: page.records)[0]?["Id"]?.string)
    try day.change("Account", id, ["Phone": "office"])
    var later = made
    var element = try #require(try JSONValue(parsing: made.element).object)
    element["Phone"] = "2"
    later.element = JSONValue.object(element).bytes
    later.lastModified += 5
    #expect(try await day.verdicts([later], handback: 2) == "conflict 1")
    #expect(try day.record("Account", id)["Phone"] == "office")
  }

  // MARK: end

  @Test func `no request is prepared after the run's deadline`() async throws {
    day.options.deadline = Clock.monotonicNanoseconds()
    let reconciler = day.reconciler()
    let access = try #require(try await reconciler.integration())
    let journal = LedgerJournal(reconciler, access)
    await #expect(throws: Reconciler.DeadlineReached.self) {
      _ = try await journal.prepare(.init(form: .collection, changes: []))
    }
  }

  @Test(arguments: [302, 307, 308])
  func `a write that was redirected is unconfirmed, and the redirect is not followed`(
    _ status: Int
  ) async throws {
    let id = try day.make("Account", ["Name": "A", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    day.server.faults.add(
      .writes, times: .max,
      .respond(.init(status: status, headers: ["Location": "https://elsewhere.example.com/x"])))
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "unconfirmed 1")
    #expect(summary.interruption == nil)
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `no request is sent after a stop; the rest is not attempted`() async throws {
    // The run is a separate task: it is cancelled in the pause before a locked row.
    let end = try await Task {
      let day = try FieldDay()
      day.options.conditionalUpdates = false
      day.options.pause = { _ in withUnsafeCurrentTask { $0?.cancel() } }
      let ids = try (0..<2).map { try day.make("Account", ["Name": .string("A\($0)")]) }
      try day.handBack(try ids.map { try day.edited(account: $0, ["Phone": "2"]) })
      day.server.faults.add(
        .kind(.collectionUpdate), nth: 1,
        .refusePart(1, code: "UNABLE_TO_LOCK_ROW", message: "unable to lock row"))
      var wasCancelled = false
      do { _ = try await day.run() } catch is CancellationError { wasCancelled = true }
      let run = try #require(try day.state.runs(limit: 1).first)
      return (wasCancelled, day.writes.count, try day.state.account(run: run.id).verdicts)
    }.value
    #expect(end.0)
    #expect(end.1 == 1)
    #expect(end.2 == [.notAttempted: 1, .updated: 1])
  }
}
