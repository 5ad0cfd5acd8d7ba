import MobileSync
import SmartStore
import Testing

/// Rows 15–20 of the conformance table (SyncManagerTest, SyncManagerTests): syncs are created,
/// looked up and deleted.
@Suite struct SyncDefinitionTests {
  private static let up = SyncOptions(fieldlist: ["Name"], mergeMode: .leaveIfChanged)

  private func create(
    _ type: SyncType, _ manager: SyncManager, _ name: String?
  ) async throws -> SyncState {
    switch type {
    case .syncDown:
      try await manager.createSyncDown(
        target: .soql(.accounts()), soupName: ManagedStore.accounts, syncName: name)
    case .syncUp:
      try await manager.createSyncUp(
        options: Self.up, soupName: ManagedStore.accounts, syncName: name)
    }
  }

  // SDK: testCreateGetDeleteSyncDownById (15), testCreateGetDeleteSyncUpById (17)
  // SDK: testSyncUpGetSyncDeleteSyncById (232)
  @Test(arguments: Platform.allCases, SyncType.allCases)
  func `a sync is found by id until deleted`(_ platform: Platform, _ type: SyncType) async throws {
    let store = try await ManagedStore(platform)
    let manager = store.manager
    let state = try await create(type, manager, nil)
    #expect(state.status == .new)
    #expect(state.type == type)
    #expect(state.name == nil)
    #expect(try await manager.syncStatus(id: state.id) == state)
    #expect(try await manager.syncs() == [state])
    try await manager.deleteSync(id: state.id)
    #expect(try await manager.syncStatus(id: state.id) == nil)
    try await manager.deleteSync(id: state.id)
  }

  // SDK: testCreateGetDeleteSyncDownWithName (16), testCreateGetDeleteSyncUpWithName (18)
  // SDK: testCreateGetDeleteSyncDownByName (16), testCreateGetDeleteSyncUpByName (18)
  // SDK: testSyncUpGetSyncDeleteSyncByName (233)
  @Test(arguments: Platform.allCases, SyncType.allCases)
  func `a sync is found by its name until it is deleted`(
    _ platform: Platform, _ type: SyncType
  ) async throws {
    let store = try await ManagedStore(platform)
    let manager = store.manager
    let state = try await create(type, manager, "MySync")
    #expect(try await manager.hasSync(named: "MySync"))
    #expect(try await manager.syncStatus(named: "MySync") == state)
    #expect(try await manager.syncStatus(id: state.id) == state)
    try await manager.deleteSync(named: "MySync")
    #expect(try await !manager.hasSync(named: "MySync"))
    #expect(try await manager.syncStatus(id: state.id) == nil)
    try await manager.deleteSync(named: "MySync")
  }

  // SDK: testCreateSyncDownWithExistingName (19), testCreateSyncUpWithExistingName (20)
  @Test(arguments: SyncType.allCases)
  func `a name in use is refused, and nothing is created`(_ type: SyncType) async throws {
    let store = try await ManagedStore()
    let manager = store.manager
    let state = try await create(type == .syncDown ? .syncUp : .syncDown, manager, "X")
    let error = await #expect(throws: SyncError.self) { _ = try await create(type, manager, "X") }
    let kind = type == .syncDown ? "down" : "up"
    #expect(error?.message == "Failed to create sync \(kind): there is already a sync with name:X")
    await #expect(throws: SyncError.self) {
      _ = try await manager.syncDown(.soql(.accounts()), named: "X")
    }
    #expect(try await manager.syncs() == [state])
    #expect(store.org.requests(.query) == 0)
  }

  @Test func `an invalid target is refused before a sync is created`() async throws {
    let store = try await ManagedStore()
    await #expect(throws: SyncError.self) {
      _ = try await store.manager.createSyncDown(
        target: .soql(SoqlTarget(query: "SELECT Name FROM Account GROUP BY Name")),
        soupName: ManagedStore.accounts)
    }
    #expect(try await store.manager.syncs().isEmpty)
  }
}
