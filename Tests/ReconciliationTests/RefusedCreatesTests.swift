import JSON
import Ledger
import Testing

/// A new record that the org refuses, for example by a duplicate rule, and records that refer to
/// it.
struct RefusedCreatesTests {
  private let family: [Edit]
  private let day: FieldDay
  private let existing: String
  init() async throws {
    day = try FieldDay()
    existing = try day.make("Account", ["Name": "Acme Inc.", "Phone": "office"])
    family = [
      day.account("local_1", ["Name": "Acme", "Phone": "1"]),
      day.contact("local_2", ["LastName": "Keel", "AccountId": "local_1"]),
    ]
    day.server.faults.add(.writes, times: 1, .refusePart(0, code: "DUPLICATES_DETECTED"))
    #expect(try await day.verdicts(family, handback: 1) == "blocked 1, failed 1")
  }

  private func decide(_ edit: Int64, _ decision: Decision) throws {
    try day.state.decide([PendingDecision(edit, decision)], by: "grace")
  }

  /// The row of the new account with other values, or flags.
  private func later(_ fields: JSONObject, _ operation: EditOperation = .create) throws -> Edit {
    var edit = try family[0].changed(fields, later: 10)
    edit.operation = operation
    return edit
  }

  @Test func `a record named by an operator is used, and its children follow`() async throws {
    try decide(1, .record(existing))
    #expect(day.verdicts(try await day.run()) == "already in org 1, created 1")
    #expect(try day.record("Account", existing)["Name"] == "Acme Inc.")
    #expect(try day.record("Account", existing)["Phone"] == "office")
    #expect(try day.count("SELECT Id FROM Contact WHERE AccountId = '\(existing)'") == 1)
    #expect(try day.state.unsettledEdits().isEmpty)
    let detail = try #require(try day.details().first { $0.recordID == existing })
    #expect(Set(detail.fields.map(\.name)).isSuperset(of: ["Name", "Phone"]))
    // Only the device's next edit is sent there.
    #expect(try await day.verdicts([try later(["Phone": "2"])], handback: 2) == "updated 1")
    #expect(try day.record("Account", existing)["Phone"] == "2")
    #expect(try day.record("Account", existing)["Name"] == "Acme Inc.")
  }

  @Test func `a run interrupted while applying the named record changes nothing`() async throws {
    try decide(1, .record(existing))
    try day.state.connection.run(
      """
      CREATE TRIGGER dies BEFORE INSERT ON outcome WHEN NEW.verdict = 'already in org'
      BEGIN SELECT RAISE(ABORT, 'killed'); END
      """)
    await #expect(throws: (any Error).self) { try await day.run() }
    try day.state.connection.run("DROP TRIGGER dies")
    #expect(day.verdicts(try await day.run()) == "already in org 1, created 1")
    #expect(try day.record("Account", existing)["Phone"] == "office")
    #expect(try day.state.unsettledEdits().isEmpty)
  }

  @Test func `later changes of it by other users are not overwritten`() async throws {
    try decide(1, .record(existing))
    #expect(day.verdicts(try await day.run()) == "already in org 1, created 1")
    try day.org.moveClock(by: 60_000)
    try day.change("Account", existing, ["Phone": "office again"])
    #expect(try await day.verdicts([try later(["Phone": "2"])], handback: 2) == "conflict 1")
    #expect(try day.record("Account", existing)["Phone"] == "office again")
  }

  @Test func `the named record is not the device's to delete`() async throws {
    try decide(1, .record(existing))
    #expect(day.verdicts(try await day.run()) == "already in org 1, created 1")
    try day.handBack([try later([:], .dropped)], handback: 2)
    _ = try await day.run()
    #expect(try day.record("Account", existing)["Name"] == "Acme Inc.")
  }

  @Test func `a named record that is not in the org needs a new decision`() async throws {
    try decide(1, .record("001000000000009AAA"))
    #expect(day.verdicts(try await day.run()) == "blocked 1, failed 1")
    #expect(
      try day.state.connection.texts("SELECT kind || ' ' || state FROM decision")
        == ["record moved"])
    try decide(1, .record(existing))
    #expect(day.verdicts(try await day.run()) == "already in org 1, created 1")
  }

  @Test func `references to it are sent with another record if one is entered`() async throws {
    try decide(2, .set(["AccountId": .string(existing)], rest: .device))
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.count("SELECT Id FROM Contact WHERE AccountId = '\(existing)'") == 1)
    try decide(1, .discard)
    #expect(day.verdicts(try await day.run()) == "discarded 1")
    #expect(try day.state.unsettledEdits().isEmpty)
  }
}
