import MobileSync
import Testing

@Suite struct FoundByHistoriesTests {
  private static let fields = SyncOptions(fieldlist: ["Name", "Description"])

  @Test func `the org's time comes from the run's own first response`() async throws {
    let store = try await ManagedStore()
    let ids = try store.org.makeAccounts(3)
    let manager = store.manager
    let run = try await manager.syncDown(
      target: .soql(.accounts()), soupName: ManagedStore.accounts)
    try await run.finish()
    // There is no request in between, so the device knows only an earlier response.
    try store.org.org.moveClock(by: -7_200_000)
    try store.org.update("Account", ids[1], ["Name": "restored"])
    #expect(try await manager.reSync(id: run.syncID).finish().fetched == 3)
    #expect(try await store.element(ids[1])?["Name"]?.string == "restored")
  }

  @Test func `a record created here, deleted in the org before a sync, is a ghost`() async throws {
    let store = try await ManagedStore()
    let manager = store.manager
    let down = try await manager.syncDown(
      target: .soql(.accounts()), soupName: ManagedStore.accounts)
    try await down.finish()
    try await store.createAccounts(["created here"])
    let up = try await manager.syncUp(options: Self.fields, soupName: ManagedStore.accounts)
    let id = try #require(try await up.finish().records.first?.id)
    #expect(try await manager.cleanResyncGhosts(id: down.syncID).count == 0)
    try store.org.delete(id)
    #expect(try await manager.cleanResyncGhosts(id: down.syncID).count == 1)
    #expect(try await store.elements().isEmpty)
  }

  @Test func `a record created here is not a ghost if two syncs fill the soup`() async throws {
    let store = try await ManagedStore()
    let manager = store.manager
    let ids = try store.org.makeAccounts(2)
    let downs = [
      try await manager.syncDown(
        target: .soql(.accounts([ids[0]])), soupName: ManagedStore.accounts),
      try await manager.syncDown(
        target: .soql(.accounts([ids[1]])), soupName: ManagedStore.accounts),
    ]
    for down in downs { try await down.finish() }
    try await store.createAccounts(["created here"])
    try await manager.syncUp(options: Self.fields, soupName: ManagedStore.accounts).finish()
    for down in downs { #expect(try await manager.cleanResyncGhosts(id: down.syncID).count == 0) }
    #expect(try await store.elements().count == 3)
  }

  // MARK: Two elements of one record

  /// Creates a record whose create gets no response, and runs a sync down that fetches it.
  private func twins(_ target: SyncUpTarget, _ store: ManagedStore) async throws {
    try await store.create(
      [["Name": "created here", "External_Id__c": "x1"]], type: "Site_Visit__c")
    let manager = store.manager
    _ = try await manager.createSyncUp(
      target: .syncUp(target), options: SyncOptions(fieldlist: ["Name"]),
      soupName: ManagedStore.accounts, syncName: "up")
    _ = try await manager.createSyncDown(
      target: .soql(SoqlTarget(query: "SELECT Name, External_Id__c FROM Site_Visit__c")),
      soupName: ManagedStore.accounts, syncName: "down")
    store.org.server.faults.add(.writes, .drop(afterCommit: true))
    let failed = try await manager.reSync(named: "up")
    #expect(await failed.lastState.status == .failed)
    try await manager.reSync(named: "down").finish()
    #expect(try await store.elements().count == 2)
  }

  static let upserts = [SyncUpTarget(), SyncUpTarget(externalIdFieldName: "External_Id__c")]

  @Test(arguments: upserts)
  func `a lost create and its fetched record become one`(_ target: SyncUpTarget) async throws {
    let store = try await ManagedStore()
    try await twins(target, store)
    try await store.manager.reSync(named: "up").finish()
    let elements = try await store.elements()
    #expect(elements.count == 1)
    #expect(elements.first?["__local__"] == false)
    let count = try store.org.org.query("SELECT count() FROM Site_Visit__c", as: store.org.admin)
    #expect(count.totalSize == 1)
  }

  @Test(arguments: upserts)
  func `of the two elements the edited one stays`(_ target: SyncUpTarget) async throws {
    let store = try await ManagedStore()
    try await twins(target, store)
    let id = try #require(try await store.elements().compactMap { $0["Id"]?.string }.last)
    try await store.edit([id]) { $0["Name"] = "edited" }
    let report = try await store.manager.reSync(named: "up").finish()
    #expect(report.records.count == 2)
    #expect(report.overwritten.isEmpty)
    #expect(try await store.column("Name") == ["edited"])
    #expect(try await store.dirty().isEmpty)
    #expect(try store.server("Site_Visit__c", "Name", of: id) == "edited")
  }
}
