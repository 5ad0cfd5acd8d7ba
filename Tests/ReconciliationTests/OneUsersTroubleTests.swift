import JSON
import Ledger
import LocalOrg
import Testing

/// Without an integration user, each user's edits are looked up as that user, and a failure for one
/// user does not end the run for others.
struct OneUsersTroubleTests {
  private func day() throws -> FieldDay {
    let day = try FieldDay()
    day.hasIntegration = false
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone"]),
      FieldDay.rule("contacts", ["LastName", "Department"]),
      FieldDay.rule("visits", ["Name", "External_Id__c"], externalID: "External_Id__c"),
    ]
    return day
  }

  /// Ada's and Ben's new accounts, whose creation gets no answer.
  private func loseCreates(_ day: FieldDay) async throws {
    day.options.unansweredWaitSeconds = 900
    for user in [day.ada, day.ben] {
      try day.handBack([day.account("local_1", ["Name": .string(user.username)])], user: user)
    }
    day.server.faults.add(.writes, times: 2, .drop(afterCommit: true))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 2")
    day.server.faults.removeAll()
    day.options.unansweredWaitSeconds = 0
  }

  /// Ada's session is no longer valid, and neither is any new one.
  private func endAdasLogin(_ day: FieldDay) {
    day.server.faults.add(
      .init(pathPrefix: "/services/data", user: "ada@example.com"), times: 1000,
      .status(401, code: "INVALID_SESSION_ID"))
  }

  @Test(arguments: ["ada@example.com", "ben@example.com"])
  func `unconfirmed writes of a user whose login ends stay, others are resolved`(_ name: String)
    async throws
  {
    let day = try day()
    try await loseCreates(day)
    // The user logs in, and then the org accepts neither the session nor the login.
    day.server.faults.add(
      .init(kind: .query, user: name), times: 1000, .status(401, code: "INVALID_SESSION_ID"))
    let account = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: account, ["Phone": "2"])], user: day.ben)
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == "created 1, unconfirmed 1, updated 1")
    #expect(
      summary.warnings.contains {
        $0.hasPrefix("1 edit of \(name) stays unconfirmed: cannot act as the user")
      }, "\(summary.warnings)")
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.count("SELECT Id FROM Account") == 3)
  }

  @Test func `the integration user resolves writes of a sender who logged out`() async throws {
    let day = try day()
    try await loseCreates(day)
    day.hasIntegration = true
    endAdasLogin(day)
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == "created 2")
  }

  @Test func `unconfirmed writes of a user who cannot log in are reported`() async throws {
    let day = try day()
    try await loseCreates(day)
    try day.org.setActive("ada@example.com", false)
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == "created 1, unconfirmed 1")
    #expect(
      summary.warnings.contains { $0.hasPrefix("1 edit of ada@example.com stays unconfirmed: ") },
      "\(summary.warnings)")
  }

  @Test func `a named record is looked up by the next run able to, others continue`() async throws {
    let day = try day()
    try await loseCreates(day)
    let made = try #require(
      try JSONValue(
        parsing: day.org.query(
          "SELECT Id FROM Account WHERE Name = 'ada@example.com'", as: day.admin,
          includeDeleted: false
        ).records
      ).array?.first?["Id"]?.string)
    try day.decide(1, .record(made))
    endAdasLogin(day)
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == "created 1, unconfirmed 1")
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.details().first?.recordID == made)
  }

  /// The search for late requests uses each user's session, too.
  @Test func `late requests are looked up for users who can still log in`() async throws {
    let day = try day()
    day.options.conditionalUpdates = false
    var ids: [String] = []
    for user in [day.ada, day.ben] {
      let id = try day.make("Account", ["Name": .string(user.username), "Phone": "1"])
      try day.handBack([try day.edited(account: id, ["Phone": "2"])], user: user)
      ids.append(id)
    }
    // The first request of each is delayed, and sent again.
    day.server.faults.add(.writes, times: 2, .deliverLate(seconds: 1_000_000))
    #expect(day.verdicts(try await day.run()) == "updated 2")
    endAdasLogin(day)
    try day.handBack([try day.edited(account: ids[1], ["Phone": "3"])], user: day.ben)
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == "updated 1")
  }

  @Test(arguments: [
    Faults.Action.status(400, code: "INVALID_FIELD", message: "no such field"),
    .status(500, code: "UNKNOWN_EXCEPTION", message: "gack"),
  ])
  func `an unreadable record before deletion stops no other`(_ answer: Faults.Action) async throws {
    let day = try day()
    let (one, two) = (
      try day.make("Account", ["Name": "One", "Phone": "1"]),
      try day.make("Account", ["Name": "Two", "Phone": "1"])
    )
    for id in [one, two] { try day.org.transfer(id, to: "ada@example.com") }
    try day.handBack([try day.edited(account: one, [:], deleted: true)])
    try day.handBack([try day.edited(account: two, ["Phone": "2"])], user: day.ben)
    day.options.maxChanges.deletes.maxDeletesPercent = 100
    // The plan reads it, and so does the check right before sending.
    day.server.faults.add(
      .init(kind: .retrieve, user: "ada@example.com"), nth: 2, times: 1000, answer)
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    let left = if case .status(400, _, _, _) = answer { "failed 1" } else { "not attempted 1" }
    #expect(day.verdicts(summary) == "\(left), updated 1")
    let words = try day.details().compactMap(\.message)
    #expect(words == [left == "not attempted 1" ? "gack" : "no such field"])
    #expect(try day.record("Account", one)["Name"] == "One")
  }

  /// What happened to the record of a lost upsert is queried as the integration user, and that
  /// query is refused.
  @Test func `a refused query about one upsert stops no others`() async throws {
    let day = try day()
    day.hasIntegration = true
    let visit = try day.make("Site_Visit__c", ["Name": "Office", "External_Id__c": "V-1"])
    try day.handBack([
      day.created(
        "visits", "Site_Visit__c", "local_1", ["Name": "Device", "External_Id__c": "V-1"])
    ])
    let account = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: account, ["Phone": "2"])], user: day.ben)
    let upsert = FaultMatch(kind: .composite, user: "ada@example.com")
    day.server.faults.add(upsert, .drop(afterCommit: false))
    // The record is gone when the write without an answer is looked up, and the query about it
    // fails.
    let all = FaultMatch(pathPrefix: "/services/data/v66.0/queryAll")
    day.server.faults.add(all, .delete(visit))
    day.server.faults.add(
      all, nth: 2, .status(400, code: "INVALID_FIELD", message: "no such field"))
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == "failed 1, updated 1")
    #expect(try day.details().compactMap(\.message) == ["no such field"])
  }
}
