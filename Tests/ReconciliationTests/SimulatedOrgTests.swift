import Ledger
import Reports
import Testing

@Suite struct SimulatedOrgTests {
  let day: FieldDay
  init() throws { day = try FieldDay() }

  /// Plans, then runs: the plan must match the result, and planning must write nothing.
  private func foretold() async throws -> [PlannedOutcome] {
    let before = day.writes
    let plan = try await day.plan()
    #expect(day.writes == before)
    let summary = try await day.run()
    #expect(plan.counts == summary.verdicts)
    let run = try #require(day.state.runs().first).id
    try day.state.note(.report(.begun), run: run)
    let told = try ReportModel(state: day.state, run: run, called: "demo")
    let verdicts = Dictionary(
      uniqueKeysWithValues: try told.edits.all().map { ($0.number, $0.verdict) })
    #expect(Dictionary(uniqueKeysWithValues: plan.map { ($0.editID, $0.verdict) }) == verdicts)
    return plan
  }

  @Test func `the child of a new record is sent with it, no invented ID is shown`() async throws {
    try day.handBack([
      day.account("local_1", ["Name": "New"]),
      day.contact("local_2", ["LastName": "A", "AccountId": "local_1"]),
    ])
    let plan = try await foretold()
    #expect(plan.counts == [.created: 2])
    #expect(plan.map(\.recordID) == ["local_1", "local_2"])
    #expect(plan.allSatisfy { $0.detail.recordID == nil })
  }

  @Test func `a later edit of a record is planned on the result of the earlier one`() async throws {
    let (id, first) = try day.made(
      "Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    try day.handBack([first], install: "a", handback: 1)
    let second = try day.edited(account: id, ["Name": "Two"])
    try day.handBack([second], user: day.ben, install: "b", handback: 1)
    _ = try await foretold()
  }

  @Test func `a value that is too long, missing or forbidden is predicted to fail`() async throws {
    let long = try day.make("Account", ["Name": "One"])
    try day.handBack([
      try day.edited(account: long, ["Name": .string(String(repeating: "x", count: 300))]),
      day.contact("local_1", ["Email": "a@b.c"]),
    ])
    let plan = try await foretold()
    #expect(plan.counts == [.failed: 2])
    #expect(Set(plan.compactMap(\.detail.code)) == ["STRING_TOO_LONG", "REQUIRED_FIELD_MISSING"])
    #expect(plan.first { $0.detail.code == "STRING_TOO_LONG" }?.detail.errorFields == ["Name"])
  }

  @Test func `a record that the user may not delete stays, and the plan says so`() async throws {
    let id = try day.make("Account", ["Name": "Shared"])
    try day.handBack([try day.edited(account: id, [:], deleted: true)])
    let plan = try await foretold()
    #expect(plan.counts == [.failed: 1])
    #expect(plan.first?.detail.code == "INSUFFICIENT_ACCESS_OR_READONLY")
  }

  @Test func `a record that a run deletes no longer exists for later edits`() async throws {
    let id = try day.make("Account", ["Name": "Own"])
    try day.org.transfer(id, to: "ada@example.com")
    try day.handBack([try day.edited(account: id, [:], deleted: true)])
    #expect(try await foretold().counts == [.deleted: 1])
  }

  @Test func `the second of two deletions of a record finds it deleted`() async throws {
    day.rules = ["accounts", "others"].map { FieldDay.rule($0, ["Name"]) }
    let id = try day.make("Account", ["Name": "Own"])
    try day.org.transfer(id, to: "ada@example.com")
    try day.handBack(
      try ["accounts", "others"].map { try day.edited($0, "Account", id, [:], deleted: true) })
    #expect(try await foretold().counts == [.deleted: 1, .alreadyInOrg: 1])
  }

  @Test(arguments: [true, false])
  func `an external ID may belong to another user's record, of this run or earlier`(
    _ isThisNight: Bool
  ) async throws {
    day.rules = [
      FieldDay.rule("visits", ["Name", "Notes__c", "External_Id__c"], externalID: "External_Id__c")
    ]
    func visit(_ local: String) -> Edit {
      day.created("visits", "Site_Visit__c", local, ["Name": "V", "External_Id__c": "K1"])
    }
    try day.handBack([visit("local_1")])
    if !isThisNight { _ = try await foretold() }
    try day.handBack([visit("local_2")], user: day.ben)
    let plan = try await foretold()
    #expect(plan.contains { $0.verdict == .failed || $0.verdict == .deviceConflict })
  }
}
