import Ledger
import Testing

/// If an operator allows an edit to be sent with another user's permissions, only the values that
/// were shown are sent.
struct DecisionLimitsTests {
  private let day: FieldDay
  init() throws {
    day = try FieldDay()
    day.options.sendAs = .integration
  }

  private func decide(_ decision: Decision, _ edit: Int64 = 1) throws {
    try day.decide(edit, decision)
  }

  private func upsert() throws {
    day.rules = [
      FieldDay.rule(
        "contacts", ["LastName", "External_Id__c"], mode: .overwrite, externalID: "External_Id__c")
    ]
    try day.handBack([
      day.created("contacts", "Contact", "local_1", ["LastName": "Device", "External_Id__c": "K"])
    ])
  }

  @Test func `each limit is lifted separately`() async throws {
    day.rules = [FieldDay.rule("accounts", ["Name", "Phone", "ParentId"], mode: .overwrite)]
    let parent = try day.make("Account", ["Name": "Parent"])
    let id = try day.make("Account", ["Name": "One"])
    try day.handBack([
      try day.edited("accounts", "Account", id, ["ParentId": .string(parent)], hasBase: false)
    ])
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    #expect(try day.details().first?.message?.contains("was not issued the record") == true)
    try decide(.device)
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    #expect(try day.details().first?.message?.contains("ParentId refers to a record") == true)
    #expect(try day.record("Account", id)["ParentId"]?.string == nil)
    // What was allowed before stays allowed.
    try decide(.device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["ParentId"] == .string(parent))
  }

  @Test func `an allowed upsert shows what it overwrites, and overwrites no more`() async throws {
    let id = try day.make("Contact", ["LastName": "Office", "External_Id__c": "K"])
    try upsert()
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    #expect(try day.details().first?.fields.map(\.server) == ["Office"])
    try decide(.device)
    try day.change("Contact", id, ["LastName": "Office again"])
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try day.record("Contact", id)["LastName"] == "Office again")
    try decide(.device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Contact", id)["LastName"] == "Device")
  }

  @Test func `an external ID that now belongs to another record is asked about again`() async throws
  {
    let id = try day.make("Contact", ["LastName": "Office", "External_Id__c": "K"])
    try upsert()
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    try decide(.device)
    try day.change("Contact", id, ["External_Id__c": "L"])
    let other = try day.make("Contact", ["LastName": "Office", "External_Id__c": "K"])
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    #expect(try day.record("Contact", other)["LastName"] == "Office")
  }
}
