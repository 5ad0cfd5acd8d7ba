import Bundles
import JSON
import SmartStore
import Testing

/// A record that a user's own edit moves out of the syncs' selection is out of the next bundle,
/// which includes the return.
@Suite struct OwnEffectsTests {
  let world: World
  init() throws { world = try World(file: Self.pipeline.get().file("orders.json")) }

  /// Open orders, accounts of the user, and accounts that are not dormant with their contacts.
  ///
  /// IDs are listed every seventh run.
  static let pipeline = Result {
    func up(_ soup: String, _ fields: String) -> String {
      """
      {"syncName":"\(soup)Up","syncType":"syncUp","soupName":"\(soup)","target":{},
       "options":{"mergeMode":"LEAVE_IF_CHANGED","fieldlist":[\(fields)]}}
      """
    }
    let syncs = [
      SmallPipeline.down(
        "ordersDown", "orders",
        #"""
        {"type":"soql","query":"SELECT Id, Subject, Status FROM WorkOrder WHERE Status <> 'Completed'"}
        """#),
      SmallPipeline.down(
        "accountsDown", "accounts",
        #"""
        {"type":"soql","query":"SELECT Id, Name, Phone, OwnerId FROM Account WHERE OwnerId = :userId"}
        """#),
      SmallPipeline.down(
        "families", "parents",
        """
        {"type":"parent_children","parent":{"sobjectType":"Account","soupName":"parents"},
         "parentFieldlist":["Name","Industry"],"parentSoqlFilter":"Industry <> 'Dormant'",
         "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts",
           "soupName":"children","parentIdFieldName":"AccountId"},
         "childrenFieldlist":["LastName","AccountId"],"relationshipType":"LOOKUP"}
        """), up("orders", #""Subject","Status""#), up("accounts", #""Phone","OwnerId""#),
      up("parents", #""Industry""#),
    ]
    return try SmallPipeline(
      name: "orders", soups: ["orders", "accounts", "parents", "children"], syncs: syncs,
      integrationUser: "attache@example.com",
      more: #""platforms":["ios","android"],"reconcile":{"unansweredWaitSeconds":0}"#
    ).write()
  }

  private func orders(_ count: Int) throws -> [String] {
    let ada = try world.user("ada")
    return try (0..<count).map { number in
      let fields: JSONObject = ["Subject": .string("order \(number)"), "Status": "New"]
      return try #require(world.org.create("WorkOrder", fields, as: ada).id)
    }
  }

  private func ids(_ soup: String) throws -> [String] {
    try world.ids(soup, on: world.device("ada", as: "\(soup)\(world.server.log.count)"))
  }

  private func queries(_ body: () async throws -> Void) async rethrows -> Int {
    let before = world.server.log.counts[.query, default: 0]
    try await body()
    return world.server.log.counts[.query, default: 0] - before
  }

  @Test func `a work order that its user closed is not in the bundle of its return`() async throws {
    let made = try orders(3)
    let device = try await world.primed("ada")
    let before = try ids("orders")
    #expect(Set(before).isSuperset(of: made))
    try device.edit("orders", id: made[0], ["Status": "Completed"], now: world.org.now())
    try device.edit("orders", id: made[1], ["Subject": "changed"], now: world.org.now())
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.updated: 2])
    #expect(try ids("orders") == before.filter { $0 != made[0] })
    #expect(try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback) == [1])
    for platform in [Platform.ios, .android] {
      let fresh = try world.device("ada", platform, as: "each-\(platform)")
      #expect(try world.ids("orders", on: fresh) == before.filter { $0 != made[0] })
    }
  }

  @Test func `only records that did not arrive are requested, and once`() async throws {
    let made = try orders(3)
    try await world.run()
    let quiet = try await queries { try await world.run() }
    let device = try world.device("ada")
    try device.edit("orders", id: made[1], ["Subject": "changed"], now: world.org.now())
    try await world.run(device, as: "one.sqlite", .ingest, .reconcile)
    // It arrives unchanged.
    #expect(try await queries { try await world.run(.prime, .pack) } == quiet)
    try device.edit("orders", id: made[0], ["Status": "Completed"], now: world.org.now() + 1000)
    try await world.run(device, as: "two.sqlite", .ingest, .reconcile)
    #expect(try await queries { try await world.run(.prime, .pack) } == quiet + 1)
    #expect(try await queries { try await world.run(.prime, .pack) } == quiet)
  }

  @Test func `an edit that the org has already takes its record out of the bundle`() async throws {
    let made = try orders(1)
    let device = try await world.primed("ada")
    try device.edit("orders", id: made[0], ["Status": "Completed"], now: world.org.now())
    let admin = try world.user("admin")
    let closed = world.org.update("WorkOrder", id: made[0], ["Status": "Completed"], as: admin)
    #expect(closed.errors == [])
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.alreadyInOrg: 1])
    #expect(try !ids("orders").contains(made[0]))
  }

  /// Fifteen of twenty orders are more than the guard permits without a known reason.
  ///
  /// In the seventh run, all IDs are listed.
  @Test(arguments: [1, 6])
  func `a normal day's work does not trip the guard`(_ runs: Int) async throws {
    let made = try orders(20)
    for _ in 0..<runs { try await world.run() }
    let device = try world.device("ada")
    for id in made.prefix(15) {
      try device.edit("orders", id: id, ["Status": "Completed"], now: world.org.now())
    }
    for id in made.suffix(1) { try device.delete("orders", id: id, now: world.org.now()) }
    let summary = try await world.run(device, as: "ada.sqlite")
    #expect(summary.verdicts == [.updated: 15, .deleted: 1])
    #expect(!summary.findings.contains(.guardTripped))
    let left = try ids("orders")
    #expect(made.filter { left.contains($0) } == Array(made[15..<19]))
  }

  @Test func `a record that its user gave to another is not in the bundle`() async throws {
    let ada = try world.user("ada")
    let made = try #require(world.org.create("Account", ["Name": "Mine"], as: ada).id)
    let device = try await world.primed("ada")
    try world.handBack(
      device, as: "ada.sqlite", edited: made, ["OwnerId": .string(world.user("ben").id)])
    #expect(try await world.run().verdicts == [.updated: 1])
    #expect(try !ids("accounts").contains(made))
  }

  @Test func `a parent that no longer matches is removed with its children`() async throws {
    let ada = try world.user("ada")
    var families: [(parent: String, child: String)] = []
    for name in ["One", "Two"] {
      let fields: JSONObject = ["Name": .string(name), "Industry": "Energy"]
      let parent = try #require(world.org.create("Account", fields, as: ada).id)
      let child: JSONObject = ["LastName": "Child", "AccountId": .string(parent)]
      families.append((parent, try #require(world.org.create("Contact", child, as: ada).id)))
    }
    let device = try await world.primed("ada")
    #expect(Set(try ids("children")).isSuperset(of: families.map(\.child)))
    try world.handBack(
      device, as: "ada.sqlite", edited: families[0].parent, ["Industry": "Dormant"], in: "parents")
    #expect(try await world.run().verdicts == [.updated: 1])
    let (parents, children) = (try ids("parents"), try ids("children"))
    #expect(!parents.contains(families[0].parent) && parents.contains(families[1].parent))
    #expect(!children.contains(families[0].child) && children.contains(families[1].child))
  }

  @Test func `edits that a resumed run resolves are not in the bundle either`() async throws {
    let made = try orders(2)
    let device = try await world.primed("ada")
    try await world.die { if case .snapshotPrimed = $0 { true } else { false } }
    try device.edit("orders", id: made[0], ["Status": "Completed"], now: world.org.now())
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.updated: 1])
    #expect(try !ids("orders").contains(made[0]))
    #expect(try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback) == [1])
  }
}
