import JSON
import MobileSync
import SmartStore
import Testing

@Suite struct SyncUpDoubtTests {
  private func marks(_ store: ManagedStore) async throws -> Int {
    try await store.manager.withStore { store in
      try store.hasSoup(PendingRequest.soupName) ? store.count(of: PendingRequest.soupName) : 0
    }
  }

  @Test(arguments: UpCase.kinds, [true, false])
  func `a create whose response was lost is done once, whether it arrived or not`(
    _ up: UpCase, _ afterCommit: Bool
  ) async throws {
    let store = try await ManagedStore(up)
    try await store.createAccounts(["A", "B", "B"])
    store.org.server.faults.add(.writes, .drop(afterCommit: afterCommit))
    let lost = try await store.up(up.kind)
    #expect(lost.state.status == .failed)
    #expect(lost.report.records.allSatisfy { $0.outcome.isUnconfirmed })
    #expect(!lost.report.records.isEmpty)
    #expect(try await store.dirty().count == 3)
    #expect(try await marks(store) == 1)

    #expect(try await store.up(up.kind).state.status == .done)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 3)
    #expect(try await marks(store) == 0)
    let elements = try await store.elements()
    #expect(Set(elements.compactMap { $0["Id"]?.string }).count == 3)
    for element in elements {
      let id = try #require(element["Id"]?.string)
      #expect(try store.serverName(id) == element["Name"]?.string)
    }
  }

  @Test func `the mark is in the file before the request is sent, and removed with the response`()
    async throws
  {
    let store = try await ManagedStore()
    try await store.createAccounts(["A"])
    try await store.up(SyncUpTarget(), holding: .kind(.collectionCreate)) {
      let other = try Store(opening: store.directory.file("store.db"), readOnly: true)
      #expect(try other.count(of: PendingRequest.soupName) == 1)
      try other.close()
    }.finish()
    #expect(try await marks(store) == 0)
  }

  @Test func `a write that could not be looked up is not sent again`() async throws {
    let store = try await ManagedStore()
    try await store.createAccounts(["A"])
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    try await store.up(.collection)
    store.org.server.faults.add(.kind(.query), .status(400, code: "QUERY_TOO_COMPLICATED"))
    let end = try await store.up(.collection)
    #expect(end.report.records.map { "\($0.outcome)".contains("could not be looked up") } == [true])
    #expect(try store.accountCount() == 1)
    #expect(try await marks(store) == 1)
    try await store.up(.collection)
    #expect(try store.accountCount() == 1)
    #expect(try await store.dirty().isEmpty)
  }

  @Test func `a write not found is not sent again before the wait for its answer ends`()
    async throws
  {
    let settings = SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 600)
    let store = try await ManagedStore(.ios, settings: settings)
    try await store.createAccounts(["A"])
    store.org.server.faults.add(.writes, .drop(afterCommit: false))
    try await store.up(.collection)
    let early = try await store.up(.collection)
    #expect(early.state.status == .done)
    #expect(
      early.report.records.map(\.outcome).first.map { "\($0)".contains("in transit") } == true)
    #expect(try store.accountCount() == 0)
    #expect(try await store.dirty().count == 1)
    // Each record written moves the org's clock by a second.
    let other = try store.org.make("Account", ["Name": "other"])
    for _ in 0..<700 { try store.org.update("Account", other, ["Name": "other"]) }
    try await store.up(.collection)
    #expect(try store.accountCount() == 2)
    #expect(try await store.dirty().isEmpty)
  }

  @Test func `a record that arrived is found at once, also during the wait for an answer`()
    async throws
  {
    let settings = SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 600)
    let store = try await ManagedStore(.android, settings: settings)
    try await store.createAccounts(["A"])
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    try await store.up(.collection)
    #expect(try await store.up(.collection).report.records.map(\.outcome) == [.sent])
    #expect(try store.accountCount() == 1)
  }

  @Test(arguments: ["Name", "Description"])
  func `an edit after the lost create is sent as an update, also of a field that was empty`(
    _ field: String
  ) async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    let local = try await store.create([["Name": "A"]])
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    try await store.up(.collection)
    try await store.edit(local) { $0[field] = "B" }
    try await store.up(.collection)
    #expect(try store.accountCount() == 1)
    let id = try #require(try await store.elements().first?["Id"]?.string)
    #expect(try store.server("Account", field, of: id) == "B")
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: [SyncUpTarget(kind: .single), .accounts()])
  func `an unconfirmed create is not mistaken for another of the same run`(
    _ target: SyncUpTarget
  ) async throws {
    let settings = SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 600)
    let store = try await ManagedStore(.ios, settings: settings)
    try await store.createAccounts(["A"])
    store.org.server.faults.add(.writes, .drop(afterCommit: false))
    try await store.up(target)
    // The unconfirmed one waits; these are sent, one request each.
    try await store.createAccounts(["A", "B"])
    try await store.up(target)
    #expect(try store.accountCount() == 2)
    try await store.down(nil, .leaveIfChanged)
    try await store.up(target)
    #expect(try await store.elements().count == 3)
    #expect(try await store.dirty().count == 1)
    try store.org.org.moveClock(by: 700_000)
    try await store.up(target)
    #expect(try store.accountCount() == 3)
    #expect(try await store.column("Name") == ["A", "A", "B"])
  }

  @Test func `a mark lists the records created shortly before, not all of the run`() async throws {
    let store = try await ManagedStore(.ios)
    try await store.createAccounts(["A", "B", "C"])
    store.org.server.faults.add(.writes, nth: 2, .moveClock(seconds: 120))
    try await store.up(SyncUpTarget(kind: .single), holding: .writes, nth: 3) {
      let claimed = try await store.manager.withStore { store in
        try PendingRequest.all(of: ManagedStore.accounts, in: store).flatMap(\.claimed)
      }
      #expect(claimed == (try await store.ids(named: ["B"])))
    }.finish()
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: [
    #"{"user":"x' OR Name != '","since":0,"sent":0}"#,
    #"{"user":"005000000000001AAA","since":0,"sent":-9223372036854775808}"#,
    #"{"user":"005000000000001AAA","since":-9223372036854775808,"sent":0}"#,
  ])
  func `an invalid mark is ignored`(_ json: String) async throws {
    let store = try await ManagedStore(.ios)
    try await store.createAccounts(["A"])
    try await store.manager.withStore { store in
      try store.registerSoup(
        PendingRequest.soupName, indexSpecs: [IndexSpec(path: "soupName", type: .string)])
      let element = try #require(
        try store.elements(in: ManagedStore.accounts, where: "Name", is: "A").first)
      var object = try #require(try JSONValue(parsing: Array(json.utf8)).object)
      object["soupName"] = .string(ManagedStore.accounts)
      object["changes"] = [
        [
          "row": element["_soupEntryId"] ?? 1, "created": 0, "create": true, "type": "Account",
          "fields": ["Name": "A"],
        ]
      ]
      try store.upsert([.object(object)], into: PendingRequest.soupName)
      #expect(try PendingRequest.all(of: ManagedStore.accounts, in: store).isEmpty)
    }
    try await store.up(.collection)
    #expect(try store.accountCount() == 1)
  }

  @Test func `more records than creates need an operator's decision`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    try await store.createAccounts(["A"])
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    try await store.up(.collection)
    let twin = try store.org.make("Account", ["Name": "A", "Description": "of A"])
    let end = try await store.up(.collection)
    #expect(end.state.status == .done)
    #expect(end.report.records.count == 1)
    #expect("\(end.report.records[0].outcome)".contains("2 records may be"))
    #expect(try store.accountCount() == 2)
    // Once one of them is deleted, the other is ours.
    try store.org.delete(twin)
    try await store.up(.collection)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 1)
  }

  @Test(arguments: UpCase.kinds)
  func `our own update without a response is not treated as a conflict`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    #expect(try await store.up(up.kind, .leaveIfChanged).state.status == .failed)
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(end.report.records.allSatisfy { $0.outcome == .sent })
    #expect(try await store.dirty().isEmpty)
    #expect(try await marks(store) == 0)
    // The date is the new one, so the next edit does not conflict either.
    try await store.edit(ids) { $0["Name"] = "again" }
    let again = try await store.up(up.kind, .leaveIfChanged)
    #expect(again.report.records.allSatisfy { $0.outcome == .sent })
  }

  @Test func `a lost update is not ours if another user has entered the same since`() async throws {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(1)
    try await store.editAccounts(ids)
    store.org.server.faults.add(.writes, .drop(afterCommit: false))
    #expect(try await store.up(.collection, .leaveIfChanged).state.status == .failed)
    let other = try store.org.org.addUser(
      "other@example.com", lastName: "Other", profile: "System Administrator")
    let same: JSONObject = ["Name": .string("local \(ids[0])"), "Description": "local"]
    #expect(store.org.org.update("Account", id: ids[0], same, as: other).errors.isEmpty)
    let end = try await store.up(.collection, .leaveIfChanged)
    #expect(end.report.records.map(\.outcome) == [.left(.changedOnServer)])
    #expect(try await store.dirty().count == 1)
  }

  @Test(arguments: UpCase.kinds)
  func `a request refused as a whole leaves nothing unconfirmed`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    try await store.createAccounts(["A"])
    store.org.server.faults.add(.writes, .limitExceeded)
    #expect(try await store.up(up.kind).state.status == .failed)
    #expect(try await marks(store) == 0)
    try await store.up(up.kind)
    #expect(try store.accountCount() == 1)
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: UpCase.kinds, MergeMode.allCases)
  func `an upsert by Id whose response was lost is in the org, or stays to be sent`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    for arrives in [true, false] {
      let store = try await ManagedStore(up)
      // The sender created the record a moment ago, which does not show that the request arrived.
      let id = try store.org.make("Account", ["Name": "old"])
      try await store.create([["Id": .string(id), "Name": "new"]])
      let target = SyncUpTarget(kind: up.kind, externalIdFieldName: "Id")
      store.org.server.faults.add(.writes, .drop(afterCommit: arrives))
      try await store.up(target, mode, fields: ["Name"])
      try await store.up(target, mode, fields: ["Name"])
      // The record with the Id is compared, and LEAVE_IF_CHANGED skips it.
      let isLeft = mode == .leaveIfChanged && !arrives
      #expect(try store.serverName(id) == (isLeft ? "old" : "new"), "arrives: \(arrives)")
      #expect(try await store.dirty().isEmpty != isLeft, "arrives: \(arrives)")
      #expect(try store.accountCount() == 1)
    }
  }

  /// An account sent by an external ID, whose first request gets no response.
  private func lostUpsert(
    _ store: ManagedStore, _ kind: SyncUpTarget.Kind, _ mode: MergeMode, arrives: Bool
  ) async throws -> SyncUpTarget {
    try await store.create([["Name": "device", "External_Id__c": "E1", "Description": "d"]])
    let target = SyncUpTarget(kind: kind, externalIdFieldName: "External_Id__c")
    store.org.server.faults.add(.writes, .drop(afterCommit: arrives))
    try await store.up(target, mode)
    #expect(try await store.dirty().count == 1)
    return target
  }

  /// Another user's account with the same external ID.
  private func officeAccount(_ store: ManagedStore) throws -> String {
    let office = try store.org.org.addUser(
      "office@example.com", lastName: "Office", profile: "Integration")
    return try store.org.make("Account", ["Name": "office", "External_Id__c": "E1"], as: office)
  }

  private func account(_ store: ManagedStore) throws -> String {
    try #require(
      try store.org.org.find(
        "Account", externalField: "External_Id__c", value: "E1", as: store.org.admin))
  }

  @Test(arguments: UpCase.kinds, [MergeMode.leaveIfChanged, .overwrite])
  func `a lost upsert is not sent over later changes of its record`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore(up)
    let target = try await lostUpsert(store, up.kind, mode, arrives: true)
    let id = try account(store)
    try store.org.update("Account", id, ["Name": "office"])
    let end = try await store.up(target, mode)
    #expect(end.report.records.map(\.outcome) == [.sent])
    #expect(end.report.warnings.contains { $0.contains("other values than were sent in Name") })
    #expect(try store.serverName(id) == "office")
    #expect(try await store.dirty().isEmpty)
    #expect(try await store.elements().first?["Id"]?.string == id)
    #expect(try await marks(store) == 0)
  }

  @Test(arguments: UpCase.kinds, [MergeMode.leaveIfChanged, .overwrite])
  func `a lost upsert is compared with another user's values under its external ID`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore(up)
    let target = try await lostUpsert(store, up.kind, mode, arrives: false)
    let id = try officeAccount(store)
    for _ in 0..<2 {
      let end = try await store.up(target, mode)
      #expect(end.state.status == .done)
      if mode == .leaveIfChanged {
        #expect(end.report.records.map(\.outcome) == [.left(.changedOnServer)])
      }
    }
    #expect(try store.accountCount() == 1)
    #expect(try store.serverName(id) == (mode == .overwrite ? "device" : "office"))
    #expect(try await store.dirty().count == (mode == .overwrite ? 0 : 1))
    // The skipped record is sent once the mode allows it.
    try await store.up(target, .overwrite)
    #expect(try store.serverName(id) == "device")
    #expect(try await marks(store) == 0)
  }

  @Test(arguments: UpCase.kinds)
  func `a lost upsert of an unchanged record is sent again`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let id = try officeAccount(store)
    try store.org.org.moveClock(by: 2000)
    let target = try await lostUpsert(store, up.kind, .leaveIfChanged, arrives: false)
    try await store.up(target, .leaveIfChanged)
    #expect(try store.serverName(id) == "device")
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: UpCase.kinds)
  func `an edit after the lost upsert is sent as an update`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let target = try await lostUpsert(store, up.kind, .overwrite, arrives: true)
    let local = try await store.elements().compactMap { $0["Id"]?.string }
    try await store.edit(local) { $0["Description"] = "again" }
    try await store.up(target)
    #expect(try store.serverDescription(try account(store)) == "again")
    #expect(try store.accountCount() == 1)
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: UpCase.kinds)
  func `a delete whose response was lost is found done`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.delete(ids)
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    #expect(try await store.up(up.kind).state.status == .failed)
    try await store.up(up.kind)
    #expect(try await store.elements().isEmpty)
    #expect(try store.accountCount() == 0)
  }
}
