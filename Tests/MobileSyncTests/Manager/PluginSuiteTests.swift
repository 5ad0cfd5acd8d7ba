import JSON
import MobileSync
import SmartStore
import TestSupport
import Testing

/// Rows 216–218 and 225–227 of the conformance table: what the JavaScript plugin's suite expects
/// from the managers of a user's store, of the global one and of a named global one.
///
/// Its other rows are expected of every store (`SyncDownTests`, `MergeTableTests`).
@Suite struct PluginSuiteTests {
  /// Which store of an app is synced.
  enum Place: String, CaseIterable, Sendable {
    case user, global, globalNamed

    func manager(_ managers: SyncManagers) async throws -> SyncManager {
      switch self {
      case .user: try await managers.manager()
      case .global: try await managers.globalManager()
      case .globalNamed: try await managers.globalManager(storeName: "named")
      }
    }
  }

  // SDK: testSyncDown (216), testSyncDownToGlobalStore (217)
  // SDK: testSyncDownToGlobalStoreNamed (218)
  // SDK: testSyncUpLocallyUpdated (225), testSyncUpLocallyUpdatedWithGlobalStore (226)
  // SDK: testSyncUpLocallyUpdatedWithGlobalStoreNamed (227)
  @Test(arguments: Place.allCases)
  func `records go only into the store that is synced, and its changes arrive`(
    _ place: Place
  ) async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let directory = TemporaryDirectory("plugin")
    let managers = SyncManagers(
      directory: directory.path, platform: .ios, org: try org.client(),
      settings: SyncSettings(overlapSeconds: 0))
    let manager = try await place.manager(managers)
    try await manager.withStore { store in
      try store.registerSoup("soup", indexSpecs: StoreConfig.Soup.sample("soup", "Name").indexes)
    }
    let down = try await manager.syncDown(target: .soql(.accounts(ids)), soupName: "soup")
    #expect(await down.story == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"])
    for other in Place.allCases where other != place {
      let manager = try await other.manager(managers)
      #expect(try await manager.withStore { try $0.hasSoup("soup") } == false)
      #expect(try await manager.syncs().isEmpty)
    }
    try await manager.withStore { store in
      #expect(try store.count(of: "soup") == 3)
      for id in ids {
        var object = try #require(try store.elements(in: "soup", where: "Id", is: id).first?.object)
        object["Name"] = .string("local \(id)")
        for flag in ["__local__", "__locally_updated__"] { object[flag] = true }
        try store.upsert([.object(object)], into: "soup")
      }
    }
    let up = try await manager.syncUp(
      options: SyncOptions(fieldlist: ["Name"], mergeMode: .overwrite), soupName: "soup")
    #expect(try await up.finish().records.map(\.outcome) == [.sent, .sent, .sent])
    #expect(try await manager.withStore { try $0.values(of: "Id", in: "soup", .dirty) }.isEmpty)
    for id in ids {
      #expect(try org.values("Account", ["Name"], of: id)?["Name"]?.string == "local \(id)")
    }
  }
}
