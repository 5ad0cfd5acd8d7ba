import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

/// Rows 79–82 of the conformance table (RefreshSyncDownTargetTest, SyncManagerTests), and what the
/// SDK's code gets wrong.
@Suite struct RefreshDownTests {
  static func target(
    perQuery: Int = 500, fields: [String] = ["Id", "Name", "Description", "LastModifiedDate"]
  ) -> SyncTarget {
    .refresh(
      RefreshTarget(
        sobjectType: "Account", fieldlist: fields, soupName: ManagedStore.accounts,
        countIdsPerSoql: perQuery))
  }

  /// A store whose soup has accounts by nothing but their ids.
  static func store(_ platform: Platform = .ios, count: Int = 10) async throws -> (
    ManagedStore, [String]
  ) {
    let store = try await ManagedStore(platform)
    let ids = try store.org.makeAccounts(count).sorted()
    try await put(ids, into: store)
    return (store, ids)
  }

  static func put(_ ids: [String], into store: ManagedStore) async throws {
    try await store.manager.withStore { store in
      for id in ids {
        try store.upsert(
          [
            [
              "Id": .string(id), "attributes": ["type": "Account"], "__local__": false,
              "__locally_created__": false, "__locally_updated__": false,
              "__locally_deleted__": false,
            ]
          ], into: ManagedStore.accounts)
      }
    }
  }

  // SDK: testRefreshSyncDown (79)
  @Test(arguments: Platform.allCases)
  func `records in the soup by their ids get all fields`(_ platform: Platform) async throws {
    let (store, ids) = try await Self.store(platform)
    let run = try await store.manager.syncDown(Self.target())
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/10", "DONE 100/10"])
    #expect(store.org.requests(.query) == 1)
    #expect(try await store.column("Id") == ids)
    #expect(try await store.column("Name") == (0..<10).map { "Account \($0)" })
  }

  // SDK: testRefreshSyncDownWithMultipleRoundTrips (80)
  @Test(arguments: Platform.allCases)
  func `few ids a query make many queries, in id order`(_ platform: Platform) async throws {
    let (store, _) = try await Self.store(platform)
    let run = try await store.manager.syncDown(Self.target(perQuery: 2))
    #expect(
      await run.story == [
        "RUNNING 0/-1", "RUNNING 0/10", "RUNNING 20/10", "RUNNING 40/10", "RUNNING 60/10",
        "RUNNING 80/10", "DONE 100/10",
      ])
    #expect(store.org.requests(.query) == 5)
    #expect(try await store.column("Name").count == 10)
  }

  // SDK: testRefreshReSyncWithMultipleRoundTrips (81)
  @Test(arguments: Platform.allCases)
  func `a second run asks for changes, with the total`(_ platform: Platform) async throws {
    let (store, ids) = try await Self.store(platform)
    let first = try await store.manager.syncDown(Self.target(perQuery: 1))
    try await first.finish()
    let cursor = await first.lastState.maxTimeStamp
    #expect(cursor > 0)
    for id in [ids[0], ids[4], ids[9]] {
      try store.org.update("Account", id, ["Name": "new"])
    }
    let run = try await store.manager.reSync(id: first.syncID)
    #expect(
      await run.story == ["RUNNING 0/-1", "RUNNING 0/10"]
        + [10, 10, 10, 10, 20, 20, 20, 20, 20, 30].map { "RUNNING \($0)/10" } + ["DONE 100/10"])
    #expect(try await run.finish().fetched == 3)
    #expect(await run.lastState.maxTimeStamp > cursor)
    #expect(try await store.column("Name").filter { $0 == "new" }.count == 3)
  }

  // SDK: testCleanResyncGhostsForRefreshTarget (82)
  @Test(arguments: Platform.allCases)
  func `records deleted in the org are ghosts, in slices`(_ platform: Platform) async throws {
    let (store, ids) = try await Self.store(platform)
    let run = try await store.manager.syncDown(Self.target(perQuery: 3))
    try await run.finish()
    for id in [ids[0], ids[5], ids[9]] { try store.org.delete(id) }
    let queries = store.org.requests(.query)
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 3)
    #expect(store.org.requests(.query) == queries + 4)
    #expect(try await store.column("Id") == [1, 2, 3, 4, 6, 7, 8].map { ids[$0] })
  }

  @Test(arguments: Platform.allCases)
  func `ids that a device made up are not asked for`(_ platform: Platform) async throws {
    let (store, ids) = try await Self.store(platform, count: 3)
    let local = try await store.createAccounts(["mine"])
    store.org.server.faults.add(
      .kind(.query), times: 9,
      .mutate { _ in })
    let run = try await store.manager.syncDown(Self.target(perQuery: 3))
    #expect(await run.story.last == "DONE 100/3")
    #expect(store.org.requests(.query) == 1)
    #expect(try await store.column("Id") == (ids + local).sorted())
    try store.org.delete(ids[1])
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column("Id") == ([ids[0], ids[2]] + local).sorted())
  }

  @Test(arguments: Platform.allCases)
  func `records that vanish move no other off its page`(_ platform: Platform) async throws {
    let (store, ids) = try await Self.store(platform)
    let manager = store.manager
    let run = try await manager.syncDown(Self.target(perQuery: 2))
    var states = run.makeAsyncIterator()
    while let state = await states.next() {
      guard state.progress == 20 else { continue }
      try await manager.withStore { store in
        _ = try store.deleteElements(in: ManagedStore.accounts, where: "Id", in: ids[0..<2])
      }
    }
    #expect(try await run.finish().fetched == 10)
    #expect(try await Set(store.column("Name")).count >= 8)
    for id in ids[2...] { #expect(try await store.element(id)?["Name"]?.string != nil) }
  }

  @Test func `what is no record id is not asked for, and stays`() async throws {
    let (store, ids) = try await Self.store()
    try await Self.put(["mine", "", "0010000000000-1AAA"], into: store)
    let run = try await store.manager.syncDown(Self.target())
    try await run.finish()
    try await store.reSync(run)
    try await store.manager.cleanResyncGhosts(id: run.syncID)
    let asked = store.org.server.log.entries.compactMap(\.soql)
    #expect(asked.count == 3)
    #expect(!asked.contains { $0.contains("mine") || $0.contains("-1AAA") || $0.contains("''") })
    #expect(try await store.column("Name").count == ids.count)
    #expect(try await store.elements().count == ids.count + 3)
  }

  @Test func `a record that came by its id alone is fetched although it is old`() async throws {
    let (store, _) = try await Self.store(count: 2)
    let old = try store.org.makeAccounts(1, name: "old")
    let recent = try store.org.makeAccounts(1, name: "recent")
    try await Self.put(recent, into: store)
    let run = try await store.manager.syncDown(Self.target())
    try await run.finish()
    try await Self.put(old, into: store)
    let again = try await store.manager.reSync(id: run.syncID)
    #expect(try await again.finish().fetched == 1)
    #expect(try await store.column("Name").contains("old 0"))
  }

  @Test(arguments: Platform.allCases)
  func `what another sync brought is refetched, however old`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3, platform)
    for id in ids { try store.org.update("Account", id, ["Site": "here"]) }
    let mru = SyncTarget.mru(MruTarget(sobjectType: "Account", fieldlist: ["Name"]))
    let recent = try await store.manager.syncDown(mru)
    try await recent.finish()
    let run = try await store.manager.syncDown(Self.target(fields: ["Name", "Site"]))
    try await run.finish()
    // The whole list comes again, with its few fields: what the later sync completed stays.
    try await store.manager.reSync(id: recent.syncID).finish()
    #expect(try await store.column("Site") == ["here", "here", "here"])
    // A new sync writes what it brings.
    let other = try await store.manager.syncDown(mru)
    try await other.finish()
    #expect(try await store.column("Site").isEmpty)
    #expect(try await store.manager.reSync(id: run.syncID).finish().fetched == 3)
    #expect(try await store.column("Site") == ["here", "here", "here"])
    #expect(try await store.manager.reSync(id: run.syncID).finish().fetched == 0)
  }

  @Test func `the fields that a sync lives by are fetched without being named`() async throws {
    let (store, ids) = try await Self.store(count: 2)
    let run = try await store.manager.syncDown(Self.target(fields: ["Name"]))
    try await run.finish()
    #expect(try await store.column("Id") == ids)
    #expect(await run.lastState.maxTimeStamp > 0)
  }

  @Test func `LEAVE_IF_CHANGED leaves what is changed on the device`() async throws {
    let (store, ids) = try await Self.store(count: 3)
    try await store.rename([ids[0]])
    let run = try await store.manager.syncDown(
      target: Self.target(), options: SyncOptions(mergeMode: .leaveIfChanged),
      soupName: ManagedStore.accounts)
    let report = try await run.finish()
    #expect(report.skipped == [ManagedStore.accounts: [ids[0]]])
    #expect(try await store.element(ids[0])?["Name"]?.string == "local \(ids[0])")
  }

  @Test(arguments: Platform.allCases)
  func `a custom id field is asked for by its values, quoted`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform) { store in
      try store.registerSoup(
        "numbered",
        indexSpecs: [
          IndexSpec(path: "AccountNumber", type: .string),
          IndexSpec(path: "__local__", type: .string),
          IndexSpec(path: "__sync_id__", type: .integer),
        ])
    }
    let numbers = ["A-1", "O'Neil 2"]
    var made: [String] = []
    for number in numbers {
      made.append(
        try store.org.make("Account", ["Name": "n", "AccountNumber": .string(number)]))
    }
    try await store.manager.withStore { store in
      for number in numbers {
        try store.upsert(
          [["AccountNumber": .string(number), "__local__": false]], into: "numbered")
      }
    }
    let target = RefreshTarget(
      sobjectType: "Account", fieldlist: ["Name"], soupName: "numbered",
      fields: TargetFields(idFieldName: "AccountNumber"))
    let run = try await store.manager.syncDown(target: .refresh(target), soupName: "numbered")
    #expect(try await run.finish().fetched == 2)
    #expect(try await store.column("Name", of: "numbered") == ["n", "n"])
    try store.org.delete(made[1])
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column("AccountNumber", of: "numbered") == ["A-1"])
  }

  @Test func `a query that breaks off fails the run, and the next one is whole`() async throws {
    let (store, _) = try await Self.store(count: 6)
    store.org.server.faults.add(
      .kind(.query), nth: 2, .status(400, code: "MALFORMED_QUERY", message: "no"))
    let run = try await store.manager.syncDown(Self.target(perQuery: 2))
    await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(await run.lastState.status == .failed)
    #expect(await run.lastState.maxTimeStamp == -1)
    let again = try await store.manager.reSync(id: run.syncID)
    #expect(try await again.finish().fetched == 6)
  }
}
