import LocalOrg
import MobileSync
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

@Suite struct SyncFaultTests {
  private func paged(
    _ count: Int = 650, _ platform: Platform = .ios
  ) async throws -> (ManagedStore, [String], SoqlTarget) {
    let (store, ids) = try await ManagedStore.with(accounts: count, platform)
    return (store, ids, SoqlTarget(query: "SELECT Id, Name FROM Account", maxBatchSize: 200))
  }

  @Test func `a session that cannot be renewed midway ends the run with the reason`() async throws {
    let (store, ids, target) = try await paged()
    store.org.server.faults.add(.kind(.queryMore), nth: 2, .expireSession)
    let run = try await store.manager.syncDown(.soql(target), named: "down")
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    // The token cannot be renewed: a new login is needed.
    #expect(error?.isAuthentication == true)
    #expect(error?.syncName == "down")
    let state = try #require(try await store.manager.syncStatus(named: "down"))
    #expect(state.status == .failed)
    #expect(state.error.contains("sync.org"))
    #expect(state.progress > 0 && state.progress < 100)
    #expect(state.maxTimeStamp > 0)
    // The stored records stay, and a new login resumes there.
    let had = try await store.elements().count
    #expect(had > 0 && had < ids.count)
    try await store.manager.close()
    let manager = try await store.restarted()
    try await manager.reSync(named: "down").finish()
    let all = try await manager.withStore { try $0.values(of: "Id", in: ManagedStore.accounts) }
    #expect(all == ids.sorted())
  }

  @Test func `a session that expires midway is renewed and the run continues`() async throws {
    let org = try SyncedOrg {
      $0.clients["app"] = .init(secret: "s3cret", username: "admin@example.com")
    }
    let ids = try org.makeAccounts(450)
    let directory = TemporaryDirectory("renewed")
    let client = try Salesforce.Org(
      url: org.server.url,
      credentials: Credentials(.clientCredentials(clientID: "app", secret: Secret("s3cret"))),
      apiVersion: "66.0", concurrency: 4, pause: .none)
    let manager = try await SyncManager(
      store: ManagedStore.makeStore(directory.file("store.db"), .android), org: client)
    org.server.faults.add(.kind(.queryMore), nth: 1, .expireSession)
    try await manager.syncDown(
      .soql(SoqlTarget(query: "SELECT Id FROM Account", maxBatchSize: 200))
    ).finish()
    #expect(org.server.faults.fired == 1)
    #expect(org.requests(.token) == 2)
    let all = try await manager.withStore { try $0.values(of: "Id", in: ManagedStore.accounts) }
    #expect(all == ids.sorted())
  }

  @Test func `a page that is truncated or briefly refused is requested again`() async throws {
    let (store, ids, target) = try await paged()
    store.org.server.faults.add(.kind(.queryMore), nth: 1, .drop(afterCommit: false))
    store.org.server.faults.add(.kind(.queryMore), nth: 2, .status(503, code: "SERVER_UNAVAILABLE"))
    store.org.server.faults.add(.kind(.queryMore), nth: 4, .truncate(bytes: 100))
    try await store.manager.syncDown(.soql(target)).finish()
    #expect(try await store.column("Id") == ids.sorted())
    #expect(store.org.server.faults.fired == 3)
  }

  @Test func `an unreachable org fails the run; the next one resumes at its page`() async throws {
    let (store, ids, target) = try await paged()
    store.org.server.faults.add(
      .kind(.queryMore), nth: 2, times: 100, .status(503, code: "SERVER_UNAVAILABLE"))
    let run = try await store.manager.syncDown(.soql(target), named: "down")
    let failed = await run.lastState
    #expect(failed.status == .failed)
    #expect(failed.error.contains("503"))
    #expect(failed.progress == 61)
    #expect(failed.totalSize == 650)
    #expect(failed.maxTimeStamp > 0)
    store.org.server.faults.removeAll()
    let again = try await store.manager.reSync(named: "down")
    let report = try await again.finish()
    #expect(report.fetched >= 250 && report.fetched < 650)
    #expect(await again.lastState.error.isEmpty)
    #expect(try await store.column("Id") == ids.sorted())
  }

  @Test func `a query that the org refuses fails the run with the org's message`() async throws {
    let store = try await ManagedStore()
    let run = try await store.manager.syncDown(
      .soql(SoqlTarget(query: "SELECT Id, Region__c FROM Account")), named: "down")
    #expect(await run.story == ["RUNNING 0/-1", "FAILED 0/-1"])
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.code == .queryRefused)
    #expect(error?.errorCode == "INVALID_FIELD")
    #expect(error?.status == 400)
    #expect(try await store.manager.syncStatus(named: "down")?.error.contains("Region__c") == true)
  }

  @Test func `a missing soup fails the run, which names it`() async throws {
    let store = try await ManagedStore()
    try store.org.makeAccounts(1)
    let run = try await store.manager.syncDown(target: .soql(.accounts()), soupName: "nowhere")
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.message.contains("\"nowhere\"") == true)
    #expect(await run.lastState.status == .failed)
  }

  @Test func `a failed sync does not delay the queued ones`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3)
    let manager = store.manager
    let bad = try await manager.syncDown(.soql(SoqlTarget(query: "SELECT Id FROM Nothing__c")))
    #expect(try await manager.syncDown(.soql(.accounts())).lastState.status == .done)
    #expect(await bad.lastState.status == .failed)
    #expect(try await store.column("Id") == ids.sorted())
  }

  @Test func `a record that changes while its page is in transit loses no other`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 450)
    store.org.server.faults.add(
      .kind(.queryMore), nth: 1, .update(ids[399], ["Name": "moved"], after: 3_600_000))
    store.org.server.faults.add(
      .kind(.queryMore), nth: 2, .status(400, code: "UNKNOWN", message: "no"))
    let run = try await store.manager.syncDown(
      .soql(SoqlTarget(query: "SELECT Id, Name FROM Account", maxBatchSize: 200)))
    await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(try await store.elements().count == 400)
    try await store.manager.reSync(id: run.syncID).finish()
    #expect(try await store.column("Id") == ids.sorted())
  }

  @Test func `a record that changes after its page was read arrives next time`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 450)
    store.org.server.faults.add(
      .kind(.queryMore), nth: 2,
      .mutate { served in
        guard let admin = served.user(named: "admin@example.com") else { return }
        try served.moveClock(by: 3_600_000)
        _ = served.update("Account", id: ids[0], ["Name": "early"], as: admin)
        try served.moveClock(by: 3_600_000)
        _ = served.update("Account", id: ids[449], ["Name": "late"], as: admin)
      })
    let run = try await store.manager.syncDown(
      .soql(SoqlTarget(query: "SELECT Id, Name FROM Account", maxBatchSize: 200))
    ).finished()
    try await store.manager.reSync(id: run.syncID).finish()
    #expect(try await store.element(ids[0])?["Name"] == "early")
    #expect(try await store.element(ids[449])?["Name"] == "late")
  }
}
