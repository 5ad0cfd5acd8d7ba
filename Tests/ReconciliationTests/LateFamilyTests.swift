import JSON
import Ledger
import LocalOrg
import MobileSync
import Reconciliation
import Testing

/// Requests of families, with and without external IDs, that get no answer.
struct LateFamilyTests {
  private let day: FieldDay
  init() throws { try self.init(hasKeys: true) }

  private init(hasKeys: Bool) throws {
    day = try FieldDay()
    (day.options.unansweredWaitSeconds, day.options.conditionalUpdates) = (900, false)
    day.rules = try FieldDay.family(
      .lookup, ["Name", "External_Id__c"], ["LastName", "External_Id__c"],
      externalID: hasKeys ? "External_Id__c" : nil, mode: .overwrite)
    var account: JSONObject = ["Name": "Mill"]
    var contact: JSONObject = ["LastName": "Lovelace", "AccountId": "local_1"]
    if hasKeys { (account["External_Id__c"], contact["External_Id__c"]) = ("A-1", "C-1") }
    try day.handBack(
      [day.account("local_1", account), day.contact("local_2", contact)], handback: 1)
  }

  private func night() async throws -> String {
    try day.org.moveClock(by: 600_000)
    return day.verdicts(try await day.run())
  }

  private func verdict(_ edit: Int64) throws -> String? {
    try day.state.connection.text("SELECT verdict FROM edit WHERE id = \(edit)")
  }

  @Test func `a family that is sent again after a lost answer is created once`() async throws {
    day.server.faults.add(.writes, .drop(afterCommit: false))
    #expect(try await night() == "created 2")
    #expect(day.writes == ["POST composite", "POST composite"])
    #expect(try day.count("SELECT Id FROM Contact WHERE Account.Name = 'Mill'") == 1)
    #expect(try await night() == "")
  }

  @Test func `a second child that a late request created is a duplicate`() async throws {
    day.server.faults.add(.writes, .deliverLate(seconds: 1_000_000))
    #expect(try await night() == "created 2")
    let child = try #require(
      try day.state.connection.text(
        "SELECT result_id FROM operation WHERE edit_id = 2 AND state = 'done'"))
    try day.change("Contact", child, ["External_Id__c": "C-9", "Department": "Poetry"])
    #expect(try await night() == "")
    day.server.deliverHeld()
    #expect(try day.count("SELECT Id FROM Contact WHERE Account.Name = 'Mill'") == 2)
    _ = try await night()
    #expect(try verdict(1) == "conflict")
    #expect(try verdict(2) == "duplicate created")
  }

  @Test func `a second parent and its children that a late request created are duplicates`()
    async throws
  {
    let other = try LateFamilyTests(hasKeys: false)
    other.day.server.faults.add(.writes, .deliverLate(seconds: 1_000_000))
    for _ in 0..<3 where try other.verdict(2) != "created" { _ = try await other.night() }
    #expect(try other.verdict(1) == "created" && other.verdict(2) == "created")
    other.day.server.deliverHeld()
    #expect(try other.day.count("SELECT Id FROM Contact WHERE Account.Name = 'Mill'") == 2)
    _ = try await other.night()
    #expect(try other.verdict(1) == "duplicate created")
    #expect(try other.verdict(2) == "duplicate created")
    #expect(try await other.night() == "")
  }
}
