import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

/// Rows 206–215 of the conformance table (LayoutSyncManagerTest, MetadataSyncManagerTest).
@Suite struct AnswerCacheTests {
  private static func layout(_ store: ManagedStore, _ mode: FetchMode) async throws -> Layout? {
    try await LayoutSyncManager(store.manager).fetchLayout(
      objectAPIName: "Account", formFactor: .medium, layoutType: .compact, layoutMode: .edit,
      mode: mode)
  }

  private static func metadata(_ store: ManagedStore, _ mode: FetchMode) async throws -> Metadata? {
    try await MetadataSyncManager(store.manager).fetchMetadata(objectType: "Account", mode: mode)
  }

  private static func check(_ layout: Layout?, _ platform: Platform) throws {
    let layout = try #require(layout)
    let nothing = platform == .ios ? "(null)" : "null"
    #expect(layout.id == "Account-Medium-Compact-Edit-\(nothing)")
    #expect(layout.objectAPIName == "Account")
    #expect(layout.layoutType == "Compact")
    #expect(layout.mode == "Edit")
    #expect(try JSONValue(parsing: layout.json)["sections"]?.array?.isEmpty == false)
  }

  private static func check(_ metadata: Metadata?) throws {
    let metadata = try #require(metadata)
    #expect(metadata.name == "Account")
    #expect(metadata.keyPrefix == "001")
    #expect(metadata.label == "Account")
    #expect(metadata.labelPlural == "Accounts")
    #expect(metadata.fieldNames.contains("Name"))
    let json = try JSONValue(parsing: metadata.json)
    #expect(json["childRelationships"]?.array != nil)
    #expect(json["urls"]?.object != nil)
  }

  enum Answer: CaseIterable, Sendable {
    case layout, description
    var request: LocalOrg.RequestKind { self == .layout ? .layout : .describe }
    var soup: String { self == .layout ? LayoutTarget.soupName : MetadataTarget.soupName }

    func check(_ store: ManagedStore, _ platform: Platform, _ mode: FetchMode) async throws {
      switch self {
      case .layout: try await AnswerCacheTests.check(AnswerCacheTests.layout(store, mode), platform)
      case .description: try await AnswerCacheTests.check(AnswerCacheTests.metadata(store, mode))
      }
    }
  }

  // SDK: testFetchLayoutInCacheOnlyMode (206), testFetchMetadataInCacheOnlyMode (211)
  @Test(arguments: Platform.allCases, Answer.allCases)
  func `with CACHE_ONLY, it comes from the store`(_ platform: Platform, _ answer: Answer)
    async throws
  {
    let store = try await ManagedStore(platform)
    #expect(try await Self.layout(store, .cacheOnly) == nil)
    #expect(try await Self.metadata(store, .cacheOnly) == nil)
    #expect(store.org.requests(answer.request) == 0)
    try await answer.check(store, platform, .serverFirst)
    try await answer.check(store, platform, .cacheOnly)
    #expect(store.org.requests(answer.request) == 1)
  }

  // SDK: testFetchLayoutInCacheFirstModeWithCacheData (207)
  // SDK: testFetchMetadataInCacheFirstModeWithCacheData (212)
  @Test(arguments: Platform.allCases, Answer.allCases)
  func `what the store has is not requested`(_ platform: Platform, _ answer: Answer) async throws {
    let store = try await ManagedStore(platform)
    for mode in [FetchMode.serverFirst, .cacheFirst] {
      try await answer.check(store, platform, mode)
    }
    #expect(store.org.requests(answer.request) == 1)
  }

  // SDK: testFetchLayoutInCacheFirstModeWithoutCacheData (208)
  // SDK: testFetchLayoutInServerFirstMode (209)
  // SDK: testFetchMetadataInCacheFirstModeWithoutCacheData (213)
  // SDK: testFetchMetadataInServerFirstMode (214)
  @Test(arguments: Platform.allCases, Answer.allCases)
  func `what the store lacks is fetched`(_ platform: Platform, _ answer: Answer) async throws {
    for mode in [FetchMode.cacheFirst, .serverFirst] {
      let store = try await ManagedStore(platform)
      try await answer.check(store, platform, mode)
      #expect(store.org.requests(answer.request) == 1)
    }
  }

  // SDK: testFetchLayoutMultipleTimes (210), testFetchMetadataMultipleTimes (215)
  @Test(arguments: Platform.allCases, Answer.allCases)
  func `fetched twice it is one element and one sync`(_ platform: Platform, _ answer: Answer)
    async throws
  {
    let store = try await ManagedStore(platform)
    for _ in 0..<2 { try await answer.check(store, platform, .serverFirst) }
    #expect(store.org.requests(answer.request) == 2)
    #expect(try await store.elements(answer.soup).count == 1)
    #expect(try await store.elements(SyncsSoup.name).count == 1)
  }

  @Test func `an org that does not respond is an error`() async throws {
    let store = try await ManagedStore()
    _ = try await Self.metadata(store, .serverFirst)
    for kind in [LocalOrg.RequestKind.layout, .describe] {
      store.org.server.faults.add(
        .kind(kind), times: 20, .status(404, code: "NOT_FOUND", message: "no"))
    }
    for mode in [FetchMode.cacheFirst, .serverFirst] {
      await #expect(throws: SyncError.self) { try await Self.layout(store, mode) }
    }
    await #expect(throws: SyncError.self) { try await Self.metadata(store, .serverFirst) }
    // The description fetched before is still cached.
    try Self.check(try await Self.metadata(store, .cacheFirst))
  }

  @Test func `concurrent callers all get the requested description`() async throws {
    let store = try await ManagedStore()
    let metadata = MetadataSyncManager(store.manager)
    try await withThrowingTaskGroup(of: Metadata?.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await metadata.fetchMetadata(objectType: "Account", mode: .serverFirst)
        }
      }
      for try await answer in group { try Self.check(answer) }
    }
    #expect(try await store.elements(MetadataTarget.soupName).count == 1)
  }

  @Test func `layouts with other parameters are separate elements`() async throws {
    let store = try await ManagedStore()
    let layouts = LayoutSyncManager(store.manager)
    _ = try await layouts.fetchLayout(objectAPIName: "Account", layoutType: .full)
    _ = try await layouts.fetchLayout(objectAPIName: "Account", layoutType: .compact)
    _ = try await layouts.fetchLayout(objectAPIName: "Contact", layoutType: .full)
    #expect(
      try await store.column("Id", of: LayoutTarget.soupName) == [
        "Account-(null)-Compact-(null)-(null)", "Account-(null)-Full-(null)-(null)",
        "Contact-(null)-Full-(null)-(null)",
      ])
  }
}
