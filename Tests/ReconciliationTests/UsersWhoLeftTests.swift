import Ledger
import Testing

struct UsersWhoLeftTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private func states() throws -> [String] {
    try day.state.connection.texts("SELECT kind || ' ' || state FROM decision ORDER BY id")
  }

  private func handedBack() throws -> String {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    return id
  }

  @Test func `an edit of a user who cannot log in is discarded`() async throws {
    let id = try handedBack()
    let other = try day.make("Account", ["Name": "Two", "Phone": "1"])
    try day.handBack([try day.edited(account: other, ["Phone": "2"])])
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "not attempted 2")
    try day.decide(1, .discard)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "discarded 1, not attempted 1")
    #expect(
      summary.warnings.count == 1 && summary.warnings[0].hasPrefix("1 edit was not attempted"))
    #expect(try states() == ["discard done"])
    #expect(try day.details().contains { $0.decision?.fate == .carriedOut })
    #expect(try day.record("Account", id)["Phone"] == "1")
  }

  @Test func `a conflict of a user who cannot log in can take the org's values`() async throws {
    let id = try handedBack()
    try day.change("Account", id, ["Phone": "office"])
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    try day.decide(1, .server)
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "discarded 1")
    #expect(try states() == ["server done"])
    #expect(try day.record("Account", id)["Phone"] == "office")
    #expect(day.writes.isEmpty)
  }

  @Test func `an edit to be sent waits for a user who cannot log in`() async throws {
    let id = try handedBack()
    try day.change("Account", id, ["Phone": "office"])
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    try day.decide(1, .device)
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    #expect(try states() == ["device pending"])
    try day.org.setActive("ada@example.com", true)
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `an undo of a user who cannot log in is discarded`() async throws {
    let id = try handedBack()
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let run = try #require(try day.state.runs(limit: 1).first).id
    try day.state.decide([PendingDecision(1, .undo(run: run))], by: "grace")
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    try day.decide(1, .discard)
    #expect(day.verdicts(try await day.run()) == "not undone 1")
    #expect(try day.state.unsettledEdits().isEmpty)
    #expect(try day.record("Account", id)["Phone"] == "2")
  }

  /// If the name was freed for a successor, the login is another user's.
  @Test func `a user whose name another user now has cannot act`() async throws {
    let id = try handedBack()
    try day.state.save(SnapshotRow(id: day.ada.id, userID: day.ada.id, username: day.ben.username))
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    #expect(day.writes.isEmpty)
    // The integration user sends edits of records issued to the departed user.
    day.options.onInactiveUser = .integration
    day.issued = [id]
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let writer = try day.record("Account", id)["LastModifiedById"]?.string
    #expect(writer == day.org.user(named: "attache@example.com")?.id)
  }
}
