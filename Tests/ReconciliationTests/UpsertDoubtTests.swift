import JSON
import Ledger
import LocalOrg
import MobileSync
import Testing

struct UpsertDoubtTests {
  /// An upsert, what happened to its first request, and another user's change before it is looked
  /// up.
  struct Row: Sendable, CustomTestStringConvertible {
    enum Answer: Sendable, CaseIterable { case given, arrived, lost }
    enum Office: Sendable, CaseIterable {
      case nothing, changes, deletes, makes
      /// The device's exact values, after the search for the lost upsert and before it is sent
      /// again.
      case makesSame
      /// Another value, between the last reading of the record and the upsert.
      case changesLast
    }

    var mode: MergeMode
    /// Whether another user already had a record with the external ID.
    var stood: Bool
    var answer: Answer
    var office: Office
    var testDescription: String { "\(mode) \(stood ? "stood" : "new") \(answer) \(office)" }

    static let all = [MergeMode.leaveIfChanged, .overwrite].flatMap { mode in
      [
        (true, Answer.given, Office.nothing), (false, .given, .nothing),
        (false, .arrived, .nothing), (false, .arrived, .changes), (false, .arrived, .deletes),
        (true, .arrived, .nothing), (true, .arrived, .changes), (false, .lost, .nothing),
        (true, .lost, .nothing), (true, .lost, .deletes), (false, .lost, .makes),
        (false, .lost, .makesSame), (true, .given, .changesLast), (true, .lost, .changesLast),
      ].map { Row(mode: mode, stood: $0.0, answer: $0.1, office: $0.2) }
    }

    /// A request that created its record is done, whatever others changed afterwards.
    ///
    /// One that changed a record is compared with it, and one that did not arrive is sent as if for
    /// the first time, based on the current record.
    var verdict: String {
      switch (answer, office) {
      case (.arrived, .changes) where stood: mode == .overwrite ? "updated 1" : "conflict 1"
      case (.arrived, _) where !stood: "created 1"
      case (_, .deletes): mode == .overwrite ? "created 1" : "deleted on server 1"
      case (_, .makes), (.lost, .changesLast): mode == .overwrite ? "updated 1" : "conflict 1"
      default: stood || office == .makesSame ? "updated 1" : "created 1"
      }
    }

    /// The final name of the record; nil if there is none.
    var name: String? {
      switch (answer, office) {
      case (.arrived, .deletes): nil
      case (.arrived, .changes): stood && mode == .overwrite ? "Device" : "Office"
      case (.lost, .changesLast): mode == .overwrite ? "Device" : "Office"
      case (_, .deletes), (_, .makes):
        mode == .overwrite ? "Device" : office == .makes ? "Office" : nil
      default: "Device"
      }
    }

    /// The kind of its first request.
    ///
    /// Under LEAVE_IF_CHANGED an existing record is written on the condition that it is as it was
    /// read, which a collection cannot have.
    var kind: RequestKind { stood && mode == .leaveIfChanged ? .composite : .collectionUpsert }

    var message: String? {
      switch (answer, office) {
      case (.arrived, .changes) where stood: mode == .overwrite ? nil : "no answer came back"
      case (.arrived, .changes): "Name"
      case (.arrived, .deletes): "it has been deleted"
      case (.lost, .deletes): mode == .overwrite ? "recreated" : nil
      default: nil
      }
    }
  }

  private let day: FieldDay
  init() throws {
    day = try FieldDay()
    day.options.unansweredWaitSeconds = 900
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

  private func visits(_ name: String = "%") throws -> Int {
    try day.count("SELECT Id FROM Site_Visit__c WHERE Name LIKE '\(name)'")
  }

  /// Another user changes the record with the external ID, or creates one that the technician may
  /// change, before a query or the last write.
  private func office(_ work: Row.Office, _ answer: Row.Answer) {
    let (admin, ada) = (day.admin, day.ada)
    let match: FaultMatch = work == .changesLast ? .writes : .kind(.query)
    let nth =
      switch work {
      case .changesLast: answer == .given ? 1 : 2
      case .makesSame: 3
      case .nothing, .changes, .deletes, .makes: 2
      }
    let values: JSONObject =
      work == .makesSame
      ? ["Name": "Device", "Notes__c": "seen", "External_Id__c": "V-1"]
      : ["Name": "Office", "External_Id__c": "V-1"]
    day.server.faults.add(
      match, nth: nth,
      .mutate { org in
        let id =
          try org.find("Site_Visit__c", externalField: "External_Id__c", value: "V-1", as: admin)
          ?? ""
        switch work {
        case .nothing: break
        case .changes: _ = org.update("Site_Visit__c", id: id, ["Name": "Office"], as: admin)
        case .changesLast:
          _ = org.update("Site_Visit__c", id: id, ["Notes__c": "entered"], as: admin)
        case .deletes: _ = org.delete("Site_Visit__c", id: id, as: admin)
        case .makes, .makesSame:
          try org.share(org.create("Site_Visit__c", values, as: admin).id ?? "", with: ada.username)
        }
      })
  }

  @Test(arguments: Row.all)
  func `an upsert overwrites no unseen change, whatever happened first`(_ row: Row) async throws {
    rule(row.mode)
    let id =
      row.stood
      ? try day.make(
        "Site_Visit__c", ["Name": "Office", "Notes__c": "theirs", "External_Id__c": "V-1"]) : nil
    try handBack()
    if row.answer != .given {
      day.server.faults.add(.kind(row.kind), .drop(afterCommit: row.answer == .arrived))
    }
    office(row.office, row.answer)
    #expect(day.verdicts(try await day.run()) == row.verdict)
    #expect(try visits() == (row.name == nil ? 0 : 1))
    if let name = row.name { #expect(try visits(name) == 1) }
    let detail = try #require(try day.details().first)
    if let message = row.message { #expect(detail.message?.contains(message) == true) }
    if let id {
      let wasRemade = row.office == .deletes && row.mode == .overwrite
      #expect((wasRemade ? detail.otherID : detail.recordID) == id)
    }
    // The edit lists the values that are overwritten or left.
    if row.office == .makes || row.stood && row.office != .deletes {
      let name = detail.fields.first { $0.name == "Name" }
      #expect(name?.server == "Office")
      #expect(row.answer == .lost || name?.isConflicting == true)
    }
    // Under LEAVE_IF_CHANGED also a value entered since the record was first read.
    if row.office == .changesLast, row.answer == .given {
      let notes = detail.fields.first { $0.name == "Notes__c" }
      #expect(notes?.server == (row.mode == .leaveIfChanged ? "entered" : "theirs"))
    }
    // Also a value that only a request without an answer has overwritten.
    if row.stood, row.answer == .arrived, row.office == .changes {
      let notes = detail.fields.first { $0.name == "Notes__c" }
      #expect(notes?.base == "theirs" && notes?.isConflicting == false)
    }
  }

  @Test func `after a refused upsert, the lost one before it still counts`() async throws {
    rule(.leaveIfChanged)
    let id = try day.make("Site_Visit__c", ["Name": "Office", "External_Id__c": "V-1"])
    try handBack()
    day.server.faults.add(.kind(.composite), .drop(afterCommit: false))
    office(.changesLast, .lost)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    try day.decide(1, .retry)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try day.details().first?.message?.contains("no answer came back") == true)
    #expect(try day.record("Site_Visit__c", id)["Name"] == "Office")
  }

  @Test func `the external ID that an upsert sent is not outside the field list`() async throws {
    day.rules = [FieldDay.rule("visits", ["Name"], externalID: "External_Id__c")]
    try handBack()
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.details().first?.outside.map(\.name) == ["Notes__c"])
  }

  @Test func `a conflict whose lost upsert arrives stays open`() async throws {
    rule(.leaveIfChanged)
    try handBack()
    day.server.faults.add(.kind(.collectionUpsert), .deliverLate(seconds: 1_000_000))
    office(.makes, .lost)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    day.server.deliverHeld()
    #expect(try visits("Device") == 1)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(day.verdicts(try await day.run()) == "")
    #expect(try day.state.unsettledEdits() == [.conflict: 1])
  }
}
