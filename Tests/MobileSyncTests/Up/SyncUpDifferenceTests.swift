import JSON
import MobileSync
import Testing

/// Where sync ups are safer than the SDK's: one test for each row of docs/differences.md.
@Suite struct SyncUpDifferenceTests {
  @Test(arguments: UpCase.kinds)
  func `an error with fields concerns the reference, not the record`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let account = try store.org.make("Account", ["Name": "A"])
    let contact = try store.org.make("Contact", ["LastName": "L", "AccountId": .string(account)])
    _ = try await store.manager.syncDown(
      target: .soql(SoqlTarget(query: "SELECT Id, LastName, AccountId FROM Contact")),
      soupName: ManagedStore.contacts
    ).finish()
    try await store.edit([contact], of: ManagedStore.contacts) {
      $0["AccountId"] = "001000000000000AAA"
    }
    let end = try await store.up(
      SyncUpTarget(kind: up.kind), fields: ["LastName", "AccountId"], in: ManagedStore.contacts)
    #expect(end.report.outcomes[contact]?.isFailed == true)
    #expect(store.org.server.log.entries.allSatisfy { $0.soql?.contains("IsDeleted") != true })
    #expect(try store.org.org.query("SELECT Id FROM Contact", as: store.org.admin).totalSize == 1)
  }

  @Test(arguments: UpCase.kinds)
  func `a prior write of the sync is not a conflict the next time`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.createAccounts(["A"])
    for round in 0..<3 {
      let all = try await store.column("Id")
      try await store.edit(all) { $0["Description"] = .string("round \(round)") }
      let end = try await store.up(up.kind, .leaveIfChanged)
      #expect(end.report.records.map(\.outcome) == [.sent, .sent, .sent])
    }
    for id in ids { #expect(try store.serverDescription(id) == "round 2") }
  }

  @Test func `without fresh dates a prior write is a conflict, as in the SDK`() async throws {
    let settings = SyncSettings(overlapSeconds: 0, refreshesDates: false)
    let store = try await ManagedStore(.ios, settings: settings)
    let ids = try await store.syncedAccounts(1)
    try await store.editAccounts(ids)
    try await store.up(.collection, .leaveIfChanged)
    try await store.editAccounts(ids)
    let end = try await store.up(.collection, .leaveIfChanged)
    #expect(end.report.outcomes[ids[0]] == .left(.changedOnServer))
    #expect(store.org.requests(.retrieve) == 2)
  }

  /// The writer between our write and the reading of its date: the same user, or another user in
  /// another second or in that of the response.
  enum Writer: CaseIterable { case sender, other, otherAtOnce }

  @Test(arguments: UpCase.kinds)
  func `another user's later write is not treated as our own`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    for writer in Writer.allCases {
      let id = try await store.syncedAccounts(1)[0]
      try await store.editAccounts([id])
      store.org.server.faults.add(
        .kind(.retrieve),
        .mutate { org in
          let name = writer == .sender ? "admin@example.com" : "ada@example.com"
          guard let user = org.user(named: name) else { return }
          try org.share(id, with: name)
          if writer == .otherAtOnce { try org.setClockStep(0) }
          _ = org.update("Account", id: id, ["Name": "theirs"], as: user)
          // Another user's write is identified by its writer, even in the second of the response.
          if writer == .sender { _ = org.update("Account", id: id, ["Name": "theirs"], as: user) }
          try org.setClockStep(1000)
        })
      try await store.up(up.kind)
      #expect(try store.serverName(id) == "theirs")
      try await store.editAccounts([id])
      let end = try await store.up(up.kind, .leaveIfChanged)
      #expect(end.report.outcomes[id] == .left(.changedOnServer))
      #expect(try store.serverName(id) == "theirs")
      try await store.up(up.kind)
    }
  }

  @Test(arguments: UpCase.kinds)
  func `the date of an object without a last writer is read anyway`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(1)
    try await store.editAccounts(ids)
    store.org.server.faults.add(.kind(.retrieve), .status(400, code: "INVALID_FIELD"))
    #expect(try await store.up(up.kind).report.warnings.isEmpty)
    try await store.editAccounts(ids)
    #expect(try await store.up(up.kind, .leaveIfChanged).report.outcomes[ids[0]] == .sent)
  }

  @Test(arguments: UpCase.kinds)
  func `an unreadable date skips the record with that reason`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.edit(ids) { $0["Changed__c"] = "2024-01-01T00:00:00.000+0000" }
    let target = SyncUpTarget(
      kind: up.kind, fields: TargetFields(modificationDateFieldName: "Changed__c"))
    let end = try await store.up(withImplementation(target, up.kind), .leaveIfChanged)
    #expect(end.state.status == .done)
    #expect(try await store.dirty() == ids.sorted())
    #expect(end.report.records.map(\.outcome) == [.left(.serverUnknown), .left(.serverUnknown)])
    #expect(end.report.warnings.count == 1)
  }

  private func withImplementation(
    _ target: SyncUpTarget, _ kind: SyncUpTarget.Kind
  ) -> SyncUpTarget {
    var target = target
    target.fields.iOSImpl = SyncUpTarget(kind: kind).fields.iOSImpl
    return target
  }

  @Test(arguments: UpCase.all)
  func `several sObject types in one soup are sent together`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let accounts = try await store.syncedAccounts(2)
    let contacts = try (0..<2).map {
      try store.org.make("Contact", ["LastName": .string("c\($0)")])
    }
    _ = try await store.manager.syncDown(
      target: .soql(SoqlTarget(query: "SELECT Id, LastName, Description FROM Contact")),
      soupName: ManagedStore.accounts
    ).finish()
    try await store.edit(accounts + contacts) { $0["Description"] = "local" }
    try store.org.update("Contact", contacts[1], ["Description": "theirs"])
    let end = try await store.up(up.kind, .leaveIfChanged, fields: ["Description"])
    #expect(try await store.dirty() == [contacts[1]])
    #expect(end.report.outcomes[contacts[1]] == .left(.changedOnServer))
    for id in accounts { #expect(try store.serverDescription(id) == "local") }
    let there = try store.org.values("Contact", ["Description"], of: contacts[0])
    #expect(there?["Description"] == "local")
  }

  @Test(arguments: UpCase.kinds)
  func `upserts of several types are sent, each to its own`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let account = try store.org.make("Account", ["Name": "A"])
    let contact = try store.org.make("Contact", ["LastName": "L"])
    try await store.create([["Id": .string(account), "Description": "local"]])
    try await store.create([["Id": .string(contact), "Description": "local"]], type: "Contact")
    let end = try await store.up(
      SyncUpTarget(kind: up.kind, externalIdFieldName: "Id"), fields: ["Description"])
    #expect(end.report.records.map(\.outcome) == [.sent, .sent])
    #expect(try store.serverDescription(account) == "local")
  }

  @Test(arguments: UpCase.all)
  func `a local id proves that the org does not know the record`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let local = try await store.createAccounts(["A", "B"])
    try await store.edit(local) { $0["__locally_created__"] = false }
    try await store.edit([local[1]]) { $0["__locally_deleted__"] = true }
    let before = store.org.server.log.count
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(end.report.records.map(\.outcome).contains(.removed))
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 1)
    #expect(store.org.server.log.entries(after: before).filter(\.isWrite).count == 1)
    #expect(try await store.serverName(store.ids(named: ["A"])[0]) == "A")
  }

  @Test(arguments: UpCase.kinds)
  func `an update without an id is the record's error`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    try await store.manager.withStore { store in
      try store.upsert(
        [
          [
            "attributes": ["type": "Account"], "Name": "A", "__local__": true,
            "__locally_updated__": true,
          ]
        ], into: ManagedStore.accounts)
      return
    }
    let before = store.org.server.log.count
    #expect(try await store.up(up.kind).state.status == .done)
    #expect(store.org.server.log.entries(after: before).filter(\.isWrite).isEmpty)
    let element = try #require(try await store.elements().first)
    #expect(element["__last_error__"]?.string?.contains("MISSING_ARGUMENT") == true)
    #expect(element["__local__"] == true)
  }

  /// Another element of a record, as it is in the store but for a change.
  private func addTwin(
    of id: String, _ store: ManagedStore,
    _ change: @Sendable (inout JSONObject) -> Void = { _ in }
  ) async throws {
    try await store.manager.withStore { store in
      var twin = try #require(
        try store.elements(in: ManagedStore.accounts, where: "Id", is: id).first?.object)
      twin["_soupEntryId"] = nil
      change(&twin)
      _ = try store.upsert([.object(twin)], into: ManagedStore.accounts)
    }
  }

  @Test(arguments: UpCase.kinds)
  func `two elements of one record are sent one after the other`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(1)
    let id = ids[0]
    try await store.editAccounts(ids)
    try await addTwin(of: id, store) { $0["Name"] = "second" }
    let before = store.org.server.log.count
    try await store.up(up.kind, fields: ["Name"])
    #expect(try store.serverName(id) == "second")
    #expect(try await store.dirty().isEmpty)
    #expect(store.org.server.log.entries(after: before).filter(\.isWrite).count == 2)
  }

  @Test(arguments: UpCase.kinds, [false, true])
  func `LEAVE_IF_CHANGED does not overwrite what an earlier element of a record has sent`(
    _ up: UpCase, _ isOfShortID: Bool
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    // A third element sees the same state.
    for _ in 0..<2 {
      try await addTwin(of: ids[0], store) { twin in
        twin["Name"] = "second"
        if isOfShortID { twin["Id"] = .string(String(ids[0].prefix(15))) }
      }
    }
    try store.org.org.moveClock(by: 60_000)
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(
      end.report.records.map(\.outcome)
        == [.sent, .sent, .left(.changedOnServer), .left(.changedOnServer)])
    #expect(try store.serverName(ids[0]) == "local \(ids[0])")
    #expect(try await store.dirty().count == 2)
  }

  @Test func `two new elements with one external id are sent one after the other`() async throws {
    let store = try await ManagedStore()
    try await store.create([
      ["Name": "first", "External_Id__c": "E1"], ["Name": "other", "External_Id__c": "E2"],
      ["Name": "second", "External_Id__c": "E1"],
    ])
    let before = store.org.server.log.count
    try await store.up(SyncUpTarget(externalIdFieldName: "External_Id__c"), fields: ["Name"])
    #expect(store.org.server.log.entries(after: before).filter(\.isWrite).map(\.records) == [2, 1])
    #expect(try store.accountCount() == 2)
    let id = try #require(
      try store.org.org.find(
        "Account", externalField: "External_Id__c", value: "E1", as: store.org.admin))
    #expect(try store.serverName(id) == "second")
  }

  @Test func `only a record in the same request waits for the next one`() async throws {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    // Another element of the second record, and then one of the first.
    for id in ids.reversed() { try await addTwin(of: id, store) }
    let before = store.org.server.log.count
    try await store.up(.collection)
    #expect(store.org.server.log.entries(after: before).filter(\.isWrite).map(\.records) == [2, 2])
  }

  @Test func `rows are sent in numeric order`() async throws {
    let store = try await ManagedStore(.android)
    try await store.createAccounts((1...11).map { "A\($0)" })
    var target = SyncUpTarget(kind: .batch)
    target.maxBatchSize = 6
    let end = try await store.up(target)
    #expect(end.report.records.map(\.soupEntryID) == (1...11).map { Int64($0) })
    // An org assigns IDs in the order of the requests.
    let ids = try await store.ids(named: (1...11).map { "A\($0)" })
    #expect(ids == ids.sorted())
  }

  @Test(arguments: UpCase.kinds)
  func `a record not recreated stays an update with the org's message`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(1)
    try await store.edit(ids) { $0["Name"] = "" }
    try store.org.delete(ids[0])
    #expect(try await store.up(up.kind).state.status == .done)
    #expect(try await store.flags(ids[0]) == "lu")
    let error = try await store.element(ids[0])?["__last_error__"]?.string
    #expect(error?.contains("Required fields are missing: [Name]") == true)
    try await store.edit(ids) { $0["Name"] = "mended" }
    try await store.up(up.kind)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 1)
    #expect(try await store.elements().first?["__last_error__"] == nil)
  }

  @Test func `no field list fails the sync and names the key`() async throws {
    let store = try await ManagedStore(.ios)
    try await store.createAccounts(["A"])
    let end = try await store.up(SyncUpTarget(), fields: nil)
    #expect(end.state.status == .failed)
    #expect(end.state.error.contains("createFieldlist"))
  }

  @Test(arguments: UpCase.kinds)
  func `without a create list only the new rows fail`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let id = try await store.syncedAccounts(1)[0]
    let new = try await store.createAccounts(["A"])
    try await store.editAccounts([id])
    let target = SyncUpTarget(kind: up.kind, updateFieldlist: ["Description"])
    let end = try await store.up(target, fields: nil)
    #expect(end.state.status == .done)
    #expect(try end.report.outcomes[id] == .sent && store.serverDescription(id) == "local")
    #expect(try await store.dirty() == new)
    let error = try await store.element(new[0])?["__last_error__"]?.string
    #expect(error?.contains("createFieldlist") == true)
    #expect(try store.accountCount() == 1)
  }
}
