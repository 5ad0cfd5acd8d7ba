import Ledger
import Reports
import Testing

/// Decisions about new records that are sent by an external ID: like any decision, they are valid
/// for the record that was shown.
struct DecidedUpsertTests {
  private let day: FieldDay
  init() throws {
    day = try FieldDay()
    day.options.unansweredWaitSeconds = 900
    day.rules = [
      FieldDay.rule("visits", ["Name", "Notes__c", "External_Id__c"], externalID: "External_Id__c")
    ]
  }

  /// A visit that conflicts with another user's visit with the same external ID; returns the ID of
  /// the latter.
  private func conflict() async throws -> String {
    try day.handBack([
      day.created(
        "visits", "Site_Visit__c", "local_v",
        ["Name": "Device", "Notes__c": "seen", "External_Id__c": "V-1"])
    ])
    let (admin, ada) = (day.admin, day.ada)
    day.server.faults.add(.kind(.collectionUpsert), .drop(afterCommit: false))
    day.server.faults.add(
      .kind(.query), nth: 2,
      .mutate { org in
        let made = org.create(
          "Site_Visit__c", ["Name": "Office", "External_Id__c": "V-1"], as: admin)
        try org.share(made.id ?? "", with: ada.username)
      })
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    return try #require(
      try day.org.find("Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: admin))
  }

  private func decide(_ decision: Decision) throws {
    try day.decide(1, decision)
  }

  private func fate() throws -> DecisionNote.Fate? { try day.details().first?.decision?.fate }

  // The org's own value overwrites nothing, whatever the device has.
  @Test(arguments: [("Notes__c", "typed"), ("Name", "Office")])
  func `with the org's side for the rest only entered values are sent`(
    _ field: String, _ value: String
  ) async throws {
    let id = try await conflict()
    try decide(.set([field: .string(value)], rest: .server))
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let record = try day.record("Site_Visit__c", id)
    #expect(record["Name"] == "Office")
    #expect(record["Notes__c"]?.string == (field == "Name" ? nil : value))
    #expect(try field == "Name" || day.details().first?.fields.map(\.name) == [field])
  }

  @Test(arguments: [
    (Decision.device, "Name"), (.server, "Name"),
    (.set(["Notes__c": "typed"], rest: .server), "Name"), (.device, "Notes__c"),
  ])
  func `a record value that changed, or was entered since, needs a new decision`(
    _ decision: Decision, _ field: String
  ) async throws {
    let id = try await conflict()
    try decide(decision)
    try day.change("Site_Visit__c", id, [field: "Office again"])
    let writes = day.writes.count
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(day.writes.count == writes)
    #expect(try fate() == .askedAgain)
    #expect(try day.details().first?.fields.first { $0.name == field }?.server == "Office again")
    #expect(try day.record("Site_Visit__c", id)[field] == "Office again")
    try decide(decision)
    let verdict = decision == .server ? "discarded 1" : "updated 1"
    #expect(day.verdicts(try await day.run()) == verdict)
    #expect(
      try day.record("Site_Visit__c", id)[field]
        == ["Name device": "Device", "Notes__c device": "seen"][
          "\(field) \(decision.kind)", default: "Office again"])
  }

  @Test(arguments: [Decision.device, .server])
  func `a record deleted since needs a new decision, then is recreated or left`(
    _ decision: Decision
  ) async throws {
    let id = try await conflict()
    try decide(decision)
    _ = day.org.delete("Site_Visit__c", id: id, as: day.admin)
    #expect(day.verdicts(try await day.run()) == "deleted on server 1")
    #expect(try fate() == .askedAgain)
    try decide(decision)
    #expect(
      day.verdicts(try await day.run()) == (decision == .device ? "created 1" : "discarded 1"))
    #expect(
      try day.count("SELECT Id FROM Site_Visit__c WHERE Name = 'Device'")
        == (decision == .device ? 1 : 0))
  }

  @Test func `leaving a record deleted needs a new decision if another has its external ID`()
    async throws
  {
    let id = try await conflict()
    try decide(.server)
    _ = day.org.delete("Site_Visit__c", id: id, as: day.admin)
    #expect(day.verdicts(try await day.run()) == "deleted on server 1")
    try decide(.device)
    try day.make("Site_Visit__c", ["Name": "Another", "External_Id__c": "V-1"])
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try fate() == .askedAgain)
    #expect(try day.count("SELECT Id FROM Site_Visit__c WHERE Name = 'Another'") == 1)
  }

  @Test func `a new record has no org values to keep`() throws {
    let found = DecisionFacts(
      edit: 1, subject: .init(verdict: .failed, operation: .create, hasRecord: false),
      detail: OutcomeDetail(), soup: SoupKey(store: FieldDay.store, soup: "visits"))
    let request = DecisionRequest(edit: 1, .fields(["Name": .text("x")], rest: .server))
    let error = #expect(throws: DecisionRefusal.self) {
      try request.decision(for: found, sendable: ["Name"], ReportMask())
    }
    #expect(error?.reason.contains("not in the org yet") == true)
  }
}
