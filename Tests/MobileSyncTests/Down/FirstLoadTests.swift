import Dispatch
import MobileSync
import SmartStore
import Testing

@Suite struct FirstLoadTests {
  private static let target = SyncTarget.soql(
    SoqlTarget(query: "SELECT Id, Name FROM Account", maxBatchSize: 200))

  /// Starts a first load and delays its last page until `release`.
  private func begun(
    _ platform: Platform
  ) async throws -> (store: ManagedStore, ids: [String], run: SyncRun, release: DispatchSemaphore) {
    let (store, ids) = try await ManagedStore.with(accounts: 650, platform)
    let held = DispatchSemaphore(value: 0)
    store.org.server.faults.add(.kind(.queryMore), nth: 3, .pause(afterBytes: 10) { held.wait() })
    let run = try await store.manager.syncDown(Self.target, named: "down")
    var states = run.makeAsyncIterator()
    while let state = await states.next(), state.progress < 90 {}
    return (store, ids, run, held)
  }

  private func violations(_ store: ManagedStore) throws -> [SmartStore.Violation] {
    try StoreCheck(origin: .device, platform: store.platform)
      .violations(at: store.directory.file("store.db"))
  }

  @Test(arguments: Platform.allCases)
  func `the store is complete afterwards, with all indexes`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 650, platform)
    #expect(try await store.manager.syncDown(Self.target).finish().written == 650)
    #expect(try await store.column("Id") == ids.sorted())
    #expect(try violations(store).isEmpty)
  }

  @Test(arguments: Platform.allCases)
  func `another writer sees the pages so far, and keeps its row`(_ platform: Platform) async throws
  {
    let (store, ids, run, release) = try await begun(platform)
    try await store.rename([ids[0]])
    let made = try await store.createAccounts(["mine"])
    // Another connection sees it, so it is in the file.
    let other = try Store(opening: store.directory.file("store.db"), readOnly: true)
    #expect(
      try other.values(of: "Id", in: ManagedStore.accounts, .dirty).sorted()
        == ([ids[0]] + made).sorted())
    #expect(try other.count(of: ManagedStore.accounts) == 601)
    try other.close()
    release.signal()
    try await run.finish()
    #expect(try await store.column("Id") == (ids + made).sorted())
    #expect(try await store.element(ids[0])?["Name"]?.string == "local \(ids[0])")
    #expect(try violations(store).isEmpty)
  }

  @Test func `no one else sees part of it, and an interrupted program leaves none`() async throws {
    let (store, _, run, release) = try await begun(.ios)
    let other = try Store(opening: store.directory.file("store.db"), readOnly: true)
    #expect(try other.count(of: ManagedStore.accounts) == 0)
    #expect(try SyncsSoup.states(in: other).map(\.status) == [.running])
    try other.close()
    release.signal()
    try await run.finish()
  }

  @Test func `a run stopped within it keeps its pages and resumes after them`() async throws {
    let (store, ids, run, release) = try await begun(.android)
    await store.manager.stop()
    release.signal()
    let state = await run.lastState
    #expect(state.status == .stopped)
    #expect(state.maxTimeStamp > 0)
    #expect(try await store.elements().count >= 600)
    #expect(try violations(store).isEmpty)
    try await store.manager.restart(restartStoppedSyncs: false)
    #expect(try await store.manager.reSync(named: "down").finish().fetched < 650)
    #expect(try await store.column("Id") == ids.sorted())
  }
}
