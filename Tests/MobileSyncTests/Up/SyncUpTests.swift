import JSON
import MobileSync
import Testing

/// Rows 117–136 of the conformance table: SyncUpTargetTest and its subclasses for the batch and the
/// collection target, SyncUpTargetTests and its subclasses.
@Suite struct SyncUpTests {
  // SDK: testSyncUpWithUpdateFieldList (117)
  // SDK: testSyncUpWithCreateFieldList (118)
  // SDK: testSyncUpWithCreateAndUpdateFieldList (119)
  @Test(arguments: UpCase.all)
  func `each operation of a run sends the fields of its list`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let all = ["Name", "Description"]
    for (create, update) in [(nil, ["Name"]), (["Name"], nil), (["Name"], ["Description"])] {
      let ids = try await store.syncedAccounts(2)
      try await store.editAccounts(ids)
      let made = try await store.createAccounts(["A", "B"])
      var target = SyncUpTarget(kind: up.kind)
      (target.createFieldlist, target.updateFieldlist) = (create, update)
      let sent = try await store.up(target, fields: all).report.records
      #expect(sent.map(\.outcome) == [.sent, .sent, .sent, .sent])
      #expect(try await store.dirty().isEmpty)
      for record in sent {
        let id = try #require(record.id)
        let element = try #require(try await store.element(id))
        #expect(!made.contains(id) && ids.contains(id) == (record.operation == .update))
        let list = (record.operation == .create ? create : update) ?? all
        for field in all {
          let old: JSONValue? =
            ids.firstIndex(of: id).map { field == "Name" ? .string("name \($0)") : "remote" }
          let there = try store.server("Account", field, of: id)
          #expect(
            (there ?? .null) == (list.contains(field) ? element[field] ?? .null : old ?? .null))
        }
        let given = ids.contains(id) ? "local" : "of \(element["Name"]?.string ?? "")"
        #expect(element["Description"]?.string == given)
      }
    }
  }

  // SDK: testSyncUpWithErrors (120)
  @Test(arguments: UpCase.all)
  func `refused records stay with their error, the rest is sent`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let long = String(repeating: "x", count: 256)
    try await store.createAccounts(["A", "B", "C", long, ""])
    let end = try await store.up(up.kind)
    #expect(end.state.status == .done)
    let bad = try await store.elements().filter { $0["__local__"] == true }
    #expect(bad.map { $0["Name"]?.string } == [long, ""])
    #expect(bad.allSatisfy { $0["__locally_created__"] == true })
    let errors = bad.map { $0["__last_error__"]?.string ?? "" }
    #expect(errors[0].contains("data value too large"))
    #expect(errors[1].contains("Required fields are missing: [Name]"))
    // Each kind of target has its own format.
    for error in try errors.map({ try JSONValue(parsing: $0) }) {
      switch up.kind {
      case .single: #expect(error[0]?["errorCode"]?.string != nil)
      case .batch: #expect(error["errorCode"]?.string != nil)
      default: #expect(error["statusCode"]?.string != nil)
      }
    }
    #expect(end.report.records.map(\.outcome.isFailed) == [false, false, false, true, true])
  }

  // SDK: testSyncUpWithNoType (121), testSyncUpWithBadType (122)
  @Test(arguments: UpCase.all)
  func `an sObject type that is missing or wrong is the record's error`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    for type in [nil, "badType"] {
      try await store.create([["Name": "A"], ["Name": "B"]], type: type)
      #expect(try await store.up(up.kind).state.status == .done)
      // An element without a type is not sent.
      #expect(store.org.server.log.writes.isEmpty == (type == nil))
    }
    let elements = try await store.elements()
    #expect(elements.count == 4)
    for element in elements {
      #expect(element["__locally_created__"] == true)
      let error = element["__last_error__"]?.string ?? ""
      #expect(
        element["attributes"] == nil
          ? error.contains("attributes.type of the element is not an sObject name")
          : error.contains("sObject type 'badType' is not supported")
            || error.contains("The requested resource does not exist"))
    }
  }

  // SDK: testSyncUpWithNoLocalUpdates (123)
  @Test(arguments: UpCase.all)
  func `a run without changes sends no request and reports all`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(4)
    let before = store.org.server.log.count
    for mode in MergeMode.allCases {
      #expect(
        try await store.up(up.kind, mode).story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
      let local = try await store.createAccounts(["A", "B"])
      try await store.edit(local) { $0["__locally_deleted__"] = true }
      let end = try await store.up(up.kind, mode)
      #expect(end.report.records.map(\.outcome) == [.removed, .removed])
    }
    #expect(try await store.column("Id") == ids.sorted())
    #expect(store.org.server.log.count == before)
    try await store.editAccounts(Array(ids[..<3]))
    #expect(
      try await store.up(up.kind).story == [
        "RUNNING 0/-1", "RUNNING 0/3", "RUNNING 33/3", "RUNNING 66/3", "DONE 100/3",
      ])
    for (index, id) in ids.enumerated() {
      #expect(try store.serverName(id) == (index < 3 ? "local \(id)" : "name 3"))
    }
  }

  // SDK: testSyncUpWithExternalId (135)
  @Test(arguments: UpCase.all)
  func `a create with an external id is an upsert`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let there = try (0..<3).map {
      try store.org.make("Account", ["Name": .string("old \($0)"), "Description": "remote"])
    }
    try await store.create(
      there.map { ["Id": .string($0), "Name": .string("new \($0)"), "Description": "local"] })
    try await store.createAccounts(["A"])
    let total = try store.accountCount()
    let end = try await store.up(
      SyncUpTarget(kind: up.kind, externalIdFieldName: "Id"), fields: ["Name"])
    #expect(end.state.status == .done)
    #expect(try await store.dirty().isEmpty)
    for id in there {
      #expect(try store.serverName(id) == "new \(id)")
      #expect(try store.serverDescription(id) == "remote")
    }
    #expect(try store.serverName(try await store.ids(named: ["A"])[0]) == "A")
    #expect(try store.accountCount() == total + 1)
  }

  // SDK: testSyncUpManyLocallyCreatedRecords (136)
  @Test(arguments: UpCase.kinds)
  func `many creates are sent in as few requests as the kind allows`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let most = [SyncUpTarget.Kind.single: 1, .batch: 25, .collection: 200][up.kind] ?? 0
    let count = 2 * most + 1
    try await store.createAccounts((0..<count).map { "A\($0)" })
    let before = store.org.server.log.count
    let end = try await store.up(up.kind)
    #expect(end.state.status == .done)
    #expect(end.story.count == count + 2)
    #expect(try await store.dirty().isEmpty)
    let requests = store.org.server.log.entries(after: before)
    #expect(requests.filter(\.isWrite).compactMap { $0.records ?? 1 } == [most, most, 1])
    // The dates of 2,000 records are read at once.
    #expect(requests.filter { $0.kind == .retrieve }.count == 1)
    #expect(
      requests.allSatisfy { $0.isWrite || [.retrieve, .userinfo, .versions].contains($0.kind) })
    #expect(try store.accountCount() == count)
  }

  @Test func `a sync up that finds records by an external id fails before sending`() async throws {
    let store = try await ManagedStore()
    try await store.createAccounts(["A"])
    let target = SyncUpTarget(fields: TargetFields(idFieldName: "AccountNumber"))
    let run = try await store.manager.syncUp(
      target: .syncUp(target), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts)
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.code == .definition)
    #expect(error?.description.contains("AccountNumber") == true)
    #expect(store.org.server.log.writes.isEmpty)
  }

  @Test func `a collection deletes an element without a type by its Id`() async throws {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(1)
    try await store.delete(ids)
    try await store.edit(ids) { $0["attributes"] = nil }
    #expect(try await store.up(.collection).state.status == .done)
    #expect(try await store.elements().isEmpty)
    #expect(try store.accountCount() == 0)
  }

  @Test func `a target with another id field than Id is an error, also in a family`() {
    #expect(SyncUpTarget().idProblem == nil)
    #expect(
      SyncUpTarget(fields: TargetFields(idFieldName: "Code__c")).idProblem?.field == "Code__c")
    var family = SyncUpTarget(kind: .parentChildren)
    family.family = ParentChildrenFamily.accounts(.lookup)
    #expect(family.idProblem == nil)
    family.family?.children.idFieldName = "Code__c"
    #expect(family.idProblem?.field == "Code__c")
  }
}
