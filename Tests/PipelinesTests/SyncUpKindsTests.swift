import JSON
import LocalOrg
import MobileSync
import Pipelines
import Rehearsal
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

/// A pipeline whose sync ups are of every kind.
@Suite struct SyncUpKindsTests {
  /// The soups of accounts, each with the prefix of its accounts' names.
  private static let soups = ["parents", "small", "batch", "single", "twice"]

  static let pipeline = Result {
    let directory = TemporaryDirectory.untilExit("up-kinds")
    let index = #"""
      {"path":"Id","type":"string"},{"path":"AccountId","type":"string"},
      {"path":"__local__","type":"string"},{"path":"__sync_id__","type":"integer"}
      """#
    func down(_ soup: String, _ query: String) -> String {
      """
      {"syncName":"down-\(soup)","syncType":"syncDown","soupName":"\(soup)",
       "target":{"type":"soql","query":"\(query)"},"options":{"mergeMode":"OVERWRITE"}}
      """
    }
    func up(_ name: String, _ soup: String, _ target: String, _ options: String) -> String {
      """
      {"syncName":"\(name)","syncType":"syncUp","soupName":"\(soup)","target":\(target),
       "options":{"fieldlist":["Name","Phone"]\(options)}}
      """
    }
    let leave = #","mergeMode":"LEAVE_IF_CHANGED""#
    let impl = { (name: String) in
      #""iOSImpl":"SF\#(name)","androidImpl":"com.salesforce.androidsdk.mobilesync.target.\#(name)""#
    }
    let family = """
      {\(impl("ParentChildrenSyncUpTarget")),
       "parent":{"sobjectType":"Account","soupName":"parents"},
       "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts","soupName":"children",
         "parentIdFieldName":"AccountId"},
       "createFieldlist":["Name"],"updateFieldlist":["Name","Phone"],
       "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["LastName"],
       "relationshipType":"MASTER_DETAIL"}
      """
    let syncs =
      soups.map {
        down($0, "SELECT Id, Name, Phone, LastModifiedDate FROM Account WHERE Name LIKE '\($0)%'")
      }
      + [
        down("children", "SELECT Id, LastName, AccountId, LastModifiedDate FROM Contact"),
        up("up-families", "parents", family, leave),
        up("up-small", "small", #"{"maxBatchSize":3}"#, leave),
        up("up-batch", "batch", "{\(impl("BatchSyncUpTarget"))}", leave),
        up("up-single", "single", "{\(impl("SyncUpTarget"))}", leave),
        up("up-twice", "twice", "{}", leave),
        up("up-twice-again", "twice", "{}", #","mergeMode":"OVERWRITE""#),
      ]
    let files = [
      "kinds.json": """
      {"format":1,"name":"kinds",
       "org":{"url":{"env":"ATTACHE_ORG_URL"},"login":{"method":"jwt",
         "clientId":{"env":"ATTACHE_CLIENT_ID"},"key":{"env":"ATTACHE_JWT_KEY"}}},
       "users":{"list":["ada@example.com"]},
       "stores":[{"schema":"userstore.json","syncs":"usersyncs.json"}],
       "reconcile":{"strict":true,"quietWindowSeconds":0},
       "platforms":["ios"],"inbox":{"settleSeconds":0}}
      """,
      "userstore.json": """
      {"soups":[\((soups + ["children"]).map { #"{"soupName":"\#($0)","indexes":[\#(index)]}"# }
        .joined(separator: ","))]}
      """,
      "usersyncs.json": #"{"syncs":[\#(syncs.joined(separator: ","))]}"#,
    ]
    for (name, text) in files {
      try DurableFile.write(Array(text.utf8), to: directory.file(name))
    }
    return directory
  }

  /// The edits of a day, on the phone that ada was primed.
  private struct Day {
    var device: Device
    var contested: String
    var child: String
  }

  /// Makes records, primes a phone with them, and edits them there.
  private func day(_ world: World) async throws -> Day {
    let ada = try world.user("ada")
    func make(_ soup: String, _ count: Int) throws -> [String] {
      try (0..<count).map { number in
        try #require(
          world.org.create("Account", ["Name": .string("\(soup) \(number)")], as: ada).id)
      }
    }
    let ids = Dictionary(
      uniqueKeysWithValues: try zip(Self.soups, [1, 4, 2, 2, 2]).map { ($0, try make($0, $1)) })
    let parent = try #require(ids["parents"]?.first)
    let child = try #require(
      world.org.create(
        "Contact", ["LastName": "Child", "AccountId": .string(parent)], as: ada
      ).id)
    try await world.run()
    let device = try world.device("ada")
    let now = world.org.now()
    for soup in Self.soups {
      for id in ids[soup] ?? [] { try device.edit(soup, id: id, ["Phone": "1"], now: now) }
    }
    try device.edit("children", id: child, ["LastName": "Grown"], now: now)
    // An app may make up ids of any form.
    try device.create(
      "parents", type: "Account", ["Name": "parents new"], localID: "tmp-1", now: now)
    try device.create(
      "children", type: "Contact", ["LastName": "New", "AccountId": "tmp-1"], localID: "tmp-2",
      now: now)
    try device.create("batch", type: "Account", ["Name": "batch new"], localID: "b-1", now: now)
    // The first sync up of the soup leaves it, the second does not.
    let contested = try #require(ids["twice"]?.first)
    _ = world.org.update(
      "Account", id: contested, ["Phone": "2"], as: try world.user("admin"))
    return Day(device: device, contested: contested, child: child)
  }

  /// The writes of `body`, when the org holds all that was edited.
  private func writes(
    _ world: World, _ day: Day, _ body: () async throws -> Void
  ) async throws -> [String] {
    let before = world.server.log.count
    try await body()
    let admin = try world.user("admin")
    #expect(try world.record("Account", day.contested)["Phone"] == "1")
    #expect(try world.record("Contact", day.child)["LastName"] == "Grown")
    for soql in [
      "SELECT Id FROM Contact WHERE LastName = 'New' AND Account.Name = 'parents new'",
      "SELECT Id FROM Account WHERE Name = 'parents new'",
      "SELECT Id FROM Account WHERE Name = 'batch new'",
    ] {
      #expect(try world.org.query(soql, as: admin, includeDeleted: false).totalSize == 1)
    }
    let entries = world.server.log.entries(after: before).filter(\.isWrite)
    return entries.map { "\($0.kind.rawValue) \($0.records ?? 1)" }
  }

  /// What the SDK sends of the day's edits.
  private static let requests = [
    "composite 2", "composite 2", "collectionUpdate 3", "collectionUpdate 1", "composite 3",
    "rowUpdate 1", "rowUpdate 1", "collectionUpdate 1", "collectionUpdate 1",
  ]

  @Test func `a live store sends every kind of sync up as the SDK does`() async throws {
    let world = try World(file: Self.pipeline.get().file("kinds.json"))
    let day = try await day(world)
    let url = world.server.url
    let token = try world.server.token(for: "ada@example.com", app: "app")
    let client = try Salesforce.Org(
      url: url, credentials: .accessToken(token), apiVersion: "66.0", caFile: nil,
      concurrency: 2, pause: .none)
    let manager = try await SyncManager(
      store: Store(opening: day.device.storePath), settings: SyncSettings(refreshesDates: false)
    ) { () async throws(Salesforce.OrgError) in try await client.session() }
    let names = try #require(world.pipeline.stores.first?.reconcile)
    let writes = try await writes(world, day) {
      for name in names { _ = try await manager.reSync(named: name).finish() }
    }
    #expect(writes == Self.requests)
  }

  @Test func `a pipeline sends every kind of sync up as the SDK does`() async throws {
    let world = try World(file: Self.pipeline.get().file("kinds.json")) {
      Self.oneAtATime($0).replacing("\"strict\":true", with: "\"strict\":false")
    }
    let day = try await day(world)
    let writes = try await writes(world, day) { try await handBack(day, world) }
    #expect(writes == Self.requests)
  }

  /// Requests beside each other arrive in any order.
  private static func oneAtATime(_ text: String) -> String {
    text.replacing("\"login\":", with: "\"concurrency\":1,\"login\":")
  }

  private func handBack(_ day: Day, _ world: World) async throws {
    try world.handBack(day.device, as: "night.sqlite")
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.updated: 12, .created: 3])
  }

  @Test func `a strict pipeline sends its updates in composites no larger than a batch`()
    async throws
  {
    let world = try World(
      file: Self.pipeline.get().file("kinds.json"), change: Self.oneAtATime)
    let day = try await day(world)
    let writes = try await writes(world, day) { try await handBack(day, world) }
    #expect(
      writes == [
        "composite 2", "composite 2", "composite 3", "composite 1", "composite 3",
        "rowUpdate 1", "rowUpdate 1", "composite 1", "collectionUpdate 1",
      ])
  }

  /// An account with a contact, and the phone that has both.
  private struct Family {
    var parent: String
    var child: String
    var device: Device
  }

  private func family(_ world: World) async throws -> Family {
    let ada = try world.user("ada")
    let parent = try #require(world.org.create("Account", ["Name": "parents 0"], as: ada).id)
    let child = try #require(
      world.org.create("Contact", ["LastName": "Child", "AccountId": .string(parent)], as: ada).id)
    try await world.run()
    return Family(parent: parent, child: child, device: try world.device("ada"))
  }

  @Test func `an edit of a detail goes with its master that the device deleted`() async throws {
    let world = try World(file: Self.pipeline.get().file("kinds.json"))
    let family = try await family(world)
    try family.device.edit(
      "children", id: family.child, ["LastName": "Grown"], now: world.org.now())
    try family.device.delete("parents", id: family.parent, now: world.org.now())
    try world.handBack(family.device, as: "night.sqlite")
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.deleted: 2])
    #expect(summary.open == [:])
    #expect(world.server.log.writes.map(\.kind) == [.composite])
  }

  @Test func `a child whose parent the org refused is blocked, and not blamed`() async throws {
    let world = try World(file: Self.pipeline.get().file("kinds.json"))
    let device = try await family(world).device
    let now = world.org.now()
    let long = JSONValue.string(String(repeating: "n", count: 300))
    try device.create("parents", type: "Account", ["Name": long], localID: "tmp-1", now: now)
    try device.create(
      "children", type: "Contact", ["LastName": "New", "AccountId": "tmp-1"], localID: "tmp-2",
      now: now)
    try world.handBack(device, as: "night.sqlite")
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.failed: 1, .blocked: 1])
  }

  @Test func `a child whose parent another writer held goes when the parent has gone`() async throws
  {
    let world = try World(file: Self.pipeline.get().file("kinds.json"))
    let device = try await family(world).device
    let now = world.org.now()
    try device.create(
      "parents", type: "Account", ["Name": "parents new"], localID: "tmp-1", now: now)
    for number in 2...3 {
      try device.create(
        "children", type: "Contact", ["LastName": .string("New \(number)"), "AccountId": "tmp-1"],
        localID: "tmp-\(number)", now: now)
    }
    try world.handBack(device, as: "night.sqlite")
    world.server.faults.add(.writes, .refusePart(0, code: "UNABLE_TO_LOCK_ROW"))
    let summary = try await world.run(.ingest, .reconcile) { $0.retryPause = .none }
    #expect(summary.verdicts == [.created: 3])
    #expect(world.server.log.entries.contains { $0.fault != nil })
    let children = "SELECT Id FROM Contact WHERE Account.Name = 'parents new'"
    #expect(try world.org.query(children, as: world.user("admin")).totalSize == 2)
  }

  @Test func `the details of a master whose deletion a guard holds are held with it`() async throws
  {
    let world = try World(file: Self.pipeline.get().file("kinds.json")) {
      $0.replacing("\"strict\":true", with: "\"strict\":true,\"maxChanges\":{\"perSnapshot\":1}")
    }
    let ada = try world.user("ada")
    let other = try #require(world.org.create("Account", ["Name": "small 0"], as: ada).id)
    let family = try await family(world)
    let device = family.device
    try device.delete("parents", id: family.parent, now: world.org.now())
    try device.delete("children", id: family.child, now: world.org.now())
    try device.edit("small", id: other, ["Phone": "1"], now: world.org.now())
    try world.handBack(device, as: "night.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.held: 3])
    #expect(try world.record("Contact", family.child)["LastName"] == "Child")
  }

  @Test(arguments: ["parent", "child"])
  func `a family of which one record was left stays together on the nights after`(
    _ contested: String
  ) async throws {
    let world = try World(file: Self.pipeline.get().file("kinds.json"))
    let admin = try world.user("admin")
    let family = try await family(world)
    let (parent, child, device) = (family.parent, family.child, family.device)
    try device.edit("parents", id: parent, ["Phone": "1"], now: world.org.now())
    try device.edit("children", id: child, ["LastName": "Grown"], now: world.org.now())
    if contested == "parent" {
      _ = world.org.update("Account", id: parent, ["Phone": "office"], as: admin)
    } else {
      _ = world.org.update("Contact", id: child, ["LastName": "Office"], as: admin)
    }
    try world.handBack(device, as: "night.sqlite")
    for _ in 0..<3 {
      let summary = try await world.run(.ingest, .reconcile)
      #expect(summary.open == [.conflict: 1, .blocked: 1])
    }
    #expect(
      try world.record("Account", parent)["Phone"] == (contested == "parent" ? "office" : .null))
    #expect(
      try world.record("Contact", child)["LastName"]
        == (contested == "child" ? "Office" : "Child"))
  }
}
