import JSON
import MobileSync
import SmartStore
import TestSupport
import Testing

/// Rows 216–233 of the conformance table: what the JavaScript plugin's suite expects from a
/// manager, in a user's store, the global one and a named global one.
@Suite struct PluginSuiteTests {
  private let app: App
  init() async throws { app = try await App() }

  /// Which store of an app is synced.
  enum Place: String, CaseIterable, Sendable { case user, global, globalNamed }

  final class App {
    let directory = TemporaryDirectory("plugin")
    let org: SyncedOrg
    let managers: SyncManagers
    let ids: [String]
    let manager: SyncManager
    init(_ place: Place = .user) async throws {
      org = try SyncedOrg()
      ids = try org.makeAccounts(3)
      managers = SyncManagers(
        directory: directory.path, platform: .ios, org: try org.client(),
        settings: SyncSettings(overlapSeconds: 0))
      manager = try await Self.manager(place, managers)
      try await manager.withStore { store in
        try store.registerSoup("soup", indexSpecs: StoreConfig.Soup.sample("soup", "Name").indexes)
      }
    }

    static func manager(_ place: Place, _ managers: SyncManagers) async throws -> SyncManager {
      switch place {
      case .user: try await managers.manager()
      case .global: try await managers.globalManager()
      case .globalNamed: try await managers.globalManager(storeName: "named")
      }
    }

    @discardableResult
    func down(_ mode: MergeMode = .overwrite, name: String? = nil) async throws -> Int64 {
      let run = try await manager.syncDown(
        target: .soql(.accounts(ids)), options: SyncOptions(mergeMode: mode), soupName: "soup",
        syncName: name)
      var states: [SyncState] = []
      for await state in run { states.append(state) }
      #expect(states.first?.status == .running)
      #expect(states.last?.status == .done)
      #expect(states.last?.progress == 100)
      return run.syncID
    }

    @discardableResult
    func up(
      _ mode: MergeMode = .overwrite, name: String? = nil
    ) async throws -> (id: Int64, report: SyncReport) {
      let run = try await manager.syncUp(
        options: SyncOptions(fieldlist: ["Name"], mergeMode: mode), soupName: "soup",
        syncName: name)
      return (run.syncID, try await run.finish())
    }

    func edit(_ ids: [String], _ change: @Sendable (inout JSONObject) -> Void) async throws {
      try await manager.withStore { store in
        for id in ids {
          var object = try #require(
            try store.elements(in: "soup", where: "Id", is: id).first?.object)
          object["__local__"] = true
          change(&object)
          try store.upsert([.object(object)], into: "soup")
        }
      }
    }

    func rename(_ ids: [String]) async throws {
      try await edit(ids) { object in
        object["Name"] = .string((object["Name"]?.string ?? "") + " updated")
        object["__locally_updated__"] = true
      }
    }

    func elements() async throws -> [JSONValue] {
      try await manager.withStore { store in
        var elements: [JSONValue] = []
        try store.forEachElement(in: "soup") { elements.append(try $0.value()) }
        return elements
      }
    }

    func names() async throws -> [String] {
      try await elements().compactMap { $0["Name"]?.string }.sorted()
    }

    func dirty() async throws -> Int { try await elements().count { $0["__local__"] == true } }

    func serverNames() throws -> [String] {
      try ids.compactMap { try org.values("Account", ["Name"], of: $0)?["Name"]?.string }.sorted()
    }
  }

  // MARK: Down

  // SDK: testSyncDown (216), testSyncDownToGlobalStore (217)
  // SDK: testSyncDownToGlobalStoreNamed (218)
  @Test(arguments: Place.allCases)
  func `records go only into the store that is synced`(_ place: Place) async throws {
    let app = try await App(place)
    try await app.down()
    #expect(try await app.names() == ["Account 0", "Account 1", "Account 2"])
    for other in Place.allCases where other != place {
      let manager = try await App.manager(other, app.managers)
      #expect(try await manager.withStore { try $0.hasSoup("soup") } == false)
      #expect(try await manager.syncs().isEmpty)
    }
  }

  // SDK: testSyncDownWithNoOverwrite (219)
  @Test func `a local change stays until a sync down overwrites it`() async throws {
    try await app.down()
    try await app.rename(app.ids)
    try await app.down(.leaveIfChanged)
    #expect(try await app.dirty() == 3)
    #expect(try await app.names().allSatisfy { $0.hasSuffix(" updated") })
    try await app.down(.overwrite)
    #expect(try await app.dirty() == 0)
    #expect(try await app.names() == ["Account 0", "Account 1", "Account 2"])
  }

  // SDK: testRefreshSyncDown (220)
  @Test func `a refresh fetches changes of existing records`() async throws {
    try await app.down()
    for id in [app.ids[0], app.ids[2]] { try app.org.update("Account", id, ["Name": "new"]) }
    try await app.manager.syncDown(
      target: .refresh(
        RefreshTarget(sobjectType: "Account", fieldlist: ["Id", "Name"], soupName: "soup")),
      soupName: "soup"
    ).finish()
    #expect(try await app.names() == ["Account 1", "new", "new"])
  }

  // SDK: testReSync (221)
  @Test func `a sync runs again for changes only`() async throws {
    let id = try await app.down()
    for id in [app.ids[0], app.ids[2]] { try app.org.update("Account", id, ["Name": "new"]) }
    let run = try await app.manager.reSync(id: id)
    try await run.finish()
    #expect(await run.lastState.totalSize == 2)
    #expect(try await app.names() == ["Account 1", "new", "new"])
  }

  // SDK: testCleanResyncGhosts (222)
  @Test func `a deleted record is removed when ghosts are cleaned`() async throws {
    let id = try await app.down(.leaveIfChanged)
    try app.org.delete(app.ids[0])
    #expect(try await app.manager.cleanResyncGhosts(id: id).count == 1)
    let left = try await app.elements().compactMap { $0["Id"]?.string }.sorted()
    #expect(left == app.ids[1...].sorted())
  }

  // SDK: testSyncDownGetSyncDeleteSyncById (223), testSyncDownGetSyncDeleteSyncByName (224)
  // SDK: testSyncUpGetSyncDeleteSyncById (232), testSyncUpGetSyncDeleteSyncByName (233)
  @Test(arguments: [SyncType.syncDown, .syncUp], [false, true])
  func `a sync is found and deleted by its id or name`(
    _ type: SyncType, _ isNamed: Bool
  ) async throws {
    var id = try await app.down(name: type == .syncDown ? "named" : nil)
    if type == .syncUp {
      try await app.rename(app.ids)
      id = try await app.up(name: "named").id
    }
    let syncID = id
    func status() async throws -> SyncState? {
      isNamed
        ? try await app.manager.syncStatus(named: "named")
        : try await app.manager.syncStatus(id: syncID)
    }
    let state = try #require(try await status())
    #expect(state.id == syncID && state.type == type)
    #expect(state.progress == 100 && state.soupName == "soup")
    if isNamed {
      try await app.manager.deleteSync(named: "named")
    } else {
      try await app.manager.deleteSync(id: syncID)
    }
    #expect(try await status() == nil)
    #expect(try await app.elements().count == 3)
  }

  // MARK: Up

  // SDK: testSyncUpLocallyUpdated (225), testSyncUpLocallyUpdatedWithGlobalStore (226)
  // SDK: testSyncUpLocallyUpdatedWithGlobalStoreNamed (227)
  @Test(arguments: Place.allCases)
  func `changes of the synced store arrive`(_ place: Place) async throws {
    let app = try await App(place)
    try await app.down()
    try await app.rename(app.ids)
    #expect(try await app.up().report.records.map(\.outcome) == [.sent, .sent, .sent])
    #expect(try await app.dirty() == 0)
    #expect(try app.serverNames().allSatisfy { $0.hasSuffix(" updated") })
  }

  // SDK: testSyncUpLocallyUpdatedWithNoOverwrite (228)
  @Test func `a change of a record newer in the org is skipped, then overwrites`() async throws {
    try await app.down()
    try await app.rename(app.ids)
    for id in app.ids { try app.org.update("Account", id, ["Name": "theirs"]) }
    let left = try await app.up(.leaveIfChanged).report
    #expect(left.records.allSatisfy { $0.outcome == .left(.changedOnServer) })
    #expect(try await app.dirty() == 3)
    #expect(try app.serverNames() == ["theirs", "theirs", "theirs"])
    try await app.up(.overwrite)
    #expect(try await app.dirty() == 0)
    #expect(try app.serverNames().allSatisfy { $0.hasSuffix(" updated") })
  }

  // SDK: testSyncUpLocallyDeleted (229)
  @Test func `deletions arrive and the elements are removed`() async throws {
    try await app.down()
    try await app.edit(app.ids) { $0["__locally_deleted__"] = true }
    try await app.up()
    #expect(try await app.elements().isEmpty)
    #expect(try app.serverNames().isEmpty)
  }

  // SDK: testSyncUpLocallyDeletedWithNoOverwrite (230)
  @Test func `a deletion of a record newer in the org is skipped, then deletes`() async throws {
    try await app.down()
    try await app.edit(app.ids) { $0["__locally_deleted__"] = true }
    for id in app.ids { try app.org.update("Account", id, ["Name": "theirs"]) }
    try await app.up(.leaveIfChanged)
    #expect(try await app.dirty() == 3)
    #expect(try app.serverNames().count == 3)
    try await app.up(.overwrite)
    #expect(try await app.elements().isEmpty)
    #expect(try app.serverNames().isEmpty)
  }

  // SDK: testSyncUpLocallyCreated (231)
  @Test func `new elements get the org's ids`() async throws {
    try await app.manager.withStore { store in
      for number in 0..<3 {
        try store.upsert(
          [
            .object([
              "Id": .string("local_\(number)"), "Name": .string("made \(number)"),
              "attributes": ["type": "Account"], "__local__": true, "__locally_created__": true,
              "__locally_updated__": false, "__locally_deleted__": false,
            ])
          ], into: "soup")
      }
    }
    try await app.up()
    let elements = try await app.elements()
    #expect(elements.count == 3)
    for element in elements {
      let id = try #require(element["Id"]?.string)
      #expect(!id.hasPrefix("local_"))
      #expect(element["__local__"] == false && element["__locally_created__"] == false)
      #expect(try app.org.values("Account", ["Name"], of: id)?["Name"] == element["Name"])
    }
  }
}
