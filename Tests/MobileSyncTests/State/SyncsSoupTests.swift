import MobileSync
import SmartStore
import Testing

/// Rows 83–85 of the conformance table (SyncStateTest, SyncStateTests): the soup of the syncs.
@Suite struct SyncsSoupTests {
  // SDK: testSetupSyncsSoupFirstTime (83)
  @Test(arguments: Platform.allCases)
  func `the soup of the syncs is made with three json1 indexes`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let specs = try await store.manager.withStore { try $0.indexSpecs(of: "syncs_soup") }
    #expect(specs.map(\.path) == ["type", "name", "status"])
    #expect(specs.allSatisfy { $0.type == .json1 })
  }

  // SDK: testSetupSyncsSoupUpgradeTo71 (84)
  @Test(arguments: Platform.allCases)
  func `an old app's soup gets three indexes and keeps syncs`(_ platform: Platform) async throws {
    let state = SyncState(
      type: .syncDown, name: "old", target: try SyncTarget.soql(.accounts()).stored(),
      options: ["mergeMode": "OVERWRITE"], soupName: "accounts")
    let store = try await ManagedStore(platform) { store in
      try store.registerSoup(
        "syncs_soup",
        indexSpecs: [
          IndexSpec(path: "type", type: .string), IndexSpec(path: "name", type: .string),
        ])
      try store.upsert([state.element], into: "syncs_soup")
    }
    let specs = try await store.manager.withStore { try $0.indexSpecs(of: "syncs_soup") }
    #expect(specs == SyncsSoup.indexSpecs)
    let kept = try #require(try await store.manager.syncStatus(named: "old"))
    #expect(kept.target == state.target)
    let found = try await store.manager.withStore { store in
      try store.query(
        QuerySpec(
          smartSQL: "SELECT {syncs_soup:name} FROM {syncs_soup} WHERE {syncs_soup:status} = 'NEW'"))
    }
    #expect(found == [#"["old"]"#])
  }

  // SDK: testCleanupSyncsSoupIfNeeded (85)
  @Test(arguments: Platform.allCases)
  func `a sync RUNNING at exit is STOPPED at the next start`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform) { store in
      try SyncsSoup.register(in: store)
      for type in SyncType.allCases {
        for status in SyncState.Status.allCases {
          var state = SyncState(
            type: type, name: "\(type.rawValue) \(status.rawValue)", target: [:], options: [:],
            soupName: "accounts")
          state.status = status
          state.progress = 40
          state.maxTimeStamp = 5
          _ = try SyncsSoup.save(state, in: store)
        }
      }
    }
    let states = try await store.manager.syncs()
    #expect(states.count == 10)
    for state in states {
      let before = state.name?.split(separator: " ").last.map(String.init)
      #expect(state.status.rawValue == (before == "RUNNING" ? "STOPPED" : before))
      #expect(state.progress == 40 && state.maxTimeStamp == 5)
    }
  }
}
