import MobileSync
import SmartStore
import Testing

/// Rows 10, 11 and 14 of the conformance table (SyncManagerTest, SyncManagerTests).
@Suite struct GhostCleaningTests {
  // SDK: testCleanResyncGhostsForSOQLTarget (10), testSyncCleanGhostsReSync (14)
  // SDK: testCleanResyncGhosts (222)
  @Test(arguments: Platform.allCases)
  func `a record deleted in the org leaves the soup`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3, platform)
    let manager = store.manager
    let run = try await manager.syncDown(.soql(.accounts(ids)), named: "down")
    let state = await run.lastState
    try store.org.delete(ids[0])
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column("Id") == ids[1...].sorted())
    #expect(try await manager.syncStatus(id: run.syncID) == state)
    #expect(try await manager.cleanResyncGhosts(named: "down") == SyncGhosts())
    #expect(await (try manager.reSync(id: run.syncID)).lastState.status == .done)
  }

  // SDK: testCleanResyncGhostsWithMultipleSyncs (11)
  @Test(arguments: Platform.allCases)
  func `cleaning one sync keeps the records of another`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 6, platform)
    let manager = store.manager
    let one = try await manager.syncDown(.soql(.accounts(Array(ids[0...2])))).finished()
    let two = try await manager.syncDown(.soql(.accounts(Array(ids[2...5])))).finished()
    #expect(try await store.element(ids[2])?["__sync_id__"]?.int == two.syncID)
    for index in [0, 2, 5] { try store.org.delete(ids[index]) }
    #expect(try await manager.cleanResyncGhosts(id: one.syncID).count == 1)
    #expect(try await store.column("Id") == ids[1...].sorted())
    #expect(try await manager.cleanResyncGhosts(id: two.syncID).removed == ["accounts": 2])
    #expect(try await store.column("Id") == [ids[1], ids[3], ids[4]].sorted())
  }

  @Test(arguments: [false, true])
  func `a record of no sync is a ghost of its soup's only sync`(_ hasOther: Bool) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 2)
    let manager = store.manager
    let run = try await manager.syncDown(.soql(.accounts([ids[1]]))).finished()
    if hasOther {
      _ = try await manager.createSyncDown(
        target: .soql(.accounts([ids[0]])), soupName: ManagedStore.accounts)
    }
    try await manager.withStore { store in
      _ = try store.upsert(
        [
          [
            "Id": .string(ids[0]), "Name": "Made here", "attributes": ["type": "Account"],
            "__local__": false, "__locally_created__": false, "__locally_updated__": false,
            "__locally_deleted__": false,
          ]
        ], into: ManagedStore.accounts)
    }
    try store.org.delete(ids[0])
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == (hasOther ? 0 : 1))
    #expect(try await store.elements().count == (hasOther ? 2 : 1))
  }

  /// The targets that check the IDs of the soup in the org, and select the candidates themselves.
  @Test(arguments: [DownKind.mru, .refresh, .custom], [false, true])
  func `a record that no sync fetched is a ghost for every such target`(
    _ kind: DownKind, _ hasOther: Bool
  ) async throws {
    let store = try await ManagedStore(customTargets: AcmeTarget.targets)
    let ids = try store.org.makeAccounts(2, name: "Acme")
    if kind == .refresh { try await RefreshDownTests.put([ids[1]], into: store) }
    try store.org.delete(ids[0])
    let run = try await store.manager.syncDown(kind.target()).finished()
    if hasOther {
      _ = try await store.manager.createSyncDown(
        target: .soql(.accounts([ids[0]])), soupName: ManagedStore.accounts)
    }
    try await RefreshDownTests.put([ids[0]], into: store)
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == (hasOther ? 0 : 1))
    #expect(try await store.column("Id") == (hasOther ? ids.sorted() : [ids[1]]))
  }

  @Test func `a clean element with a local id is not a ghost: no org can know it`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 1)
    let manager = store.manager
    let run = try await manager.syncDown(.soql(.accounts(ids))).finished()
    try await manager.withStore { store in
      _ = try store.upsert(
        [["Id": "local_1", "Name": "Made here", "__local__": false]], into: ManagedStore.accounts)
    }
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == 0)
    #expect(try await store.elements().count == 2)
  }

  @Test func `a sync up has no ghosts, with the SDK's message`() async throws {
    let store = try await ManagedStore()
    let state = try await store.manager.createSyncUp(
      options: SyncOptions(fieldlist: ["Name"]), soupName: ManagedStore.accounts)
    let error = await #expect(throws: SyncError.self) {
      try await store.manager.cleanResyncGhosts(id: state.id)
    }
    #expect(error?.message == "Cannot run cleanResyncGhosts:\(state.id): wrong type:syncUp")
    let unknown = await #expect(throws: SyncError.self) {
      try await store.manager.cleanResyncGhosts(named: "nobody")
    }
    #expect(unknown?.code == .unknownSync)
    await store.manager.stop()
    await #expect(throws: SyncError.self) {
      try await store.manager.cleanResyncGhosts(id: state.id)
    }
  }

  @Test func `a dirty record is not a ghost, and an empty soup sends no request`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3)
    let manager = store.manager
    let sync = try await manager.createSyncDown(
      target: .soql(.accounts(ids)), soupName: ManagedStore.accounts)
    #expect(try await manager.cleanResyncGhosts(id: sync.id) == SyncGhosts())
    #expect(store.org.requests(.query) == 0)
    try await manager.reSync(id: sync.id).finish()
    try await store.rename([ids[0]])
    for id in ids[0...1] { try store.org.delete(id) }
    #expect(try await manager.cleanResyncGhosts(id: sync.id).count == 1)
    #expect(try await store.column("Id") == [ids[0], ids[2]].sorted())
  }

  @Test func `more ghosts than the guard allows are kept until allowed`() async throws {
    let store = try await ManagedStore(
      settings: SyncSettings(overlapSeconds: 0, maxDeletesPercent: 10, minimumDeletes: 2))
    let ids = try store.org.makeAccounts(20)
    let manager = store.manager
    try await manager.syncDown(.soql(.accounts()), named: "down").finish()
    for id in ids[0...2] { try store.org.delete(id) }
    let error = await #expect(throws: SyncError.self) {
      try await manager.cleanResyncGhosts(named: "down")
    }
    #expect(error?.code == .tooManyDeletes)
    #expect(error?.syncName == "down")
    #expect(try await store.elements().count == 20)
    #expect(try await manager.cleanResyncGhosts(named: "down", allowsAllDeletes: true).count == 3)
    #expect(try await store.elements().count == 17)
  }

  @Test func `if a LIMIT cuts the list, the soup's records are requested by id`() async throws {
    let (store, _) = try await ManagedStore.with(accounts: 5)
    let run = try await store.manager.syncDown(
      .soql(SoqlTarget(query: "SELECT Id, Name FROM Account ORDER BY Name LIMIT 3"))
    ).finished()
    let held = try await store.column("Id")
    try store.org.delete(held[0])
    // It matches, and is not in the list.
    try store.org.update("Account", held[1], ["Name": "Z"])
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == 1)
    #expect(ghosts.warnings == [])
    #expect(try await store.column("Id") == Array(held.dropFirst()))
  }

  @Test func `a custom target that does not know deleted records cleans nothing`() async throws {
    let target = GatedTarget(3)
    let store = try await ManagedStore(customTargets: target.targets())
    let run = try await store.manager.syncDown(GatedTarget.target()).finished()
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 0)
    #expect(try await store.elements().count == 3)
  }
}
