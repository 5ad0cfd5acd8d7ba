import JSON
import Testing

@Suite struct CompoundEditsTests {
  private static let query = "SELECT Id, Name, Phone, OwnerId FROM Account WHERE OwnerId = :userId"

  @Test func `an edit of a compound or related field is reported as not sent`() async throws {
    let world = try World(file: OwnEffectsTests.pipeline.get().file("orders.json"))
    try world.rewrite(
      Self.query,
      "SELECT Id, Name, Phone, BillingAddress, Owner.Name FROM Account WHERE OwnerId = :userId",
      in: "usersyncs.json")
    try world.rewrite(#"["Phone","OwnerId"]"#, #"["Name","Phone","OwnerId"]"#, in: "usersyncs.json")
    let ada = try world.user("ada")
    var made: [String] = []
    for number in 0..<4 {
      let fields: JSONObject = [
        "Name": .string("Place \(number)"), "BillingCity": "Bonn", "BillingStreet": "1",
      ]
      made.append(try #require(world.org.create("Account", fields, as: ada).id))
    }
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    let now = world.org.now()
    func held(_ id: String, _ name: String) throws -> JSONObject {
      let element = try device.elements("accounts").first { $0["Id"]?.string == id }
      return try #require(element?[name]?.object)
    }
    var address = try held(made[0], "BillingAddress")
    address["city"] = "Ulm"
    try device.edit("accounts", id: made[0], ["BillingAddress": .object(address)], now: now)
    var owner = try held(made[1], "Owner")
    owner["Name"] = "Ben"
    try device.edit("accounts", id: made[1], ["Owner": .object(owner)], now: now)
    try device.edit(
      "accounts", id: made[2], ["BillingAddress": .object(address), "Phone": "2"], now: now)
    try device.edit("accounts", id: made[3], [:], now: now)
    try device.create(
      "accounts", type: "Account", ["Name": "New", "BillingAddress": .object(address)],
      localID: "local_1", now: now)
    try world.handBack(device, as: "ada.sqlite")
    let night = try await world.runAllAsWritten()
    #expect(night.verdicts == [.notInFieldList: 2, .updated: 1, .unchanged: 1, .created: 1])
    let edits = try DecisionScene(world).edits(of: night.run)
    func outside(_ id: String?) -> [String] {
      edits.first { ($0.localID ?? $0.recordID) == id }?.detail.outside.map(\.name) ?? ["none"]
    }
    #expect(outside(made[0]) == ["BillingAddress"])
    #expect(outside(made[1]) == ["Owner"])
    #expect(outside(made[2]) == ["BillingAddress"])
    #expect(outside(made[3]) == [])
    #expect(outside("local_1") == ["BillingAddress"])
    #expect(try world.record("Account", made[0])["BillingCity"] == "Bonn")
  }
}
