import JSON
import Ledger
import LocalOrg
import MobileSync
import Reconciliation
import Testing

/// Creates that go out by an external id, while others use that id.
struct UpsertDoubtTests {
  private let day: FieldDay

  init() throws {
    day = try FieldDay()
    day.options.quietWindowSeconds = 900
  }

  private func rule(_ mode: MergeMode) {
    day.rules = [
      FieldDay.rule(
        "visits", ["Name", "Notes__c", "External_Id__c"], mode: mode, externalID: "External_Id__c")
    ]
  }

  private func handBack() throws {
    try day.handBack([
      day.created(
        "visits", "Site_Visit__c", "local_v",
        ["Name": "Device", "Notes__c": "seen", "External_Id__c": "V-1"])
    ])
  }

  /// A visit of the office under the same external id, which the technician may change.
  private func officeVisit() throws -> String {
    try day.make("Site_Visit__c", ["Name": "Office", "External_Id__c": "V-1"])
  }

  /// The upsert gets no answer, and before it is looked for the office makes a visit of the same id.
  private func loseUpsert(_ fault: Faults.Action) {
    let admin = day.admin
    let ada = day.ada
    day.server.faults.add(.kind(.collectionUpsert), fault)
    day.server.faults.add(
      .kind(.query), nth: 2,
      .mutate { org in
        let id =
          org.create(
            "Site_Visit__c", ["Name": "Office", "External_Id__c": "V-1"], as: admin
          ).id ?? ""
        try org.share(id, with: ada.username)
      })
  }

  private func visits() throws -> Int { try day.count("SELECT Id FROM Site_Visit__c") }

  @Test(arguments: [MergeMode.leaveIfChanged, .overwrite])
  func `what an upsert overwrites is listed on the edit`(_ mode: MergeMode) async throws {
    rule(mode)
    let id = try officeVisit()
    try handBack()
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let detail = try #require(try day.details().first)
    #expect(detail.recordID == id)
    #expect(detail.fields.first { $0.name == "Name" }?.server == "Office")
    #expect(detail.fields.first { $0.name == "Name" }?.isConflicting == true)
    #expect(try day.record("Site_Visit__c", id)["Name"] == "Device")
  }

  @Test func `the external id that an upsert has sent is not outside the field list`() async throws
  {
    day.rules = [FieldDay.rule("visits", ["Name"], externalID: "External_Id__c")]
    try handBack()
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.details().first?.outside.map(\.name) == ["Notes__c"])
  }

  @Test(arguments: [MergeMode.leaveIfChanged, .overwrite])
  func `a lost upsert is not sent over what the office made of the record meanwhile`(
    _ mode: MergeMode
  ) async throws {
    rule(mode)
    try handBack()
    let admin = day.admin
    day.server.faults.add(.kind(.collectionUpsert), .drop(afterCommit: true))
    // Before it is looked for, the office corrects what was made.
    day.server.faults.add(
      .kind(.query), nth: 2,
      .mutate { org in
        guard
          let id = try org.find(
            "Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: admin)
        else { return }
        _ = org.update("Site_Visit__c", id: id, ["Name": "Office"], as: admin)
      })
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try visits() == 1)
    #expect(try day.count("SELECT Id FROM Site_Visit__c WHERE Name = 'Office'") == 1)
    let detail = try #require(try day.details().first)
    #expect(detail.message?.contains("Name") == true)
  }

  @Test(arguments: [(MergeMode.leaveIfChanged, "conflict 1"), (.overwrite, "updated 1")])
  func `a lost upsert that did not arrive is compared with what the office entered`(
    _ mode: MergeMode, _ verdict: String
  ) async throws {
    rule(mode)
    try handBack()
    loseUpsert(.drop(afterCommit: false))
    #expect(day.verdicts(try await day.run()) == verdict)
    #expect(try visits() == 1)
    let detail = try #require(try day.details().first)
    #expect(detail.fields.first { $0.name == "Name" }?.server == "Office")
    let name = mode == .overwrite ? "Device" : "Office"
    #expect(try day.count("SELECT Id FROM Site_Visit__c WHERE Name = '\(name)'") == 1)
  }

  @Test func `what the office entered just as a lost upsert has it is no conflict`() async throws {
    rule(.leaveIfChanged)
    try handBack()
    let (admin, ada) = (day.admin, day.ada)
    day.server.faults.add(.kind(.collectionUpsert), .drop(afterCommit: false))
    // After the search for the lost upsert, before it is sent again.
    day.server.faults.add(
      .kind(.query), nth: 3,
      .mutate { org in
        let id =
          org.create(
            "Site_Visit__c", ["Name": "Device", "Notes__c": "seen", "External_Id__c": "V-1"],
            as: admin
          ).id ?? ""
        try org.share(id, with: ada.username)
      })
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try visits() == 1)
  }

  @Test func `a conflict whose lost upsert arrives after all stays open`() async throws {
    rule(.leaveIfChanged)
    try handBack()
    loseUpsert(.deliverLate(seconds: 1_000_000))
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    day.server.deliverHeld()
    #expect(try day.count("SELECT Id FROM Site_Visit__c WHERE Name = 'Device'") == 1)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(day.verdicts(try await day.run()) == "")
    #expect(try day.state.unsettledEdits() == [.conflict: 1])
  }

  @Test func `a lost upsert of a record that stands as it stood is sent again`() async throws {
    rule(.leaveIfChanged)
    let id = try officeVisit()
    try handBack()
    day.server.faults.add(.kind(.collectionUpsert), .drop(afterCommit: false))
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Site_Visit__c", id)["Name"] == "Device")
  }

  @Test(arguments: [(MergeMode.leaveIfChanged, "deleted on server 1"), (.overwrite, "created 1")])
  func `a lost upsert of a record that was there and is deleted since goes as its mode says`(
    _ mode: MergeMode, _ verdict: String
  ) async throws {
    rule(mode)
    let id = try officeVisit()
    try handBack()
    let admin = day.admin
    day.server.faults.add(.kind(.collectionUpsert), .drop(afterCommit: false))
    day.server.faults.add(
      .kind(.query), nth: 2,
      .mutate { org in _ = org.delete("Site_Visit__c", id: id, as: admin) })
    #expect(day.verdicts(try await day.run()) == verdict)
    #expect(try visits() == (mode == .overwrite ? 1 : 0))
    let detail = try #require(try day.details().first)
    let named = mode == .overwrite ? detail.otherID : detail.recordID
    #expect(named == id)
    #expect(mode == .leaveIfChanged || detail.message?.contains("made anew") == true)
  }

  @Test func `a lost upsert whose record was deleted since is not made again`() async throws {
    rule(.leaveIfChanged)
    try handBack()
    let admin = day.admin
    day.server.faults.add(.kind(.collectionUpsert), .drop(afterCommit: true))
    day.server.faults.add(
      .kind(.query), nth: 2,
      .mutate { org in
        guard
          let id = try org.find(
            "Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: admin)
        else { return }
        _ = org.delete("Site_Visit__c", id: id, as: admin)
      })
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try visits() == 0)
    #expect(try day.details().first?.message?.contains("deleted since") == true)
  }
}
