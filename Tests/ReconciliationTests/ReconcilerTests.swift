import Ledger
import Reconciliation
import Testing

struct ReconcilerTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  @Test func `an update, a create and a delete reach the org`() async throws {
    let first = try day.make("Account", ["Name": "One", "Phone": "1"])
    let second = try day.make("Account", ["Name": "Two"])
    try day.org.transfer(second, to: "ada@example.com")
    try day.handBack([
      try day.edited(account: first, ["Phone": "555"]),
      try day.edited(account: second, [:], deleted: true),
      day.account("local_1", ["Name": "Three"]),
    ])
    #expect(day.verdicts(try await day.run()) == "created 1, deleted 1, updated 1")
    #expect(try day.record("Account", first)["Phone"] == "555")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Three'") == 1)
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Two'") == 0)
    let writes = day.writes.count
    #expect(try await day.run().edits == 0)
    #expect(day.writes.count == writes)
  }

  @Test func `another user's change meanwhile is a conflict with all three values`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Industry": "Energy"])
    let edit = try day.edited(account: id, ["Phone": "device"])
    try day.change("Account", id, ["Phone": "server", "Industry": "Banking"])
    #expect(try await day.verdicts([edit]) == "conflict 1")
    #expect(day.writes.isEmpty)
    let detail = try #require(try day.details().first)
    #expect(
      detail.fields == [
        FieldDifference(name: "Industry", base: "Energy", device: "Energy", server: "Banking"),
        FieldDifference(
          name: "Phone", base: "1", device: "device", server: "server", isConflicting: true),
      ])
  }

  @Test func `a change between the check and the write is a conflict`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "device"])])
    day.server.faults.add(.kind(.composite), nth: 1, times: 1, .update(id, ["Phone": "server"]))
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try day.record("Account", id)["Phone"] == "server")
  }

  @Test func `a delete is checked again right before it is sent`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.org.transfer(id, to: "ada@example.com")
    try day.handBack([try day.edited(account: id, [:], deleted: true)])
    day.server.faults.add(.kind(.retrieve), nth: 2, times: 1, .update(id, ["Phone": "server"]))
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(day.writes.isEmpty)
  }

  @Test func `overwrite overwrites other users' changes`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: .overwrite)
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let edit = try day.edited(account: id, ["Phone": "device"])
    try day.change("Account", id, ["Phone": "server", "Name": "Renamed"])
    #expect(try await day.verdicts([edit]) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "device")
    // As in the SDK; the report lists the values that were overwritten.
    #expect(try day.record("Account", id)["Name"] == "One")
    let fields = try #require(try day.details().first).fields
    #expect(fields.map(\.name) == ["Name", "Phone"])
    #expect(fields.map(\.server) == ["Renamed", "server"])
  }

  @Test func `edits that need no write have their own verdicts`() async throws {
    let ids = try (0..<4).map {
      try day.make("Account", ["Name": .string("A\($0)"), "Phone": "1"])
    }
    var same = try day.edited(account: ids[2], ["Phone": "9"])
    same.modificationDate = "2020-01-01T00:00:00.000+0000"
    same.base = nil
    try day.change("Account", ids[2], ["Phone": "9"])
    let dropped = day.account("local_9", ["Name": "gone"])
    try day.handBack([
      try day.edited(account: ids[0], [:]),
      try day.edited(account: ids[1], ["Website": "https://example.com"]), same,
      Edit(
        row: dropped.row, created: 1, lastModified: 2, element: dropped.element,
        operation: .dropped, sobject: "Account", localID: "local_9"),
      try day.edited("unknown", "Account", ids[3], ["Phone": "2"]),
    ])
    #expect(
      day.verdicts(try await day.run())
        == "already in org 1, not configured 1, not in field list 1, unchanged 2")
    #expect(day.writes.isEmpty)
    #expect(try day.details().flatMap(\.outside).map(\.name) == ["Website"])
  }

  @Test func `an edit that cannot be sent is reported with the values that were entered`()
    async throws
  {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    var edit = try day.edited(account: id, ["Phone": "2"])
    edit.finding = "several changed rows of the soup have the same Id"
    #expect(try await day.verdicts([edit]) == "failed 1")
    let detail = try #require(try day.details().first)
    #expect(detail.message == edit.finding)
    #expect(detail.fields == [FieldDifference(name: "Phone", base: "1", device: "2", server: nil)])
  }

  @Test func `a record sent and then deleted on its device is deleted in the org`() async throws {
    let made = day.account("local_1", ["Name": "Short-lived"])
    #expect(try await day.verdicts([made], handback: 1) == "created 1")
    var later = made
    later.operation = .dropped
    later.lastModified += 1
    #expect(try await day.verdicts([later], handback: 2) == "deleted 1")
    #expect(try day.count("SELECT Id FROM Account") == 0)
  }

  @Test func `a prior write is not a conflict on a later return`() async throws {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    #expect(try await day.verdicts([edit], handback: 1) == "updated 1")
    let later = try edit.changed(["Phone": "3"], later: 50)
    #expect(try await day.verdicts([later], handback: 2) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "3")
    try day.change("Account", id, ["Phone": "server"])
    let latest = try later.changed(["Phone": "4"], later: 50)
    #expect(try await day.verdicts([latest], handback: 3) == "conflict 1")
  }

  @Test func `edits of one record by two devices conflict, in one inbox or two runs`() async throws
  {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let other = try day.make("Account", ["Name": "Two", "Phone": "1"])
    let adas = try day.edited(account: id, ["Phone": "ada"])
    let bens = try day.edited(account: id, ["Phone": "ben"])
    let late = try day.edited(account: other, ["Phone": "ben"])
    try day.handBack([adas, try day.edited(account: other, ["Phone": "ada"])])
    #expect(try await day.verdicts([bens], user: day.ben) == "device conflict 2, updated 1")
    #expect(
      try await day.verdicts([late], user: day.ben, install: "another of ben")
        == "device conflict 1")
    #expect(try day.record("Account", other)["Phone"] == "ada")
    // A bundle made after the conflict was reported, with the result of the write, starts over.
    let fresh = try day.edited(account: other, ["Phone": "fresh"])
    try day.handBack([fresh], user: day.ben, install: "a third of ben", issued: 100)
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test(arguments: [
    (ReconcileOptions.DeviceConflicts.firstWins, "ada"), (.lastWins, "ben"), (.manual, "1"),
  ])
  func `a device conflict is resolved as the pipeline says`(
    _ across: ReconcileOptions.DeviceConflicts, _ phone: String
  ) async throws {
    day.options.deviceConflicts = across
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let adas = try day.edited(account: id, ["Phone": "ada"])
    let bens = try day.edited(account: id, ["Phone": "ben"])
    try day.handBack([adas])
    try day.handBack([bens], user: day.ben)
    let summary = try await day.run()
    #expect(try day.record("Account", id)["Phone"] == .string(phone))
    #expect(summary.edits == 2)
    #expect(summary.verdicts[.deviceConflict] == (across == .manual ? 2 : 1))
  }

  @Test func `children get their new parents' IDs and wait for them`() async throws {
    try day.handBack([
      day.contact("local_c", ["LastName": "Child", "AccountId": "local_p"]),
      day.account("local_p", ["Name": "Parent", "ParentId": "local_g"]),
      day.account("local_g", ["Name": "Grandparent"]),
      day.contact("local_x", ["LastName": "Orphan", "AccountId": "local_none"]),
    ])
    #expect(day.verdicts(try await day.run()) == "blocked 1, created 3")
    #expect(
      try day.count(
        "SELECT Id FROM Contact WHERE LastName = 'Child' AND Account.Name = 'Parent' "
          + "AND Account.Parent.Name = 'Grandparent'") == 1)
  }

  @Test func `nothing is recreated just because it is absent`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: .overwrite)
    let deleted = try day.make("Account", ["Name": "Deleted"])
    let merged = try day.make("Account", ["Name": "Merged"])
    let master = try day.make("Account", ["Name": "Master"])
    let hidden = try day.make("Account", ["Name": "Hidden"])
    try day.handBack(
      try [deleted, merged, hidden].map { try day.edited(account: $0, ["Phone": "5"]) })
    _ = day.org.delete("Account", id: deleted, as: day.admin)
    try day.org.merge(merged, into: master)
    try day.org.unshare(hidden, from: "ada@example.com")
    #expect(day.verdicts(try await day.run()) == "created 1, merged on server 1, not visible 1")
    #expect(try day.details().compactMap(\.otherID).sorted() == [deleted, master].sorted())
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Deleted'") == 1)
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Hidden'") == 1)
  }

  @Test func `without an integration user the sender's recycle bin shows deletions`() async throws {
    day.hasIntegration = false
    let names = ["Deleted", "Merged", "Hidden", "Hidden and deleted", "Master"]
    let ids = try names.map { try day.make("Account", ["Name": .string($0)]) }
    try day.handBack(try ids.dropLast().map { try day.edited(account: $0, ["Phone": "5"]) })
    for id in ids[2...3] { try day.org.unshare(id, from: "ada@example.com") }
    for id in [ids[0], ids[3]] { _ = day.org.delete("Account", id: id, as: day.admin) }
    try day.org.merge(ids[1], into: ids[4])
    #expect(
      day.verdicts(try await day.run()) == "deleted on server 1, merged on server 1, not visible 2")
    #expect(try day.details().compactMap(\.otherID) == [ids[4]])
    #expect(day.writes.isEmpty)
  }

  @Test func `a dry run sends nothing and predicts a run's outcome`() async throws {
    let one = try day.make("Account", ["Name": "One", "Phone": "1"])
    let two = try day.make("Account", ["Name": "Two", "Phone": "1"])
    let conflict = try day.edited(account: two, ["Phone": "2"])
    try day.change("Account", two, ["Phone": "3"])
    try day.handBack([
      try day.edited(account: one, ["Phone": "5"]), conflict,
      day.account("local_1", ["Name": "New"]),
    ])
    let plan = try await day.plan()
    #expect(day.writes.isEmpty)
    #expect(plan.writes == [.update: 1, .create: 1])
    let summary = try await day.run()
    #expect(plan.counts == summary.verdicts)
  }

  @Test func `more deletions than the guard allows wait for the plan's digest`() async throws {
    day.options.maxChanges = .init(
      perSnapshot: 100, deletes: .init(maxDeletesPercent: 1, minimumDeletes: 1))
    let ids = try (0..<3).map { try day.make("Account", ["Name": .string("A\($0)")]) }
    for id in ids { try day.org.transfer(id, to: "ada@example.com") }
    try day.handBack(try ids.map { try day.edited(account: $0, [:], deleted: true) })
    let held = try await day.run()
    #expect(day.verdicts(held) == "not attempted 3")
    #expect(day.writes.isEmpty)
    let digest = try #require(held.awaiting[day.ada.id]?.first)
    day.options.confirmed = [digest]
    #expect(day.verdicts(try await day.run()) == "deleted 3")
  }

  @Test func `the edits of a user who cannot log in are not attempted`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    try day.org.setActive("ada@example.com", false)
    #expect(try await day.plan().counts == [.notAttempted: 1])
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    day.options.onInactiveUser = .integration
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `records made by the integration user belong to the snapshot's user`() async throws {
    day.options.sendAs = .integration
    #expect(try await day.verdicts([day.account("local_1", ["Name": "New"])]) == "created 1")
    #expect(try day.count("SELECT Id FROM Account WHERE OwnerId = '\(day.ada.id)'") == 1)
  }

  @Test func `a create that returns changed updates the record it became`() async throws {
    let edit = day.account("local_1", ["Name": "New"])
    try day.handBack([edit], handback: 1)
    try await day.run()
    let later = try edit.changed(["Phone": "77"], later: 10)
    #expect(try await day.verdicts([later], handback: 2) == "updated 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'New'") == 1)
    #expect(try day.count("SELECT Id FROM Account WHERE Phone = '77'") == 1)
  }

  @Test func `an external ID gives no access to a record that was not issued`() async throws {
    let day = try FieldDay(
      "visits", ["Name", "Notes__c", "External_Id__c"], externalID: "External_Id__c")
    let visit = try day.make(
      "Site_Visit__c", ["Name": "V1", "External_Id__c": "K'1", "Notes__c": "old"])
    day.options.sendAs = .integration
    let edit = day.created(
      "visits", "Site_Visit__c", "local_1", ["External_Id__c": "K'1", "Notes__c": "new"])
    try day.handBack([edit])
    #expect(try await day.plan().counts == [.exceedsUserAccess: 1])
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    #expect(try day.record("Site_Visit__c", visit)["Notes__c"] == "old")
    #expect(day.writes.isEmpty)
  }

  @Test func `an owner set by the device stays, whichever user sends the edit`() async throws {
    day.options.sendAs = .integration
    day.issued = [day.ben.id]
    day.rules = [FieldDay.rule("accounts", ["Name", "OwnerId"])]
    try day.handBack([day.account("local_1", ["Name": "New", "OwnerId": .string(day.ben.id)])])
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.count("SELECT Id FROM Account WHERE OwnerId = '\(day.ben.id)'") == 1)
  }

  @Test func `a plan blocks the child of an unsent record, and its own children`() async throws {
    let day = try FieldDay("contacts", ["LastName", "AccountId", "ReportsToId"])
    try day.handBack([
      day.account("local_1", ["Name": "New"]),
      day.contact("local_2", ["LastName": "A", "AccountId": "local_1"]),
      day.contact("local_3", ["LastName": "B", "ReportsToId": "local_2"]),
    ])
    let plan = try await day.plan()
    #expect(plan.counts == [.notConfigured: 1, .blocked: 2])
    #expect(plan.writes.isEmpty)
    #expect(day.verdicts(try await day.run()) == "blocked 2, not configured 1")
    #expect(day.writes.isEmpty)
  }

  @Test func `a create that its device sent too stays a duplicate`() async throws {
    let edit = day.account("local_1", ["Name": "New"])
    try day.handBack([edit], handback: 1)
    _ = try await day.run()
    let own = try day.make("Account", ["Name": "New"])
    let witness = edit.clean(at: 9000, as: own)
    #expect(try await day.verdicts([], handback: 2, witnesses: [witness]) == "duplicate created 1")
    #expect(try day.details().first?.otherID == own)
    #expect(try await day.verdicts([], handback: 3, witnesses: [witness]) == "")
    #expect(try day.retries(2))
  }
}
