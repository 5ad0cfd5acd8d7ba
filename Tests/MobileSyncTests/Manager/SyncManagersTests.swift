import MobileSync
import SmartStore
import TestSupport
import Testing

/// Row 37 of the conformance table, and the start of an app that uses the library.
@Suite struct SyncManagersTests {
  private static let soups = """
    {"soups":[{"soupName":"accounts","indexes":[
      {"path":"Id","type":"string"},{"path":"__local__","type":"string"},
      {"path":"__sync_id__","type":"integer"}]}]}
    """
  private static let syncs = """
    {"syncs":[{"syncName":"down","syncType":"syncDown","soupName":"accounts",
      "target":{"type":"soql","query":"SELECT Id, Name FROM Account"},
      "options":{"mergeMode":"LEAVE_IF_CHANGED"}}]}
    """

  // SDK: testSyncManagerSharedInstanceMethods (37)
  @Test(arguments: Platform.allCases)
  func `a user's store has one manager, other stores their own`(_ platform: Platform) async throws {
    let org = try SyncedOrg()
    let directory = TemporaryDirectory("managers")
    let managers = SyncManagers(
      directory: directory.path, platform: platform, org: try org.client())
    let first = try await managers.manager()
    #expect(try await managers.manager() === first)
    #expect(try await managers.manager(username: "admin@example.com") === first)
    let other = try await managers.manager(storeName: "other")
    #expect(other !== first)
    #expect(try await managers.manager(storeName: "other") === other)
    let global = try await managers.globalManager()
    #expect(global !== first)
    let named = try await managers.globalManager(storeName: "other")
    #expect(named !== global && named !== other)
    let location = StoreLocation(
      platform, user: .init(organizationID: org.org.organizationID, userID: org.admin.id))
    #expect(try await managers.manager(storeAt: "\(directory.path)/\(location.path)") === first)
    try await managers.close()
    #expect(try await managers.manager() !== first)
    for location in [
      location, StoreLocation(platform), StoreLocation(platform, storeName: "other"),
    ] {
      #expect(
        try Store(opening: directory.file(location.path), readOnly: true).platform == platform)
    }
  }

  @Test func `two spellings of a store's path have one manager`() async throws {
    let org = try SyncedOrg()
    let directory = TemporaryDirectory("managers")
    let managers = SyncManagers(directory: directory.path, platform: .ios, org: try org.client())
    // Neither the directory nor the file exists yet.
    let first = try await managers.manager(storeAt: "\(directory.path)/a/./x.db")
    #expect(try await managers.manager(storeAt: "\(directory.path)//a/x.db") === first)
    #expect(try await managers.manager(storeAt: "\(directory.path)/a/../a/x.db") === first)
    try await managers.close()
  }

  @Test func `a closed manager starts nothing`() async throws {
    let store = try await ManagedStore()
    try await store.manager.close()
    try await store.manager.close()
    let error = await #expect(throws: SyncError.self) {
      try await store.manager.restart(restartStoppedSyncs: true)
    }
    #expect(error?.code == .stopped)
  }

  @Test func `an app starts: log in, soups, syncs, and the first run`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let directory = TemporaryDirectory("app")
    for _ in 1...2 {
      let managers = SyncManagers(directory: directory.path, platform: .ios, org: try org.client())
      let manager = try await managers.manager()
      try await manager.setUpStore(from: StoreConfig(json: Array(Self.soups.utf8), file: "soups"))
      try await manager.setUpSyncs(from: SyncsConfig(json: Array(Self.syncs.utf8), file: "syncs"))
      try await manager.reSync(named: "down").finish()
      let count = try await manager.withStore { try $0.count(of: "accounts") }
      #expect(count == ids.count)
      try await managers.close()
    }
    // The second start resumes from the cursor.
    let queries = org.server.log.entries.filter { $0.kind == .query }.compactMap(\.soql)
    #expect(queries.count == 2)
    #expect(queries.last?.contains("where LastModifiedDate > ") == true)
  }

  @Test func `a failed login is reported, and retried the next time`() async throws {
    let org = try SyncedOrg()
    let directory = TemporaryDirectory("managers")
    let managers = SyncManagers(directory: directory.path, platform: .ios, org: try org.client())
    let error = await #expect(throws: SyncError.self) {
      _ = try await managers.manager(username: "ben@example.com")
    }
    #expect(error?.message.contains("ben@example.com") == true)
    _ = try await managers.manager()
  }
}
