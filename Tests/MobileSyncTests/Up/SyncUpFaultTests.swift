import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

/// What happens on the way of a sync up, and beside it.
@Suite struct SyncUpFaultTests {
  @Test(arguments: UpCase.all)
  func `what the app edits while a change is on its way stays, and stays to be sent`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    let local = try await store.createAccounts(["A", "B"])
    let gate = RequestGate()
    // The first request carries what is edited: all of it, or the first record.
    let match: FaultMatch = up.kind == .collection ? .kind(.collectionUpdate) : .writes
    gate.close(store.org, match)
    let run = try await store.manager.syncUp(
      target: .syncUp(SyncUpTarget(kind: up.kind)),
      options: SyncOptions(fieldlist: ["Name", "Description"]), soupName: ManagedStore.accounts)
    await gate.reached()
    try await store.edit([ids[0]]) { $0["Name"] = "newer" }
    gate.open()
    let report = try await run.finish()
    #expect(report.outcomes[ids[0]] == .sent)
    #expect(try store.serverName(ids[0]) == "local \(ids[0])")
    #expect(try await store.element(ids[0])?["Name"] == "newer")
    #expect(try await store.dirty() == [ids[0]])
    _ = local
    // The new content stands on our own write, which is no conflict.
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(end.report.outcomes[ids[0]] == .sent)
    #expect(try store.serverName(ids[0]) == "newer")
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: UpCase.all)
  func `a new record that is edited while it is on its way becomes an update of the org's record`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let local = try await store.createAccounts(["A", "B"])
    let gate = RequestGate()
    gate.close(store.org, .writes)
    let run = try await store.manager.syncUp(
      target: .syncUp(SyncUpTarget(kind: up.kind)), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts)
    await gate.reached()
    try await store.edit([local[0]]) { $0["Name"] = "newer" }
    gate.open()
    try await run.finish()
    let id = try await store.ids(named: ["newer"])[0]
    #expect(!LocalFields.isLocalID(id))
    #expect(try await store.flags(id) == "lu")
    #expect(try store.serverName(id) == "A")
    try await store.up(up.kind)
    #expect(try store.serverName(id) == "newer")
    #expect(try store.accountCount() == 2)
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: UpCase.all)
  func `a new record that is deleted while it is on its way is deleted in the org the next time`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let local = try await store.createAccounts(["A"])
    let gate = RequestGate()
    gate.close(store.org, .writes)
    let run = try await store.manager.syncUp(
      target: .syncUp(SyncUpTarget(kind: up.kind)), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts)
    await gate.reached()
    try await store.edit(local) {
      $0["__locally_updated__"] = false
      $0["__locally_deleted__"] = true
    }
    gate.open()
    try await run.finish()
    let id = try #require(try await store.dirty().first)
    #expect(try await store.flags(id) == "ld")
    try await store.up(up.kind)
    #expect(try await store.elements().isEmpty)
    #expect(try store.accountCount() == 0)
  }

  @Test func `each answer is in the store before the next request is made`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    try await store.createAccounts(["A", "B"])
    // The creates are done; the updates get no further than a server in trouble.
    store.org.server.faults.add(.kind(.collectionUpdate), .status(503, code: "SERVER_UNAVAILABLE"))
    let end = try await store.up(.collection)
    #expect(end.state.status == .failed)
    #expect(end.state.error.contains("503"))
    #expect(try await store.dirty() == ids.sorted())
    let before = store.org.server.log.count
    try await store.up(.collection)
    #expect(
      store.org.server.log.entries(after: before).filter(\.isWrite).map(\.kind)
        == [.collectionUpdate])
    #expect(try store.accountCount() == 4)
  }

  @Test(arguments: UpCase.kinds)
  func `a batch with a deleted record makes no new record twice`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    try await store.createAccounts(["A", "B"])
    try store.org.delete(ids[0])
    let end = try await store.up(up.kind)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 4)
    #expect(end.report.records.count { $0.outcome == .recreated } == 1)
    #expect(end.report.records.count { $0.outcome == .sent } == 3)
  }

  @Test(arguments: UpCase.kinds)
  func `an expired session fails the run, and the next one sends what is left`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    try await store.createAccounts((0..<60).map { "A\($0)" })
    var target = SyncUpTarget(kind: up.kind)
    if up.kind == .collection { target.maxBatchSize = 30 }
    store.org.server.faults.add(.writes, nth: 2, .expireSession)
    let end = try await store.up(target)
    #expect(end.state.status == .failed)
    let sent = 60 - (try await store.dirty().count)
    #expect(sent == [.single: 1, .batch: 25, .collection: 30][up.kind])
    let manager = try await store.restarted()
    _ = try await manager.syncUp(
      target: .syncUp(target), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts
    ).finish()
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 60)
  }

  @Test func `a stop is heeded before the next request, and what was answered is kept`()
    async throws
  {
    let store = try await ManagedStore()
    try await store.createAccounts((0..<60).map { "A\($0)" })
    let gate = RequestGate()
    gate.close(store.org, .writes)
    let run = try await store.manager.syncUp(
      target: .syncUp(SyncUpTarget(kind: .batch)), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts)
    await gate.reached()
    await store.manager.stop()
    gate.open()
    #expect(await run.lastState.status == .stopped)
    #expect(try await store.dirty().count == 35)
    #expect(store.org.server.log.writes.count == 1)
  }

  @Test(arguments: UpCase.kinds)
  func `a change between the check and the write is seen where the request can say so`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    let id = ids[0]
    store.org.server.faults.add(
      .writes,
      .mutate { org in
        guard let admin = org.user(named: "admin@example.com") else { return }
        _ = org.update("Account", id: id, ["Name": "theirs"], as: admin)
      })
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(end.report.outcomes[ids[1]] == .sent)
    if up.kind == .collection {
      // A collection has no conditions.
      #expect(end.report.outcomes[id] == .sent)
    } else {
      #expect(end.report.outcomes[id] == .left(.changedOnServer))
      #expect(try store.serverName(id) == "theirs")
      #expect(try await store.dirty() == [id])
    }
  }

  @Test(arguments: UpCase.kinds)
  func `a record that is deleted between the check and the write is left with the org's words`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let ids = try await store.syncedAccounts(1)
    try await store.editAccounts(ids)
    let id = ids[0]
    store.org.server.faults.add(
      .writes,
      .mutate { org in
        guard let admin = org.user(named: "admin@example.com") else { return }
        _ = org.delete(nil, id: id, as: admin)
      })
    let end = try await store.up(up.kind, .leaveIfChanged)
    #expect(end.state.status == .done)
    #expect(try await store.flags(id) == "lu")
    #expect(try store.accountCount() == 0)
    let error = try await store.element(id)?["__last_error__"]?.string
    if up.kind == .single {
      #expect(end.report.outcomes[id] == .left(.deletedOnServer))
      #expect(error == nil)
    } else {
      #expect(error != nil)
    }
  }

  @Test(arguments: UpCase.kinds)
  func `the refusal of a request for one record is the record's own`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let id = try await store.createAccounts(["A"])[0]
    store.org.server.faults.add(
      .writes, .status(400, code: "JSON_PARSER_ERROR", afterCommit: false))
    let end = try await store.up(up.kind)
    #expect(end.state.status == .done)
    guard case .failed(code: "JSON_PARSER_ERROR", message: _)? = end.report.outcomes[id] else {
      Issue.record("\(end.report.records)")
      return
    }
    #expect(
      try await store.element(id)?["__last_error__"]?.string?.contains("JSON_PARSER_ERROR") == true)
  }

  @Test func `what is no record id is not asked for, and keeps no other from being sent`()
    async throws
  {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    try await store.edit([ids[0]]) { $0["Id"] = "mine" }
    let report = try await store.up(.collection, .leaveIfChanged).report
    #expect(report.outcomes == ["mine": .left(.serverUnknown), ids[1]: .sent])
    let asked = store.org.requests(.retrieve)
    try await store.up(.collection, .leaveIfChanged)
    #expect(store.org.requests(.retrieve) == asked)
  }

  @Test(arguments: [SyncUpTarget(kind: .collection), SyncUpTarget(kind: .batch), .accounts()])
  func `an org that cannot be asked for dates fails the run, and no edit is passed over`(
    _ target: SyncUpTarget
  ) async throws {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    let kind: RequestKind = target.kind == .parentChildren ? .query : .retrieve
    store.org.server.faults.add(.kind(kind), times: 20, .drop(afterCommit: false))
    let end = try await store.up(target, .leaveIfChanged)
    #expect(end.state.status == .failed)
    #expect(end.report.records.isEmpty)
    #expect(try await store.dirty() == ids.sorted())
  }

  @Test func `an org that takes no more questions fails the run, and leaves every edit`()
    async throws
  {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    store.org.server.faults.add(.kind(.retrieve), times: 20, .limitExceeded)
    let end = try await store.up(SyncUpTarget(), .leaveIfChanged)
    #expect(end.state.status == .failed)
    #expect(end.report.records.isEmpty)
    #expect(try await store.dirty() == ids.sorted())
  }
}
