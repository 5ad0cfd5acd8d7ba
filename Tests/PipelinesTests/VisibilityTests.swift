import Bundles
import HTTP
import JSON
import LocalOrg
import Pipelines
import SmartStore
import System
import TestSupport
import Testing

@Suite struct VisibilityTests {
  let client: HTTPClient
  init() throws { client = try HTTPClient() }

  static let soups = [
    "accounts": "Account", "contacts": "Contact", "workorders": "WorkOrder",
    "appointments": "ServiceAppointment", "cases": "Case", "sitevisits": "Site_Visit__c",
  ]

  func ids(_ object: String, as name: String, _ world: World) async throws -> [String] {
    let soql = HTTPQuery.encode("SELECT Id FROM \(object) ORDER BY Id")
    var request = HTTPRequest("GET", world.server.url + "/services/data/v66.0/query?q=" + soql)
    let token = try world.server.token(for: world.user(name).username, app: OrgTemplate.clientID)
    request.headers["Authorization"] = "Bearer " + token
    let answer = try await client.send(request)
    #expect(answer.status == 200)
    let json = try JSONValue(parsing: answer.body)
    #expect(json["done"]?.bool == true)
    return (json["records"]?.array ?? []).compactMap { $0["Id"]?.string }
  }

  @Test(arguments: [Platform.ios, .android])
  func `each store has exactly what its user's token reads`(_ platform: Platform) async throws {
    let world = try await World.primed()
    var seen: [String: Set<String>] = [:]
    for name in ["ada", "ben", "cleo"] {
      let device = try world.device(name, platform)
      for (soup, object) in Self.soups {
        let held = try world.ids(soup, on: device)
        #expect(try await held == ids(object, as: name, world), "\(name), \(soup)")
        if object == "Account" { seen[name] = Set(held) }
      }
    }
    let (ada, ben) = (try #require(seen["ada"]), try #require(seen["ben"]))
    #expect(ada.count == 5)
    #expect(ada != ben)
    #expect(ada.intersection(ben).count == 1)
  }

  @Test func `no byte of a record that a user lost is in the next bundle`() async throws {
    let world = try World()
    let admin = try world.user("admin")
    let (shared, own) = try markRecords(world, as: admin)
    try await world.run()
    #expect(try hits(Self.canaries, world, "ben").count == 3)

    try world.org.unshare(shared, from: "ben@example.com")
    for id in own { try world.org.transfer(id, to: "cleo@example.com") }
    let summary = try await world.run { $0.maxDeletes = Percentage(100) }
    #expect(summary.snapshots.first { $0.username == "ben@example.com" }?.changed == true)
    #expect(try hits(Self.canaries, world, "ben") == [])
    // The search finds them where they belong.
    #expect(try hits(Self.canaries, world, "cleo").count == 3)
  }

  private static let canaries = ["canary-of-the-share", "canary-owned", "canary-of-a-contact"]

  /// Writes canaries into a record that ben shares and into two that he owns.
  private func markRecords(
    _ world: World, as admin: OrgUser
  ) throws -> (shared: String, own: [String]) {
    let (ben, ada) = (try world.user("ben"), try world.user("ada"))
    func first(_ soql: String) throws -> String {
      return try #require(try world.column(soql).first)
    }
    let shared = try first("SELECT Id FROM Account WHERE OwnerId = '\(ada.id)' ORDER BY Id")
    let own = try first("SELECT Id FROM Account WHERE OwnerId = '\(ben.id)' ORDER BY Id DESC")
    let contact = try first("SELECT Id FROM Contact WHERE AccountId = '\(own)' ORDER BY Id")
    try world.org.share(shared, with: "cleo@example.com")
    let changes: [(String, String, JSONObject)] = [
      ("Account", shared, ["Phone": .string(Self.canaries[0])]),
      ("Account", own, ["Description": .string(Self.canaries[1])]),
      ("Contact", contact, ["Title": .string(Self.canaries[2])]),
    ]
    for (object, id, fields) in changes {
      #expect(world.org.update(object, id: id, fields, as: admin).errors == [])
    }
    return (shared, [own, contact])
  }

  /// The canaries found in any file of a user's newest generation or in the contents of its
  /// bundles.
  private func hits(_ canaries: [String], _ world: World, _ name: String) throws -> Set<String> {
    let id = try world.user(name).id
    let newest = try #require(try world.data.generations(of: id).last)
    let generation = world.data.generation(newest, of: id)
    var directories = [generation]
    for platform in [Platform.ios, .android] {
      let unpacked = world.directory.file("unpacked/\(name)-\(newest)-\(platform.rawValue)")
      try Files.makeDirectory(world.directory.file("unpacked"))
      try BundleReader.extract(try world.bundle(name, platform), to: unpacked)
      directories.append(unpacked)
    }
    var found: Set<String> = []
    for directory in directories {
      for file in try Tree.files(directory) {
        for canary in canaries where try Tree.contains(canary, in: directory + "/" + file) {
          found.insert(canary)
        }
      }
    }
    return found
  }

  @Test func `a single-user login is refused for three users with a briefcase`() throws {
    let directory = TemporaryDirectory("login")
    try Tree.copy(World.repository + "/pipelines", to: directory.file("pipelines"))
    let path = directory.file("pipelines/demo.json")
    var text = String(decoding: try Files.read(path), as: UTF8.self)
    let login = """
      "login": {
            "method": "clientCredentials", "clientId": "app", "clientSecret": { "env": "SECRET" }
          }
      """
    text = text.replacing(/"login": \{[^}]*\}[^}]*\}[^}]*\}/, with: login)
    let names = #""list": ["ada@example.com", "ben@example.com", "cleo@example.com"],"#
    text = text.replacing(/"query": "SELECT[^\n]*/, with: names)
    try DurableFile.write(Array(text.utf8), to: path)
    let problems = PipelineFile.reading(path: path).problems.map(\.description)
    #expect(problems.count == 1)
    #expect(
      problems.first?.contains(
        "a login by clientCredentials can only be one user, but \"syncDownBriefcase\" is a "
          + "briefcase, which the org fills separately for each user") == true)
    #expect(throws: Problems.self) { try PipelineFile.read(path: path) }

    let one = text.replacingOccurrences(of: #", "ben@example.com", "cleo@example.com""#, with: "")
    try DurableFile.write(Array(one.utf8), to: path)
    #expect(PipelineFile.reading(path: path).problems.map(\.description) == [])
  }
}
