import JSON
import LocalOrg
import SmartStore
import System
import Testing

@testable import MobileSync

/// Rows 1–3 and 6–8 of the conformance table (SyncManagerTest, SyncManagerTests).
@Suite struct SyncDownTests {
  // SDK: testGetSyncStatusForInvalidSyncId (1)
  @Test(arguments: Platform.allCases)
  func `an id or a name that no sync has answers no state`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    #expect(try await store.manager.syncStatus(id: -1) == nil)
    #expect(try await store.manager.syncStatus(named: "nobody") == nil)
  }

  // SDK: testSyncDown (2)
  @Test(arguments: Platform.allCases)
  func `a sync down fetches everything and tells of it as the SDK does`(
    _ platform: Platform
  ) async throws {
    let store = try await ManagedStore(platform)
    let ids = try store.org.makeAccounts(10)
    let run = try await store.manager.syncDown(
      target: .soql(.accounts(ids)), soupName: ManagedStore.accounts)
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
}
