import Dispatch
import MobileSync
import SmartStore
import Testing

/// Rows 1–3 and 6–8 of the conformance table (SyncManagerTest, SyncManagerTests).
@Suite struct SyncDownTests {
  // SDK: testGetSyncStatusForInvalidSyncId (1)
  @Test(arguments: Platform.allCases)
  func `an unknown id or name has no state`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    #expect(try await store.manager.syncStatus(id: -1) == nil)
    #expect(try await store.manager.syncStatus(named: "unknown") == nil)
  }

  // SDK: testSyncDown (2)
  @Test(arguments: Platform.allCases)
  func `a sync down fetches all and reports like the SDK`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 10, platform)
    let run = try await store.manager.syncDown(.soql(.accounts(ids)))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/10", "DONE 100/10"])
    #expect(try await store.column("Id") == ids.sorted())
    for element in try await store.elements() {
      #expect(element["__local__"] == false)
      #expect(element["__sync_id__"]?.int == run.syncID)
    }
    let report = try await run.finish()
    #expect(report.fetched == 10)
    #expect(report.written == 10)
  }

  // SDK: testSyncDownWithoutOverwrite (3), testSyncDownWithNoOverwrite (219)
  @Test(arguments: Platform.allCases)
  func `LEAVE_IF_CHANGED keeps local edits, OVERWRITE replaces them, both report it`(
    _ platform: Platform
  ) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 10, platform)
    try await store.down(ids)
    let edited = Array(ids[2...4])
    try await store.rename(edited)
    for id in ids { try store.org.update("Account", id, ["Name": "server"]) }

    let left = try await store.down(ids, .leaveIfChanged)
    #expect(left.skipped == ["accounts": edited])
    #expect(left.overwritten.isEmpty)
    #expect(left.fetched == 10)
    #expect(left.written == 7)
    #expect(try await store.dirty() == edited.sorted())
    #expect(try await store.element(edited[0])?["Name"]?.string == "local \(edited[0])")
    #expect(try await store.element(ids[0])?["Name"] == "server")

    let taken = try await store.down(ids, .overwrite)
    #expect(taken.overwritten == ["accounts": edited])
    #expect(taken.skipped.isEmpty)
    for element in try await store.elements() {
      #expect(element["Name"] == "server")
      for flag in ["__local__", "__locally_updated__", "__locally_deleted__"] {
        #expect(element[flag] == false)
      }
    }
  }

  // SDK: testReSync (6), testReSyncByName (7), testReSync (221)
  // SDK: testSyncDownGetSyncDeleteSyncById (223), testSyncDownGetSyncDeleteSyncByName (224)
  @Test(arguments: Platform.allCases, [false, true])
  func `a second run fetches changes, and a deletion leaves the elements, by id or by name`(
    _ platform: Platform, _ isByName: Bool
  ) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 10, platform)
    let manager = store.manager
    let sync = try await manager.createSyncDown(
      target: .soql(.accounts(ids)), soupName: ManagedStore.accounts, syncName: "down")
    func run() async throws -> SyncRun {
      isByName ? try await manager.reSync(named: "down") : try await manager.reSync(id: sync.id)
    }
    let first = try await run().lastState
    #expect(first.status == .done)
    #expect(first.maxTimeStamp > 0)
    for id in ids[3...5] { try store.org.update("Account", id, ["Name": "changed"]) }
    let second = try await run()
    #expect(await second.story == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"])
    #expect(await second.lastState.maxTimeStamp > first.maxTimeStamp)
    #expect(try await store.column("Name").filter { $0 == "changed" }.count == 3)
    #expect(try await manager.syncStatus(id: sync.id) == second.lastState)
    let third = try await run()
    #expect(await third.story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
    #expect(await third.lastState.maxTimeStamp == second.lastState.maxTimeStamp)
    if isByName {
      try await manager.deleteSync(named: "down")
    } else {
      try await manager.deleteSync(id: sync.id)
    }
    #expect(try await manager.syncStatus(id: sync.id) == nil)
    #expect(try await store.elements().count == 10)
  }

  // SDK: testReSyncByNameWithWrongName (8)
  @Test func `running an unknown sync fails with the SDK's message`() async throws {
    let store = try await ManagedStore()
    let error = await #expect(throws: SyncError.self) {
      _ = try await store.manager.reSync(named: "unknown")
    }
    #expect(error?.code == .unknownSync)
    #expect(error?.message == "Sync unknown does not exist")
    await #expect(throws: SyncError.self) { _ = try await store.manager.reSync(id: 7) }
  }

  @Test func `the overlap fetches records again, and keeps rows and edits`() async throws {
    let store = try await ManagedStore(settings: SyncSettings(overlapSeconds: 300))
    let ids = try store.org.makeAccounts(5)
    let manager = store.manager
    try await manager.syncDown(.soql(.accounts()), named: "down").finish()
    try await store.rename([ids[1], ids[2]])
    try store.org.update("Account", ids[2], ["Name": "server"])
    let report = try await manager.reSync(named: "down").finish()
    #expect(report.fetched == 5)
    #expect(report.written == 1)
    #expect(report.overwritten == ["accounts": [ids[2]]])
    #expect(try await store.dirty() == [ids[1]])
    #expect(try await manager.syncStatus(named: "down")?.maxTimeStamp ?? 0 > 0)
  }

  @Test func `an edit made while a sync runs is kept under LEAVE_IF_CHANGED`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 450)
    let manager = store.manager
    try await store.down(nil)
    for id in ids { try store.org.update("Account", id, ["Name": "server"]) }
    let held = DispatchSemaphore(value: 0)
    store.org.server.faults.add(.kind(.queryMore), nth: 2, .pause(afterBytes: 10) { held.wait() })
    let target = SoqlTarget(query: SoqlTarget.accounts().query, maxBatchSize: 200)
    let run = try await manager.syncDown(
      target: .soql(target), options: SyncOptions(mergeMode: .leaveIfChanged),
      soupName: ManagedStore.accounts)
    var states = run.makeAsyncIterator()
    while let state = await states.next(), state.progress < 88 {}
    // The last page is in transit.
    try await store.rename([ids[449]])
    held.signal()
    #expect(try await run.finish().skipped == ["accounts": [ids[449]]])
    #expect(try await store.element(ids[449])?["Name"]?.string == "local \(ids[449])")
  }

  @Test(arguments: Platform.allCases)
  func `a soup that the app cleared is refilled, and reported`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3, platform)
    let run = try await store.manager.syncDown(.soql(.accounts())).finished()
    #expect(try await store.manager.reSync(id: run.syncID).finish().warnings == [])
    try await store.manager.withStore { store in
      var rows: [Int64] = []
      try store.forEachElement(in: ManagedStore.accounts) { rows.append($0.soupEntryID) }
      try store.remove(rows, from: ManagedStore.accounts)
    }
    let report = try await store.manager.reSync(id: run.syncID).finish()
    #expect(report.warnings.count == 1)
    #expect(report.warnings.first?.contains("cleared") == true)
    #expect(try await store.column("Id") == ids.sorted())
    #expect(try await store.manager.reSync(id: run.syncID).finish().warnings == [])
  }

  @Test func `records without the sync's id field are an error with a fix`() async throws {
    let store = try await ManagedStore { store in
      try store.registerSoup(
        "coded",
        indexSpecs: ["AccountNumber", "__local__"].map { IndexSpec(path: $0, type: .string) })
    }
    try store.org.makeAccounts(2)
    let run = try await store.manager.syncDown(
      target: .soql(
        SoqlTarget(
          query: "SELECT Name FROM Account", fields: TargetFields(idFieldName: "AccountNumber"))),
      soupName: "coded")
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.code == .recordWithoutID)
    #expect(error?.description.contains("WHERE AccountNumber != null") == true)
  }
}
