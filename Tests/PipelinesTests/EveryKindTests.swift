import JSON
import SmartStore
import Testing

@Suite struct EveryKindTests {
  let world: World
  init() throws { world = try World(file: Self.pipeline.get().file("kinds.json")) }

  static let pipeline = Result {
    let syncs = [
      SmallPipeline.down(
        "search", "found",
        #"""
        {"type":"sosl",
         "query":"FIND {Zebra} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate WHERE OwnerId = :userId)"}
        """#),
      SmallPipeline.down(
        "recent", "recent", #"{"type":"mru","sobjectType":"Account","fieldlist":["Name"]}"#),
      SmallPipeline.down(
        "refresh", "found",
        """
        {"type":"refresh","sobjectType":"Account","fieldlist":["Name","Phone"],"soupName":"found"}
        """),
      SmallPipeline.down(
        "families", "parents",
        """
        {"type":"parent_children","parent":{"sobjectType":"Account","soupName":"parents"},
         "parentFieldlist":["Name"],"parentSoqlFilter":"Name LIKE 'Zebra%'",
         "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts",
           "soupName":"children","parentIdFieldName":"AccountId"},
         "childrenFieldlist":["LastName"],"relationshipType":"MASTER_DETAIL"}
        """),
      SmallPipeline.down(
        "layout", "layouts",
        #"{"type":"layout","sobjectType":"Account","layoutType":"Compact","mode":"View"}"#),
      SmallPipeline.down("metadata", "metadata", #"{"type":"metadata","sobjectType":"Account"}"#),
    ]
    return try SmallPipeline(
      name: "kinds", soups: ["found", "recent", "parents", "children", "layouts", "metadata"],
      syncs: syncs, more: #""platforms":["ios","android"]"#
    ).write()
  }

  func makeZebras() throws -> (accounts: [String], contacts: [String]) {
    let ada = try world.user("ada")
    var accounts: [String] = []
    var contacts: [String] = []
    for number in 0..<3 {
      let fields: JSONObject = ["Name": .string("Zebra \(number)"), "Phone": "1"]
      let account = try #require(world.org.create("Account", fields, as: ada).id)
      accounts.append(account)
      let child: JSONObject = ["LastName": "Foal", "AccountId": .string(account)]
      contacts.append(try #require(world.org.create("Contact", child, as: ada).id))
    }
    return (accounts, contacts)
  }

  @Test func `each kind of sync down is primed, packed and left if unchanged`() async throws {
    let (accounts, contacts) = try makeZebras()
    let first = try await world.run()
    #expect(first.findings == [])
    for platform in Platform.allCases {
      let device = try world.device("ada", platform, as: "first-\(platform)")
      #expect(try world.ids("found", on: device) == accounts.sorted())
      #expect(try device.elements("found").allSatisfy { $0["Phone"] == "1" })
      #expect(try Set(world.ids("recent", on: device)).isSuperset(of: accounts))
      #expect(try world.ids("parents", on: device) == accounts.sorted())
      #expect(try world.ids("children", on: device) == contacts.sorted())
      let nothing = platform == .ios ? "(null)" : "null"
      #expect(
        try world.ids("layouts", on: device) == ["Account-\(nothing)-Compact-View-\(nothing)"])
      #expect(try device.elements("metadata").first?["keyPrefix"] == "001")
    }
    let before = try Tree.entries(world.data.path + "/users")
    #expect(try await world.run().snapshots.map(\.changed) == [false])
    #expect(try Tree.entries(world.data.path + "/users") == before)
  }

  @Test func `changes and deletions arrive with the next run`() async throws {
    let (accounts, contacts) = try makeZebras()
    try await world.run()
    let admin = try world.user("admin")
    #expect(world.org.delete(nil, id: contacts[0], as: admin).errors == [])
    #expect(world.org.update("Account", id: accounts[1], ["Phone": "2"], as: admin).errors == [])
    #expect(world.org.delete(nil, id: accounts[2], as: admin).errors == [])
    #expect(try await world.run().findings == [])
    let device = try world.device("ada", as: "second")
    #expect(try world.ids("found", on: device) == accounts[0..<2].sorted())
    #expect(try device.elements("found").compactMap { $0["Phone"]?.string }.sorted() == ["1", "2"])
    #expect(try world.ids("parents", on: device) == accounts[0..<2].sorted())
    #expect(try world.ids("children", on: device) == [contacts[1]])
    #expect(try !world.ids("recent", on: device).contains(accounts[2]))
  }
}
