import JSON
import LocalOrg
import MobileSync
import SmartStore
import System
import Testing

/// Rows 117–136 of the conformance table: SyncUpTargetTest and its subclasses for the batch and the
/// collection target, SyncUpTargetTests and its subclasses.
@Suite struct SyncUpTests {
  // SDK: testSyncUpWithUpdateFieldList (117)
  @Test(arguments: UpCase.all)
  func `an update sends the fields of its own list`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    try await store.editAccounts(ids)
    var target = SyncUpTarget(kind: up.kind)
    target.updateFieldlist = ["Name"]
    #expect(try await store.up(target).state.status == .done)
    for id in ids {
      #expect(try store.serverName(id) == "local \(id)")
      #expect(try store.serverDescription(id) == "remote")
      #expect(try await store.flags(id)?.isEmpty == true)
      #expect(try await store.element(id)?["Description"] == "local")
    }
  }

  // SDK: testSyncUpWithCreateFieldList (118)
  @Test(arguments: UpCase.all)
  func `a create sends the fields of its own list`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    try await store.createAccounts(["A", "B", "C"])
    var target = SyncUpTarget(kind: up.kind)
    target.createFieldlist = ["Name"]
    try await store.up(target)
    #expect(try await store.dirty().isEmpty)
    for (name, id) in zip(["A", "B", "C"], try await store.ids(named: ["A", "B", "C"])) {
      #expect(try store.serverName(id) == name)
      #expect(try store.serverDescription(id) == nil)
      #expect(try await store.element(id)?["Description"]?.string == "of \(name)")
    }
  }

  // SDK: testSyncUpWithCreateAndUpdateFieldList (119)
  @Test(arguments: UpCase.all)
  func `each operation of a run sends the fields of its own list`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    try await store.editAccounts(ids)
    try await store.createAccounts(["A", "B"])
    var target = SyncUpTarget(kind: up.kind)
    target.createFieldlist = ["Name"]
    target.updateFieldlist = ["Description"]
    try await store.up(target)
    #expect(try await store.dirty().isEmpty)
    for (index, id) in ids.enumerated() {
      #expect(try store.serverName(id) == "name \(index)")
      #expect(try store.serverDescription(id) == "local")
    }
    for id in try await store.ids(named: ["A", "B"]) {
      #expect(try store.serverName(id) != nil)
      #expect(try store.serverDescription(id) == nil)
    }
  }

  // SDK: testSyncUpWithErrors (120)
  @Test(arguments: UpCase.all)
  func `what the org refuses stays with its error, the rest is sent`(_ up: UpCase) async throws {
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
    // Each kind of target has a shape of its own.
    for error in try errors.map({ try JSONValue(parsing: $0) }) {
      switch up.kind {
      case .single: #expect(error[0]?["errorCode"]?.string != nil)
      case .batch: #expect(error["errorCode"]?.string != nil)
      default: #expect(error["statusCode"]?.string != nil)
      }
    }
    #expect(
      end.report.records.map { r in if case .failed = r.outcome { true } else { false } }
        == [false, false, false, true, true])
  }

  // SDK: testSyncUpWithNoType (121), testSyncUpWithBadType (122)
  @Test(arguments: UpCase.all, [nil, "badType"])
  func `an sObject type that is missing or wrong is the record's error`(
    _ up: UpCase, _ type: String?
  ) async throws {
    let store = try await ManagedStore(up)
    try await store.create([["Name": "A"], ["Name": "B"]], type: type)
    #expect(try await store.up(up.kind).state.status == .done)
    for element in try await store.elements() {
      #expect(element["__locally_created__"] == true)
      let error = element["__last_error__"]?.string ?? ""
      #expect(
        type == nil
          ? error.contains("attributes.type of the element is no name of an sObject")
          : error.contains("sObject type 'badType' is not supported")
            || error.contains("The requested resource does not exist"))
    }
    // What does not say what it is does not leave.
    #expect(store.org.server.log.writes.isEmpty == (type == nil))
  }

  // SDK: testSyncUpWithNoLocalUpdates (123)
  @Test(arguments: UpCase.all)
  func `without local changes nothing is asked`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    let before = store.org.server.log.count
    let end = try await store.up(up.kind)
    #expect(end.story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
    #expect(store.org.server.log.count == before)
    for (index, id) in ids.enumerated() {
      #expect(try store.serverName(id) == "name \(index)")
    }
  }

  // SDK: testSyncUpWithLocallyUpdatedRecords (124)
  @Test(arguments: UpCase.all)
  func `local updates go up`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(5)
    try await store.editAccounts(Array(ids[..<3]))
    let end = try await store.up(up.kind)
    #expect(
      end.story == [
        "RUNNING 0/-1", "RUNNING 0/3", "RUNNING 33/3", "RUNNING 66/3", "DONE 100/3",
      ])
    #expect(try await store.dirty().isEmpty)
    for id in ids[..<3] {
      #expect(try store.serverName(id) == "local \(id)")
      #expect(end.report.outcomes[id] == .sent)
    }
    #expect(try store.serverName(ids[3]) == "name 3")
  }

  // SDK: testSyncUpWithLocallyUpdatedRemotelyUpdatedRecordsWithoutOverwrite (125)
  @Test(arguments: UpCase.all)
  func `under LEAVE_IF_CHANGED an update of a changed record stays, and says so`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(4)
    try await store.editAccounts(ids)
    for id in ids[..<3] { try store.org.update("Account", id, ["Name": "theirs"]) }
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(end.state.status == .done)
    for id in ids[..<3] {
      #expect(try store.serverName(id) == "theirs")
      #expect(try await store.flags(id) == "lu")
      #expect(end.report.outcomes[id] == .left(.changedOnServer))
    }
    #expect(try store.serverName(ids[3]) == "local \(ids[3])")
    try await store.up(up.kind, .overwrite)
    #expect(try await store.dirty().isEmpty)
    for id in ids { #expect(try store.serverName(id) == "local \(id)") }
  }

  // SDK: testSyncUpWithLocallyCreatedRecords (126)
  // SDK: testSyncUpWithLocallyCreatedRecordsWithoutOverwrite (127)
  @Test(arguments: UpCase.all, MergeMode.allCases)
  func `local creates go up and get the org's ids`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore(up)
    let local = try await store.createAccounts(["A", "B", "C"])
    let end = try await store.up(up.kind, mode)
    #expect(try await store.dirty().isEmpty)
    let ids = try await store.ids(named: ["A", "B", "C"])
    #expect(Set(ids).isDisjoint(with: local))
    for (name, id) in zip(["A", "B", "C"], ids) {
      #expect(try store.serverName(id) == name)
      #expect(end.report.outcomes[id] == .sent)
      #expect(try await store.element(id)?["__last_error__"] == nil)
    }
  }

  // SDK: testSyncUpWithLocallyDeletedRecords (128)
  @Test(arguments: UpCase.all)
  func `local deletes go up`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(5)
    try await store.delete(Array(ids[..<3]))
    let end = try await store.up(up.kind)
    #expect(try await store.column("Id") == ids[3...].sorted())
    for id in ids[..<3] {
      #expect(try store.serverName(id) == nil)
      #expect(end.report.outcomes[id] == .sent)
    }
    #expect(try store.serverName(ids[3]) != nil)
  }

  // SDK: testSyncUpWithLocallyCreatedAndDeletedRecords (129)
  @Test(arguments: UpCase.all, MergeMode.allCases)
  func `what was made and deleted on the device is dropped without a request`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore(up)
    let local = try await store.createAccounts(["A", "B"])
    try await store.edit(local) { $0["__locally_deleted__"] = true }
    let before = store.org.server.log.count
    let end = try await store.up(up.kind, mode)
    #expect(end.state.status == .done)
    #expect(try await store.elements().isEmpty)
    #expect(store.org.server.log.count == before)
    #expect(end.report.records.map(\.outcome) == [.removed, .removed])
  }

  // SDK: testSyncUpWithLocallyDeletedRemotelyUpdatedRecordsWithoutOverwrite (130)
  @Test(arguments: UpCase.all)
  func `under LEAVE_IF_CHANGED a delete of a changed record stays, and says so`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    try await store.delete(ids)
    for id in ids { try store.org.update("Account", id, ["Name": "theirs"]) }
    let end = try await store.up(up.kind, .leaveIfChanged)
    for id in ids {
      #expect(try store.serverName(id) == "theirs")
      #expect(try await store.flags(id) == "ld")
      #expect(end.report.outcomes[id] == .left(.changedOnServer))
    }
    try await store.up(up.kind, .overwrite)
    #expect(try await store.elements().isEmpty)
    for id in ids { #expect(try store.serverName(id) == nil) }
  }

  // SDK: testSyncUpWithLocallyDeletedRemotelyDeletedRecords (131)
  // SDK: testSyncUpWithLocallyDeletedRemotelyDeletedRecordsWithoutOverwrite (132)
  @Test(arguments: UpCase.all, MergeMode.allCases)
  func `what was deleted on both sides leaves the store`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    try await store.delete(ids)
    try store.org.delete(ids[1])
    let end = try await store.up(up.kind, mode)
    #expect(end.state.status == .done)
    #expect(try await store.elements().isEmpty)
    for id in ids { #expect(try store.serverName(id) == nil) }
    #expect(end.report.outcomes[ids[1]] == .removed)
    #expect(end.report.outcomes[ids[0]] == .sent)
  }

  // SDK: testSyncUpWithLocallyUpdatedRemotelyDeletedRecords (133)
  @Test(arguments: UpCase.all)
  func `under OVERWRITE an update of a deleted record makes it anew`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    try await store.editAccounts(ids)
    try store.org.delete(ids[1])
    let end = try await store.up(up.kind)
    #expect(try await store.dirty().isEmpty)
    #expect(try await store.element(ids[1]) == nil)
    let new = try await store.ids(named: ["local \(ids[1])"])[0]
    #expect(new != ids[1])
    #expect(end.report.outcomes[new] == .recreated)
    for id in [ids[0], ids[2], new] {
      let element = try #require(try await store.element(id))
      #expect(try store.serverName(id) == element["Name"]?.string)
      #expect(try store.serverDescription(id) == "local")
    }
  }

  // SDK: testSyncUpWithLocallyUpdatedRemotelyDeletedRecordsWithoutOverwrite (134)
  @Test(arguments: UpCase.all)
  func `under LEAVE_IF_CHANGED an update of a deleted record stays, and says so`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(3)
    try await store.editAccounts(ids)
    try store.org.delete(ids[1])
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(try await store.dirty() == [ids[1]])
    #expect(try await store.flags(ids[1]) == "lu")
    #expect(try store.serverName(ids[1]) == nil)
    #expect(end.report.outcomes[ids[1]] == .left(.deletedOnServer))
    for id in [ids[0], ids[2]] { #expect(try store.serverName(id) == "local \(id)") }
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
  func `500 creates go up in as few requests as the kind allows`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    try await store.createAccounts((0..<500).map { "A\($0)" })
    let before = store.org.server.log.count
    let end = try await store.up(up.kind)
    #expect(end.state.status == .done)
    #expect(end.story.count == 502)
    #expect(try await store.dirty().isEmpty)
    let requests = store.org.server.log.entries(after: before)
    let writes = [SyncUpTarget.Kind.single: 500, .batch: 20, .collection: 3][up.kind]
    #expect(requests.filter(\.isWrite).count == writes)
    // The dates of 2,000 records are read at once.
    #expect(requests.filter { $0.kind == .retrieve }.count == 1)
    #expect(
      requests.allSatisfy { $0.isWrite || [.retrieve, .userinfo, .versions].contains($0.kind) })
    #expect(try store.accountCount() == 500)
  }

  @Test func `a sync up that knows its records by an external id fails before anything leaves`()
    async throws
  {
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

  @Test func `a collection deletes what does not say what it is by its Id`() async throws {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(1)
    try await store.delete(ids)
    try await store.edit(ids) { $0["attributes"] = nil }
    #expect(try await store.up(.collection).state.status == .done)
    #expect(try await store.elements().isEmpty)
    #expect(try store.accountCount() == 0)
  }

  @Test func `a target that goes by another field than the Id says so, that of a family too`() {
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
