import JSON
import MobileSync
import SmartStore
import Testing

/// Rows 86–87 of the conformance table (SyncsConfigTest, SFSDKSyncsConfigTests), and D19.
@Suite struct ConfigSetUpTests {
  private static let query = #"{"type":"soql","query":"SELECT Id, Name FROM Account"}"#

  private static func sync(
    _ name: String, _ type: String = "syncDown", soup: String = "accounts",
    target: String = query, options: String = #"{"mergeMode":"OVERWRITE"}"#
  ) -> String {
    """
    {"syncName":"\(name)","syncType":"\(type)","soupName":"\(soup)","target":\(target),
     "options":\(options)}
    """
  }

  private static let up = sync(
    "up", "syncUp", target: "{}",
    options: #"{"mergeMode":"LEAVE_IF_CHANGED","fieldlist":["Id","Name"]}"#)

  private func config(_ syncs: String...) throws -> SyncsConfig {
    let text = #"{"syncs":["# + syncs.joined(separator: ",") + "]}"
    return try SyncsConfig(json: Array(text.utf8), file: "usersyncs.json")
  }

  // SDK: testSetupGlobalSyncsFromDefaultConfig (86)
  @Test(arguments: Platform.allCases)
  func `the syncs of a file are created unchanged`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let manager = store.manager
    #expect(try await manager.syncs().isEmpty)
    let result = try await manager.setUpSyncs(from: config(Self.sync("down"), Self.up))
    #expect(result == SyncsSetUp(created: ["down", "up"]))
    let states = try await manager.syncs()
    #expect(states.map(\.name) == ["down", "up"])
    #expect(states.map(\.type) == [.syncDown, .syncUp])
    for state in states {
      #expect(state.soupName == "accounts")
      #expect(state.status == .new)
      #expect(state.progress == 0)
      #expect(state.totalSize == -1)
      #expect(state.maxTimeStamp == -1)
      #expect(state.error.isEmpty)
    }
    #expect(
      states[0].target == [
        "type": "soql", "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
        "query": "select LastModifiedDate,Id, Name from Account order by LastModifiedDate",
        "maxBatchSize": 2000,
      ])
    #expect(states[0].options == ["mergeMode": "OVERWRITE"])
    #expect(
      states[1].target == [
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate", "maxBatchSize": 200,
      ])
    #expect(states[1].options == ["mergeMode": "LEAVE_IF_CHANGED", "fieldlist": ["Id", "Name"]])
  }

  // SDK: testSetupUserSyncsFromDefaultConfig (87)
  @Test func `every sync of a file exists afterwards, under its name`() async throws {
    let store = try await ManagedStore()
    let names = (1...12).map { "sync\($0)" }
    let text = #"{"syncs":["# + names.map { Self.sync($0) }.joined(separator: ",") + "]}"
    for name in names { #expect(try await !store.manager.hasSync(named: name)) }
    try await store.manager.setUpSyncs(
      from: SyncsConfig(json: Array(text.utf8), file: "usersyncs.json"))
    for name in names { #expect(try await store.manager.hasSync(named: name)) }
  }

  @Test func `an existing sync stays, with its cursor; its difference is reported`() async throws {
    let store = try await ManagedStore()
    try store.org.makeAccounts(2)
    let manager = store.manager
    let first = try config(Self.sync("down"), Self.up)
    try await manager.setUpSyncs(from: first)
    let done = await (try manager.reSync(named: "down")).lastState
    #expect(try await manager.setUpSyncs(from: first) == SyncsSetUp(kept: ["down", "up"]))
    let other = Self.sync("down", options: #"{"mergeMode":"LEAVE_IF_CHANGED"}"#)
    let changed = try config(other, Self.up, Self.sync("new"))
    #expect(
      try await manager.setUpSyncs(from: changed)
        == SyncsSetUp(created: ["new"], kept: ["up"], differing: ["down"]))
    #expect(try await manager.syncStatus(named: "down") == done)

    let replaced = try await manager.setUpSyncs(from: changed, replacing: .named(["down"]))
    #expect(replaced == SyncsSetUp(kept: ["up", "new"], replaced: ["down"]))
    let anew = try #require(try await manager.syncStatus(named: "down"))
    #expect(anew.id == done.id)
    #expect(anew.status == .new)
    #expect(anew.maxTimeStamp == -1)
    #expect(anew.options == ["mergeMode": "LEAVE_IF_CHANGED"])
    #expect(try await manager.reSync(named: "down").finish().fetched == 2)
  }

  @Test func `of two syncs with one name the first is created`() async throws {
    let store = try await ManagedStore()
    let one = try config(Self.sync("down")).syncs
    let two = try config(Self.sync("down", soup: "contacts")).syncs
    let result = try await store.manager.setUpSyncs(
      from: SyncsConfig(syncs: one + two), replacing: .all)
    #expect(result == SyncsSetUp(created: ["down"], differing: ["down"]))
    #expect(try await store.manager.syncs().map(\.soupName) == ["accounts"])
  }

  @Test func `a definition stored by a device does not count as changed`() async throws {
    let store = try await ManagedStore(.android)
    let manager = store.manager
    try await manager.withStore { store in
      var target: JSONObject = [
        "androidImpl": "com.salesforce.androidsdk.mobilesync.target.SoqlSyncDownTarget",
        "type": "soql",
        "query": "select LastModifiedDate,Id, Name from Account order by LastModifiedDate",
      ]
      target["idFieldName"] = "Id"
      target["modificationDateFieldName"] = "LastModifiedDate"
      target["maxBatchSize"] = 2000
      for (name, type, target, options) in [
        ("down", SyncType.syncDown, target, ["mergeMode": "OVERWRITE"] as JSONValue),
        (
          "up", .syncUp,
          [
            "androidImpl": "com.salesforce.androidsdk.mobilesync.target.CollectionSyncUpTarget",
            "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
            "maxBatchSize": 200,
          ], ["fieldlist": ["Id", "Name"], "mergeMode": "LEAVE_IF_CHANGED"]
        ),
      ] {
        _ = try SyncsSoup.save(
          SyncState(
            type: type, name: name, target: .object(target), options: options,
            soupName: "accounts"), in: store)
      }
    }
    let result = try await manager.setUpSyncs(from: config(Self.sync("down"), Self.up))
    #expect(result == SyncsSetUp(kept: ["down", "up"]))
  }

  @Test func `an invalid definition creates no sync of its file`() async throws {
    let store = try await ManagedStore()
    let bad = Self.sync(
      "bad", target: #"{"type":"soql","query":"SELECT Name FROM Account GROUP BY Name"}"#)
    let error = await #expect(throws: SyncError.self) {
      try await store.manager.setUpSyncs(from: config(Self.sync("down"), bad))
    }
    #expect(error?.syncName == "bad")
    #expect(try await store.manager.syncs().isEmpty)
  }
}
