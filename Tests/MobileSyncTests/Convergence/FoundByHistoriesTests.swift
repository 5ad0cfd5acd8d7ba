import JSON
import LocalOrg
import SmartStore
import Testing

@testable import MobileSync

/// What the histories of `ConvergenceTests` found, each reduced to its least.
@Suite struct FoundByHistoriesTests {
  private static let fields = SyncOptions(fieldlist: ["Name", "Description"])

  @Test func `the org's clock is told by the run's own first answer`() async throws {
    let store = try await ManagedStore()
    let ids = try store.org.makeAccounts(3)
    let manager = store.manager
    let run = try await manager.syncDown(
      target: .soql(.accounts()), soupName: ManagedStore.accounts)
    try await run.finish()
    // Nobody asks between: the last answer that the device knows is from before.
    try store.org.org.moveClock(by: -7_200_000)
    try store.org.update("Account", ids[1], ["Name": "restored"])
    let report = try await manager.reSync(id: run.syncID).finish()
    #expect(report.fetched == 3)
    #expect(try await store.element(ids[1])?["Name"]?.string == "restored")
  }

  @Test func `a record made here and deleted in the org before a sync down saw it is a ghost`()
    async throws
  {
    let store = try await ManagedStore()
    let manager = store.manager
    let down = try await manager.syncDown(
      target: .soql(.accounts()), soupName: ManagedStore.accounts)
    try await down.finish()
    try await store.createAccounts(["made here"])
    let up = try await manager.syncUp(options: Self.fields, soupName: ManagedStore.accounts)
    let id = try #require(try await up.finish().records.first?.id)
    #expect(try await manager.cleanResyncGhosts(id: down.syncID).count == 0)
    try store.org.delete(id)
    #expect(try await manager.cleanResyncGhosts(id: down.syncID).count == 1)
    #expect(try await store.elements().isEmpty)
  }

  @Test func `what was made here is nobody's ghost where two syncs fill the soup`() async throws {
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
    try await store.createAccounts(["made here"])
    let up = try await manager.syncUp(options: Self.fields, soupName: ManagedStore.accounts)
    try await up.finish()
    for down in downs { #expect(try await manager.cleanResyncGhosts(id: down.syncID).count == 0) }
    #expect(try await store.elements().count == 3)
  }
}
