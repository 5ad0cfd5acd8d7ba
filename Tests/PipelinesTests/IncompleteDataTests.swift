import Bundles
import JSON
import System
import Testing

/// Generations that lack data which the org could not supply: where their devices continue, and
/// which message they get.
@Suite struct IncompleteDataTests {
  let world: World
  private let rule: String
  init() throws {
    world = try World()
    let rules = try world.org.briefcaseRules(of: world.user("ada"), app: OrgTemplate.clientID)
    rule = try #require(rules.first { $0.object == "Contact" }).id
  }

  private func failRule() {
    world.server.faults.add(
      .kind(.priming), times: 1000, .ruleError(ruleID: rule, object: "Contact"))
  }

  /// Where a device with ada's newest bundle continues on its own, in milliseconds.
  private func cursor() throws -> Int64 {
    let states = try BundleReader.inspect(world.bundle("ada")).syncStates
    return try #require(states.first { $0.syncName == "syncDownBriefcase" }).maxTimeStamp
  }

  private func warnings() throws -> [String] {
    try BundleReader.inspect(world.bundle("ada")).warnings
  }

  private func modified(_ object: String, _ id: String) throws -> Int64 {
    let text = try #require(try world.record(object, id)["LastModifiedDate"]?.string)
    return try #require(Dates.milliseconds(iso8601: text))
  }

  @Test func `a first prime with a failed rule leaves devices without a cursor`() async throws {
    failRule()
    #expect(try await world.run().findings.contains(.incompleteData))
    #expect(try world.ids("contacts", on: world.device("ada", as: "one")) == [])
    #expect(try cursor() == -1)
    #expect(try warnings().contains { $0.contains(rule) })
    // The rule works again: the next generation is complete, and says so.
    world.server.faults.removeAll()
    #expect(try await !world.run().findings.contains(.incompleteData))
    let page = try world.org.query("SELECT Id FROM Contact", as: world.user("ada"))
    let contacts = try (JSONValue(parsing: page.records).array ?? []).compactMap {
      $0["Id"]?.string
    }
    #expect(contacts.count > 1)
    #expect(try world.ids("contacts", on: world.device("ada", as: "two")) == contacts.sorted())
    #expect(try warnings() == [])
    #expect(try cursor() > 0)
    #expect(try await world.run().bundles == [])
  }

  @Test func `a failed rule stops the cursor before the records it would give`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    let contact = try #require(try world.ids("contacts", on: device).first)
    let held = try cursor()
    let admin = try world.user("admin")
    #expect(world.org.update("Contact", id: contact, ["Phone": "2"], as: admin).errors == [])
    #expect(world.org.update("Account", id: account, ["Phone": "1"], as: admin).errors == [])
    failRule()
    try await world.run()
    #expect(try cursor() == held)
    #expect(try modified("Contact", contact) > held)
    #expect(try warnings().contains { $0.contains(rule) })
    world.server.faults.removeAll()
    try await world.run()
    #expect(try warnings() == [])
    #expect(try cursor() > held)
    let elements = try world.device("ada", as: "later").elements("contacts")
    #expect(elements.first { $0["Id"]?.string == contact }?["Phone"] == "2")
  }

  @Test func `a failed rule without records leaves no warning`() async throws {
    try await world.run()
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    let admin = try world.user("admin")
    #expect(world.org.update("Account", id: account, ["Phone": "1"], as: admin).errors == [])
    failRule()
    try await world.run()
    #expect(try !warnings().isEmpty)
    world.server.faults.removeAll()
    try await world.run()
    #expect(try warnings() == [])
    #expect(try cursor() >= modified("Account", account) - 600_000)
  }

  @Test(arguments: [true, false])
  func `an unreadable record holds back the cursor`(_ isInitialLoad: Bool) async throws {
    if !isInitialLoad { try await world.run() }
    let ada = try world.user("ada")
    func first(_ object: String) throws -> String {
      let page = try world.org.query(
        "SELECT Id FROM \(object) WHERE OwnerId = '\(ada.id)'", as: ada)
      return try #require(try JSONValue(parsing: page.records).array?.first?["Id"]?.string)
    }
    let (account, contact) = (try first("Account"), try first("Contact"))
    let admin = try world.user("admin")
    #expect(world.org.update("Contact", id: contact, ["Phone": "2"], as: admin).errors == [])
    // Another record changes later, beyond the overlap.
    for _ in 0..<800 {
      #expect(world.org.update("Account", id: account, ["Phone": "1"], as: admin).errors == [])
    }
    world.server.faults.add(.kind(.retrieve), times: 1000, .nullEntry(id: contact))
    #expect(try await world.run().findings.contains(.incompleteData))
    #expect(try cursor() < modified("Contact", contact))
    #expect(try warnings().contains { $0.contains("cannot be read") })
    world.server.faults.removeAll()
    try await world.run()
    #expect(try warnings() == [])
    #expect(try cursor() > modified("Contact", contact))
  }
}
