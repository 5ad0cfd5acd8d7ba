import JSON
import Ledger
import MobileSync
import Testing

struct SameRecordTests {
  enum Devices: String, CaseIterable { case one, twoOfOneUser, twoUsers }

  struct Case: CustomTestStringConvertible {
    var devices: Devices
    var mode: MergeMode
    var deletes: Bool
    var isUpsertFirst: Bool
    var testDescription: String {
      "\(devices.rawValue), \(mode), \(deletes ? "deletion" : "update"), upsert \(isUpsertFirst ? "first" : "last")"
    }

    static let all = Devices.allCases.flatMap { devices in
      [MergeMode.overwrite, .leaveIfChanged].flatMap { mode in
        [(false, false), (false, true), (true, false), (true, true)].map {
          Case(devices: devices, mode: mode, deletes: $0.0, isUpsertFirst: $0.1)
        }
      }
    }
  }

  private let day: FieldDay
  private let id: String
  init() throws {
    day = try FieldDay()
    let made = day.org.create(
      "Site_Visit__c", ["Name": "Office", "Notes__c": "0", "External_Id__c": "V-1"], as: day.ada)
    id = try #require(made.id)
    try day.org.share(id, with: "ben@example.com")
    try rule(.overwrite)
  }

  private func rule(_ mode: MergeMode) throws {
    day.rules = [
      FieldDay.rule(
        "visits", ["Name", "Notes__c", "External_Id__c"], mode: mode, externalID: "External_Id__c")
    ]
  }

  private func direct(deletes: Bool = false) throws -> Edit {
    try day.edited(
      "visits", "Site_Visit__c", id, deletes ? [:] : ["Notes__c": "by Id"], deleted: deletes)
  }

  private func upsert() -> Edit {
    day.created(
      "visits", "Site_Visit__c", "local_1",
      ["Name": "New", "Notes__c": "by external id", "External_Id__c": "V-1"])
  }

  private func handBack(_ edits: [Edit], _ devices: Devices) throws {
    switch devices {
    case .one: try day.handBack(edits)
    case .twoOfOneUser:
      for (number, edit) in edits.enumerated() {
        try day.handBack([edit], install: "phone \(number)", stamp: "stamp \(number)")
      }
    case .twoUsers:
      for (edit, user) in zip(edits, [day.ada, day.ben]) { try day.handBack([edit], user: user) }
    }
  }

  @Test(arguments: Case.all)
  func
    `a new record with the external id of a record that another edit names by its Id disagrees with it`(
      _ one: Case
    ) async throws
  {
    try rule(one.mode)
    let edits = [try direct(deletes: one.deletes), upsert()]
    try handBack(one.isUpsertFirst ? edits.reversed() : edits, one.devices)
    let summary = try await day.run()
    let open = try day.state.unsettledEdits()
    #expect((open[.deviceConflict] ?? 0) >= 1)
    if one.devices == .twoUsers {
      #expect(day.writes.count <= 1)
    } else {
      #expect(day.verdicts(summary) == "device conflict 2")
      #expect(day.writes.isEmpty)
      #expect(try day.record("Site_Visit__c", id)["Notes__c"] == "0")
    }
  }

  @Test(arguments: [false, true], [true, false])
  func `a new record with the external ID of one that is recreated conflicts`(
    _ isUpsertFirst: Bool, _ isRecreated: Bool
  ) async throws {
    try rule(isRecreated ? .overwrite : .leaveIfChanged)
    let edits = [try direct(), upsert()]
    #expect(day.org.delete("Site_Visit__c", id: id, as: day.admin).errors.isEmpty)
    try handBack(isUpsertFirst ? edits.reversed() : edits, .one)
    let verdicts = day.verdicts(try await day.run())
    #expect(verdicts == (isRecreated ? "device conflict 2" : "created 1, deleted on server 1"))
    #expect(day.writes.isEmpty == isRecreated)
  }

  @Test(arguments: [1, 2] as [Int64])
  func `of two such edits the decided one is sent, the other stays`(_ decided: Int64) async throws {
    try handBack([try direct(), upsert()], .twoOfOneUser)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    try day.decide(decided, .device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let notes: JSONValue = decided == 1 ? "by Id" : "by external id"
    #expect(try day.record("Site_Visit__c", id)["Notes__c"] == notes)
    #expect(try day.state.unsettledEdits() == [.deviceConflict: 1])
    // The rules are applied again, now that they know the first edit.
    try day.decide(3 - decided, .retry)
    _ = try await day.run()
    #expect(try day.record("Site_Visit__c", id)["Notes__c"] == notes)
    #expect(try day.state.unsettledEdits().values.reduce(0, +) == 1)
  }

  @Test func `if both are decided at once, one is sent and the other needs a new decision`()
    async throws
  {
    try handBack([try direct(), upsert()], .twoOfOneUser)
    #expect(day.verdicts(try await day.run()) == "device conflict 2")
    try day.state.decide(
      [PendingDecision(1, .device), PendingDecision(2, .device)], by: "an operator")
    #expect(try await day.run().verdicts[.updated] == 1)
    #expect(try day.state.unsettledEdits().values.reduce(0, +) == 1)
  }

  @Test func `an edit waiting from an earlier run meets its external ID again`() async throws {
    try day.handBack([try direct()])
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    #expect(
      try await day.verdicts([upsert()], user: day.ben) == "device conflict 1, not attempted 1")
    #expect(day.writes.isEmpty)
  }

  @Test func `a row that changes nothing does not conflict`() async throws {
    let unchanged = try day.edited("visits", "Site_Visit__c", id, [:])
    try handBack([unchanged, upsert()], .one)
    #expect(day.verdicts(try await day.run()) == "unchanged 1, updated 1")
  }
}
