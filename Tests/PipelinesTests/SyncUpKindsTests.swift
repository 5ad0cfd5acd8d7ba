import JSON
import Rehearsal
import Testing

@Suite struct SyncUpKindsTests {
  static let pipeline = Result {
    func down(_ soup: String, _ query: String) -> String {
      SmallPipeline.down("down-" + soup, soup, #"{"type":"soql","query":"SELECT Id, \#(query)"}"#)
    }
    func up(_ soup: String, _ target: String) -> String {
      """
      {"syncName":"up-\(soup)","syncType":"syncUp","soupName":"\(soup)","target":\(target),
       "options":{"fieldlist":["Name","Phone"],"mergeMode":"LEAVE_IF_CHANGED"}}
      """
    }
    let family = """
      {"iOSImpl":"SFParentChildrenSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncUpTarget",
       "parent":{"sobjectType":"Account","soupName":"parents"},
       "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts","soupName":"children",
         "parentIdFieldName":"AccountId"},
       "createFieldlist":["Name"],"updateFieldlist":["Name","Phone"],
       "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["LastName"],
       "relationshipType":"MASTER_DETAIL"}
      """
    let syncs = [
      down("parents", "Name, Phone, LastModifiedDate FROM Account WHERE Name LIKE 'parents%'"),
      down("small", "Name, Phone, LastModifiedDate FROM Account WHERE Name LIKE 'small%'"),
      down("children", "LastName, AccountId, LastModifiedDate FROM Contact"),
      up("parents", family), up("small", #"{"maxBatchSize":3}"#),
    ]
    return try SmallPipeline(
      name: "kinds", soups: ["parents", "small", "children"], syncs: syncs,
      more:
        #""reconcile":{"conditionalUpdates":true,"unansweredWaitSeconds":0},"platforms":["ios"]"#
    ).write()
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

  @Test func `an edit of a detail is resolved with its master's deletion`() async throws {
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
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.failed: 1, .blocked: 1])
  }

  @Test func `a child whose parent was locked is sent after its parent`() async throws {
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
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.created: 3])
    #expect(world.server.log.entries.contains { $0.fault != nil })
    let children = "SELECT Id FROM Contact WHERE Account.Name = 'parents new'"
    #expect(try world.org.query(children, as: world.user("admin")).totalSize == 2)
  }

  @Test func `details of a master whose deletion exceeds a guard's limit also wait`() async throws {
    let world = try World(file: Self.pipeline.get().file("kinds.json")) {
      $0.replacing(
        "\"conditionalUpdates\":true",
        with: "\"conditionalUpdates\":true,\"maxChanges\":{\"perSnapshot\":1}")
    }
    let ada = try world.user("ada")
    let other = try #require(world.org.create("Account", ["Name": "small 0"], as: ada).id)
    let family = try await family(world)
    let device = family.device
    try device.delete("parents", id: family.parent, now: world.org.now())
    try device.delete("children", id: family.child, now: world.org.now())
    try device.edit("small", id: other, ["Phone": "1"], now: world.org.now())
    try world.handBack(device, as: "night.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.notAttempted: 3])
    #expect(try world.record("Contact", family.child)["LastName"] == "Child")
  }

  @Test(arguments: ["parent", "child"])
  func `a family with a failed record stays together later`(_ contested: String) async throws {
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
      #expect(try await world.run(.ingest, .reconcile).open == [.conflict: 1, .blocked: 1])
    }
    #expect(
      try world.record("Account", parent)["Phone"] == (contested == "parent" ? "office" : .null))
    #expect(
      try world.record("Contact", child)["LastName"] == (contested == "child" ? "Office" : "Child"))
  }
}
