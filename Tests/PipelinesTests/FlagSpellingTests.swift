import JSON
import SmartStore
import System
import Testing

@Suite struct FlagSpellingTests {
  /// How an app writes a set flag and a clear one.
  struct Spelling: Sendable, CustomTestStringConvertible {
    var platform: Platform
    var yes: JSONValue
    var no: JSONValue
    var testDescription: String { "\(yes.text) on \(platform.rawValue)" }
  }

  private static let flags = [
    "__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__",
  ]

  @Test(arguments: [
    Spelling(platform: .ios, yes: .number("1"), no: .number("0")),
    Spelling(platform: .ios, yes: "1", no: "0"), Spelling(platform: .ios, yes: "YES", no: "NO"),
    Spelling(platform: .android, yes: "true", no: "false"),
    Spelling(platform: .android, yes: "True", no: .number("1")),
  ])
  func `flags of a return are read as the SDK reads them`(_ spelling: Spelling) async throws {
    let world = try World()
    let (device, account) = try await world.primed("ada", spelling.platform, first: "accounts")
    let own = try world.ids("contacts", on: device).filter {
      try world.record("Contact", $0)["OwnerId"]?.string == world.user("ada").id
    }
    let contact = try #require(own.first)
    let kept = try #require(own.last { $0 != contact })
    func write(_ soup: String, _ id: String, set: [String], _ fields: JSONObject) throws {
      let store = try Store(opening: device.storePath)
      var element = try store.elements(in: soup, where: "Id", is: id).first?.object ?? [:]
      element["Id"] = .string(id)
      for (name, value) in fields { element[name] = value }
      for name in Self.flags { element[name] = set.contains(name) ? spelling.yes : spelling.no }
      try store.upsert([.object(element)], into: soup)
      try store.close()
    }
    try write(
      "accounts", account, set: ["__local__", "__locally_updated__"], ["Phone": "+1 555 0171"])
    try write("contacts", contact, set: ["__local__", "__locally_deleted__"], [:])
    let attributes: JSONValue = ["type": "Contact"]
    try write(
      "contacts", "local_1", set: ["__local__", "__locally_created__"],
      ["LastName": "Made", "attributes": attributes])
    try write(
      "contacts", "local_2", set: ["__local__", "__locally_created__", "__locally_deleted__"],
      ["LastName": "Never", "attributes": attributes])
    // Whatever the ID is, nothing is sent.
    try write(
      "contacts", kept, set: ["__local__", "__locally_created__", "__locally_deleted__"], [:])
    let summary = try await world.run(device, as: "ada.sqlite")
    #expect(summary.verdicts == [.updated: 1, .deleted: 1, .created: 1, .unchanged: 2])
    #expect(try world.record("Contact", kept)["Id"]?.string == kept)
    #expect(try world.record("Account", account)["Phone"]?.string == "+1 555 0171")
    let admin = try world.user("admin")
    func count(_ condition: String) throws -> Int {
      try world.org.query("SELECT Id FROM Contact WHERE \(condition)", as: admin).totalSize
    }
    #expect(try count("Id = '\(contact)'") == 0)
    #expect(try count("LastName = 'Made'") == 1)
    #expect(try count("LastName = 'Never'") == 0)
  }
}
