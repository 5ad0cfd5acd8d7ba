import Ledger
import Reports
import System
import Testing

struct DecisionCourseTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  /// A contact whose creation got no answer, while its user created another one.
  private func doubted(_ day: FieldDay) async throws -> (edit: Edit, other: String) {
    day.options.unansweredWaitSeconds = 900
    let edit = day.created(
      "contacts", "Contact", "local_1", ["LastName": "Lovelace", "Department": "Analysis"])
    day.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: false))
    #expect(try await day.verdicts([edit], handback: 1) == "unconfirmed 1")
    let other = day.org.create(
      "Contact", ["LastName": "Byron", "Department": "Poetry"], as: day.ada)
    try day.org.moveClock(by: 86_400_000)
    #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
    return (edit, try #require(other.id))
  }

  // MARK: unconfirmed

  @Test(arguments: [0, 60_000])
  func `a decision sends an unconfirmed create once, even if the clock is set back`(
    clockWasAhead ahead: Int64
  ) async throws {
    _ = try await doubted(day)
    try day.state.decide(
      [PendingDecision(1, .device)], by: "an operator", time: Clock.wallMilliseconds() + ahead)
    func creates() -> Int { day.server.log.writes.count { $0.kind == .collectionCreate } }
    let before = creates()
    day.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: false))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
    #expect(creates() == before + 1)
    for _ in 0..<2 {
      // The window of the second request has ended, and the org shows no sign of it either.
      _ = day.org.create("Contact", ["LastName": "Somebody"], as: day.ada)
      try day.org.moveClock(by: 86_400_000)
      #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
      #expect(creates() == before + 1)
    }
    // Another decision is about the second request.
    try day.decide(1, .device)
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(creates() == before + 2)
  }

  @Test func `a create's record is looked for from its first attempt on`() async throws {
    day.options.unansweredWaitSeconds = 900
    let edit = day.created("contacts", "Contact", "local_1", ["LastName": "Lovelace"])
    day.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: true))
    #expect(try await day.verdicts([edit], handback: 1) == "unconfirmed 1")
    // An org that asked for a wait of half an hour before the last attempt.
    let operation = try #require(try day.state.operations(.unfinished).first)
    let sent = try #require(operation.sentMilliseconds)
    try day.state.note(.lastAttempt(sent + 1_800_000), of: [operation])
    try day.org.moveClock(by: 1_000_000)
    // The wait for an answer starts with the last attempt.
    #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
    try day.org.moveClock(by: 86_400_000)
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.count("SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 1)
  }

  @Test func `an unconfirmed create is decided although its device returned again`() async throws {
    for decision in ["record", "device", "discard"] {
      let day = try FieldDay()
      let (edit, other) = try await doubted(day)
      try day.handBack([try edit.changed(["Department": "Engines"], later: 10)], handback: 2)
      #expect(day.verdicts(try await day.run()) == "unconfirmed 2")
      switch decision {
      case "record": try day.decide(1, .record(other))
      case "device": try day.decide(1, .device)
      default: try day.decide(1, .discard)
      }
      let verdicts = day.verdicts(try await day.run())
      #expect(
        verdicts == (decision == "record" ? "created 1, updated 1" : "created 1, superseded 1"))
      #expect(try day.count("SELECT Id FROM Contact WHERE Department = 'Engines'") == 1)
      #expect(try day.count("SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 1)
      #expect(try day.state.unsettledEdits().isEmpty)
    }
  }

  @Test func `the record named for a refused create counts although its device returned again`()
    async throws
  {
    let edit = day.created("contacts", "Contact", "local_1", ["Department": "Yard"])
    #expect(try await day.verdicts([edit], handback: 1) == "failed 1")
    let other = try day.make("Contact", ["LastName": "Keel"])
    try day.decide(1, .record(other))
    let later = try edit.changed(["LastName": "Keel", "Department": "Engines"], later: 10)
    #expect(try await day.verdicts([later], handback: 2) == "already in org 1, updated 1")
    #expect(try day.record("Contact", other)["Department"] == "Engines")
    #expect(try day.count("SELECT Id FROM Contact") == 1)
    #expect(try day.state.unsettledEdits().isEmpty)
  }

  // MARK: duplicates

  /// A contact that its device's own sync created too and then edited; attache's record and the
  /// device's.
  private func twins(_ day: FieldDay) async throws -> (ours: String, own: String) {
    let edit = day.created("contacts", "Contact", "local_1", ["LastName": "Keel"])
    #expect(try await day.verdicts([edit], handback: 1) == "created 1")
    let ours = try #require(try day.details().first?.recordID)
    let own = try day.make("Contact", ["LastName": "Keel"])
    var later = try edit.changed(["Department": "Yard", "Id": .string(own)], later: 10)
    (later.operation, later.serverID, later.lastModified) = (.update, own, 8000)
    later.modificationDate = try day.record("Contact", own)["LastModifiedDate"]?.string
    #expect(try await day.verdicts([later], handback: 2) == "duplicate created 1")
    return (ours, own)
  }

  @Test func `an edit with a duplicate goes into the chosen record`() async throws {
    for isOwn in [true, false] {
      let day = try FieldDay()
      day.rules = [FieldDay.rule("contacts", ["LastName", "Department"], mode: .overwrite)]
      let (ours, own) = try await twins(day)
      try day.decide(2, .record(isOwn ? own : ours))
      #expect(day.verdicts(try await day.run()) == "updated 1")
      #expect(try day.record("Contact", isOwn ? own : ours)["Department"] == "Yard")
      #expect(try day.record("Contact", isOwn ? ours : own)["Department"]?.string == nil)
    }
  }

  @Test func `a chosen record is reported when the decision is applied, not before`() async throws {
    day.rules = [FieldDay.rule("contacts", ["LastName", "Department"], mode: .overwrite)]
    let (ours, own) = try await twins(day)
    try day.decide(2, .record(own))
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    // The decision was not applied, so it can be corrected.
    #expect(try day.state.connection.text("SELECT chosen_id FROM creation") == nil)
    try day.decide(2, .retry)
    try day.org.setActive("ada@example.com", true)
    #expect(day.verdicts(try await day.run()) == "duplicate created 1")
    try day.decide(2, .record(ours))
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Contact", ours)["Department"] == "Yard")
  }

  @Test func `the named record counts even if its edit is left`() async throws {
    let (_, own) = try await twins(day)
    try day.org.moveClock(by: 60_000)
    try day.change("Contact", own, ["Department": "Office"])
    try day.decide(2, .record(own))
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try day.details().first?.decision?.fate == .carriedOut)
    try day.decide(2, .device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Contact", own)["Department"] == "Yard")
  }

  // MARK: replaced edits

  @Test func `an edit discarded by its device that arrives late needs a decision`() async throws {
    day.options.unansweredWaitSeconds = 900
    day.options.conditionalUpdates = false
    let id = try day.make("Account", ["Name": "Mill", "Phone": "0"])
    let edit = try day.edited("accounts", "Account", id, ["Phone": "1"])
    day.server.faults.add(.kind(.collectionUpdate), .deliverLate(seconds: 1_000_000))
    day.server.faults.add(.kind(.collectionUpdate), .update(id, ["Phone": "office"]))
    #expect(try await day.verdicts([edit], handback: 1) == "conflict 1")
    #expect(try await day.verdicts([], handback: 2) == "superseded 1")
    day.server.deliverHeld()
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(day.verdicts(try await day.run()) == "")
    #expect(try day.state.unsettledEdits() == [.conflict: 1])
    try day.decide(1, .server)
    #expect(day.verdicts(try await day.run()) == "discarded 1")
    #expect(try day.state.unsettledEdits().isEmpty)
    let run = try #require(try day.state.runs(limit: 1).first)
    #expect(try ReportModel(state: day.state, run: run.id, called: "demo").stillOpen.isEmpty)
  }

  // MARK: one external ID

  @Test(arguments: [false, true])
  func `of two new records with one external ID neither is sent by a retry`(
    ofTwoNights waits: Bool
  ) async throws {
    day.rules = [FieldDay.rule("visits", ["Name", "External_Id__c"], externalID: "External_Id__c")]
    func visit(_ number: Int) throws {
      try day.handBack(
        [
          day.created(
            "visits", "Site_Visit__c", "local_\(number)",
            ["Name": .string("Visit \(number)"), "External_Id__c": "V-1"])
        ], user: waits || number == 1 ? day.ada : day.ben, install: "phone \(number)",
        stamp: "stamp \(number)")
    }
    try visit(1)
    if waits {
      try day.org.setActive("ada@example.com", false)
      #expect(day.verdicts(try await day.run()) == "not attempted 1")
      try day.org.setActive("ada@example.com", true)
    }
    try visit(2)
    if waits {
      // The first is left out of this run.
      day.options.only = [2]
      #expect(day.verdicts(try await day.run()) == "device conflict 1")
      #expect(try day.details().first?.otherEdits == [1])
      day.options.only = nil
    }
    #expect(
      day.verdicts(try await day.run()) == (waits ? "device conflict 1" : "device conflict 2"))
    for edit in [1, 2] as [Int64] {
      try day.decide(edit, .retry)
      #expect(day.verdicts(try await day.run()) == "device conflict 1")
    }
    #expect(try day.count("SELECT Id FROM Site_Visit__c") == 0)
    try day.decide(1, .discard)
    try day.decide(2, .device)
    #expect(day.verdicts(try await day.run()) == "created 1, discarded 1")
  }
}
