import JSON
import Testing

@Suite struct QueryWordsTests {
  private static let query = "SELECT Id, Name, Phone, OwnerId FROM Account WHERE OwnerId = :userId"

  @Test(arguments: [
    "SELECT a.Id, a.Name, a.Phone, a.Industry, a.Website FROM Account a WHERE a.OwnerId = :userId",
    "select id, NAME, phone, industry, WebSite from account where ownerid = :userId",
    "SELECT FIELDS(STANDARD) FROM Account WHERE OwnerId = :userId LIMIT 200",
  ])
  func `an edit of one field is reported in the singular`(_ query: String) async throws {
    let world = try World(file: OwnEffectsTests.pipeline.get().file("orders.json"))
    try world.rewrite(Self.query, query, in: "usersyncs.json")
    let ada = try world.user("ada")
    let fields: JSONObject = [
      "Name": "Mine", "Phone": "1", "Industry": "Energy", "Website": "https://one.example",
    ]
    let made = try #require(world.org.create("Account", fields, as: ada).id)
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    try device.edit("accounts", id: made, ["Phone": "2"], now: world.org.now())
    let changed = world.org.update(
      "Account", id: made, ["Phone": "3", "Name": "Ours"], as: try world.user("admin"))
    #expect(changed.errors == [])
    try world.handBack(device, as: "ada.sqlite")
    let night = try await world.runAllAsWritten()
    #expect(night.verdicts == [.conflict: 1])
    let scene = DecisionScene(world)
    let edit = try #require(try scene.edits(of: night.run).first)
    #expect(edit.detail.fields.map(\.name) == ["Phone"])
    #expect(edit.detail.outside.map(\.name) == [])
    // The device gets the org's values together with the edit.
    let fresh = try world.device("ada", as: "fresh")
    let row = try #require(
      try fresh.elements("accounts").first { $0["Id"]?.string == made && $0["Phone"] == "2" })
    #expect(row["Name"] == "Ours")
  }
}
