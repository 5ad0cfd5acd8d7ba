import LocalOrg
import MobileSync
import Testing

@Suite struct SyncUpFaultTests {
  @Test(arguments: UpCase.all)
  func `an edit made while a change is in transit remains to be sent`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    // An update: the new content is based on our prior write, so it does not conflict.
    let id = try await store.syncedAccounts(2)[0]
    try await store.editAccounts([id])
    let target = SyncUpTarget(kind: up.kind)
    let report = try await store.up(target, holding: .writes) {
      try await store.edit([id]) { $0["Name"] = "newer" }
    }.finish()
    #expect(report.outcomes[id] == .sent)
    #expect(try store.serverName(id) == "local \(id)")
    #expect(try await store.element(id)?["Name"] == "newer")
    #expect(try await store.dirty() == [id])
    #expect(try await store.up(up.kind, .leaveIfChanged).report.outcomes[id] == .sent)
    #expect(try store.serverName(id) == "newer")
    // A new record then becomes an update of the org's, or a deletion if the app has deleted it.
    let local = try await store.createAccounts(["A", "B"])
    try await store.up(target, holding: .writes) {
      try await store.edit([local[0]]) { $0["Name"] = "newest" }
    }.finish()
    let made = try await store.ids(named: ["newest"])[0]
    #expect(!LocalFields.isLocalID(made))
    #expect(try await store.flags(made) == "lu")
    #expect(try store.serverName(made) == "A")
    try await store.up(up.kind)
    #expect(try store.serverName(made) == "newest")
    #expect(try await store.dirty().isEmpty)
    let other = try await store.createAccounts(["C"])
    try await store.up(target, holding: .writes) { try await store.delete(other) }.finish()
    let gone = try #require(try await store.dirty().first)
    #expect(try await store.flags(gone) == "ld")
    try await store.up(up.kind)
    #expect(try await store.element(gone) == nil)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 4)
  }

  @Test func `each response is stored before the next request is sent`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    try await store.createAccounts(["A", "B"])
    // The creates are done; the updates fail with a server error.
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
  func `an expired session fails the run; the next sends the rest`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    try await store.createAccounts((0..<5).map { "A\($0)" })
    var target = SyncUpTarget(kind: up.kind)
    target.maxBatchSize = 2
    store.org.server.faults.add(.writes, nth: 2, .expireSession)
    #expect(try await store.up(target).state.status == .failed)
    #expect(try await store.dirty().count == (up.kind == .single ? 4 : 3))
    let manager = try await store.restarted()
    _ = try await manager.syncUp(
      target: .syncUp(target), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts
    ).finish()
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 5)
  }

  @Test func `a stop takes effect before the next request, and responses are kept`() async throws {
    let store = try await ManagedStore()
    try await store.createAccounts((0..<5).map { "A\($0)" })
    var target = SyncUpTarget(kind: .batch)
    target.maxBatchSize = 2
    let run = try await store.up(target, holding: .writes) { await store.manager.stop() }
    #expect(await run.lastState.status == .stopped)
    #expect(try await store.dirty().count == 3)
    #expect(store.org.server.log.writes.count == 1)
  }

  @Test(arguments: UpCase.kinds)
  func `a change between the check and the write is detected if the request supports it`(
    _ up: UpCase
  ) async throws {
    let store = try await ManagedStore(up)
    let admin = store.org.admin
    for isDeleted in [false, true] {
      let ids = try await store.syncedAccounts(2)
      try await store.editAccounts(ids)
      let id = ids[0]
      store.org.server.faults.add(
        .writes,
        .mutate { org in
          _ =
            isDeleted
            ? org.delete(nil, id: id, as: admin)
            : org.update("Account", id: id, ["Name": "theirs"], as: admin)
        })
      let end = try await store.up(up.kind, .leaveIfChanged)
      #expect(end.state.status == .done)
      #expect(end.report.outcomes[ids[1]] == .sent)
      // A collection has no conditions; for a deleted record, only the single target stores no
      // error.
      if up.kind == .collection, !isDeleted {
        #expect(end.report.outcomes[id] == .sent)
        continue
      }
      #expect(try await store.dirty() == [id])
      #expect(try await store.flags(id) == "lu")
      #expect(try store.serverName(id) == (isDeleted ? nil : "theirs"))
      let hasError = try await store.element(id)?["__last_error__"] != nil
      #expect(hasError == (isDeleted && up.kind != .single))
      if !hasError {
        #expect(end.report.outcomes[id] == .left(isDeleted ? .deletedOnServer : .changedOnServer))
      }
      try await store.up(up.kind)
    }
  }

  @Test(arguments: UpCase.kinds)
  func `the refusal of a request for one record belongs to the record`(_ up: UpCase) async throws {
    let store = try await ManagedStore(up)
    let id = try await store.createAccounts(["A"])[0]
    store.org.server.faults.add(
      .writes, .status(400, code: "JSON_PARSER_ERROR", afterCommit: false))
    let end = try await store.up(up.kind)
    #expect(end.state.status == .done)
    #expect(end.report.outcomes[id]?.failureCode == "JSON_PARSER_ERROR")
    #expect(
      try await store.element(id)?["__last_error__"]?.string?.contains("JSON_PARSER_ERROR") == true)
  }

  @Test func `a value that is not a record id is not queried, and blocks no other`() async throws {
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
  func `an org that cannot be asked for dates fails the run, and no edit is skipped`(
    _ target: SyncUpTarget
  ) async throws {
    let store = try await ManagedStore()
    let ids = try await store.syncedAccounts(2)
    try await store.editAccounts(ids)
    let kind: RequestKind = target.kind == .parentChildren ? .query : .retrieve
    for fault in [Faults.Action.drop(afterCommit: false), .limitExceeded] {
      store.org.server.faults.removeAll()
      store.org.server.faults.add(.kind(kind), times: 20, fault)
      let end = try await store.up(target, .leaveIfChanged)
      #expect(end.state.status == .failed)
      #expect(end.report.records.isEmpty)
      #expect(try await store.dirty() == ids.sorted())
    }
  }
}
