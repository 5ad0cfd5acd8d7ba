import JSON
import LocalOrg
import TestSupport
import Testing

@Suite struct SeedTests {
  private static func org(_ directory: TemporaryDirectory) throws -> Org {
    try Org(directory: directory.path, options: .init(clockStart: SampleOrg.start))
  }

  private static func play(_ org: Org) throws {
    try org.seed()
    let ada = try #require(org.user(named: "ada@example.com"))
    _ = org.create("Account", ["Name": "New"], as: ada)
    _ = org.create("Account", ["Nme": "refused"], as: ada)
    let page = try org.query("SELECT Id FROM Contact", as: ada, batchSize: 10)
    let first = try #require(try JSONValue(parsing: page.records)[0]?["Id"]?.string)
    _ = org.update("Contact", id: first, ["Title": "Boss"], as: ada)
    _ = org.delete(nil, id: first, as: ada)
  }

  @Test func `two orgs that received the same calls are equal`() throws {
    let directories = [TemporaryDirectory("a"), TemporaryDirectory("b")]
    let dumps = try directories.map { directory in
      let org = try Self.org(directory)
      try Self.play(org)
      #expect(org.now() == SampleOrg.start + 3000)
      return try org.dump()
    }
    #expect(dumps[0] == dumps[1])
    // And one that was closed and reopened continues where it was.
    let again = try Self.org(directories[0])
    #expect(again.now() == SampleOrg.start + 3000)
    #expect(try again.dump() == dumps[0])
  }

  @Test func `a seed gives each technician a different, overlapping part`() throws {
    let directory = TemporaryDirectory("seed")
    let org = try Self.org(directory)
    try org.seed()
    let admin = try #require(org.user(named: "attache@example.com"))
    func count(_ object: String, _ user: OrgUser) throws -> Int {
      try org.query("SELECT COUNT() FROM \(object)", as: user).totalSize
    }
    for (object, expected) in [
      ("Account", 200), ("Contact", 500), ("Case", 300), ("WorkOrder", 400),
      ("ServiceAppointment", 400), ("Product2", 50), ("Site_Visit__c", 100),
    ] { #expect(try count(object, admin) == expected, "\(object)") }
    let technicians = org.users().filter { $0.profileName == "Field Technician" }
    #expect(
      technicians.map(\.username) == ["ada@example.com", "ben@example.com", "cleo@example.com"])
    let held = try technicians.map { user -> Set<String> in
      let page = try org.primingRecords(as: user, app: "any")
      #expect(page.relayToken == nil && page.ruleErrors.isEmpty)
      #expect(Set(page.entries.map(\.object)).count == 6)
      let ids = page.entries.filter { $0.object == "Account" }.map(\.id)
      let bytes = try org.retrieve("Account", ids: ids, fields: ["Id"], as: user)
      #expect(try JSONValue(parsing: bytes).array?.contains(.null) == false)
      return Set(page.entries.map(\.id))
    }
    for pair in [(0, 1), (1, 2), (0, 2)] {
      #expect(!held[pair.0].isDisjoint(with: held[pair.1]))
      #expect(!held[pair.0].isSubset(of: held[pair.1]))
    }
    let window = "SELECT COUNT() FROM Contact WHERE CreatedDate < LAST_N_DAYS:31"
    #expect(try org.query(window, as: admin).totalSize == 0)
    #expect(
      try org.query("SELECT COUNT() FROM Contact WHERE LastModifiedDate > TODAY", as: admin)
        .totalSize == 0)
  }

  @Test func `bulk seeding is counted, indexed and paged`() throws {
    let directory = TemporaryDirectory("bulk")
    let org = try Self.org(directory)
    try org.seedBulk(object: "Contact", count: 5000)
    let admin = try #require(org.user(named: "admin@example.com"))
    var page = try org.query("SELECT Id, Name, Email, LastModifiedDate FROM Contact", as: admin)
    var seen: Set<String> = []
    while true {
      let records = try #require(try JSONValue(parsing: page.records).array)
      seen.formUnion(records.compactMap { $0["Id"]?.string })
      guard let locator = page.locator else { break }
      page = try org.queryMore(locator, as: admin)
    }
    #expect(seen.count == 5000)
  }

  @Test func `bulk seeding writes texts of many lengths into a long text field`() throws {
    let directory = TemporaryDirectory("bulk")
    let org = try Self.org(directory)
    try org.seedBulk(object: "Site_Visit__c", count: 16)
    let admin = try #require(org.user(named: "admin@example.com"))
    let page = try org.query("SELECT Notes__c FROM Site_Visit__c", as: admin)
    let records = try #require(try JSONValue(parsing: page.records).array)
    let lengths = records.compactMap { $0["Notes__c"]?.string?.count }
    #expect(Set(lengths) == Set((1...8).map { $0 * 1000 }) && lengths.count == 16)
  }
}
