import JSON
import LocalOrg
import Pipelines
import System
import TestSupport

/// Users who see mostly the same contacts, and a pipeline that primes them.
struct FleetScene: Sendable {
  /// How the contacts are fetched.
  enum Kind: String, CaseIterable { case soql, briefcase }

  let world: World
  let users: Int
  /// The contacts that all users see, and those that each user alone sees.
  let (shared, own): (Int, Int)

  var each: Int { shared + own }
  var distinct: Int { shared + users * own }

  /// A fleet whose users see `each` contacts, nine of ten the same.
  init(users: Int, each: Int, _ kind: Kind, share: String) throws {
    self.users = users
    (shared, own) = (each * 9 / 10, each - each * 9 / 10)
    let files = TemporaryDirectory("fleet-files")
    for (name, text) in Self.files(kind, share: share) {
      try DurableFile.write(Array(text.utf8), to: files.file(name))
    }
    world = try World(
      TemporaryDirectory("fleet"), file: files.file("fleet.json"), change: { $0 },
      server: { $0.dailyLimit = .max })
    try fill()
  }

  private func fill() throws {
    let org = world.org
    let names = (0..<users).map { "t\($0)@example.com" }
    try org.seedBulk(object: "Contact", count: shared, owner: OrgUser.adminUsername)
    let ids = try world.column("SELECT Id FROM Contact")
    for name in names {
      try org.addUser(name, lastName: name, profile: "Field Technician")
      try org.seedBulk(object: "Contact", count: own, owner: name)
    }
    try org.transaction { for id in ids { for name in names { try org.share(id, with: name) } } }
    try org.addBriefcase(
      "Contacts", rules: [BriefcaseRule("Contact", limit: shared + own)], users: names)
    // Nothing counts as recently changed.
    try org.moveClock(by: 86_400_000)
  }

  private static let fields = [
    "FirstName", "LastName", "Salutation", "Title", "Department", "Phone", "MobilePhone", "Email",
    "MailingCity",
  ]

  private static func files(_ kind: Kind, share: String) -> [String: String] {
    let list = fields.map { "\"\($0)\"" }.joined(separator: ",")
    let target =
      switch kind {
      case .soql:
        #"{"type":"soql","query":"SELECT Id, \#(fields.joined(separator: ", ")) FROM Contact"}"#
      case .briefcase:
        #"{"type":"briefcase","infos":[{"sobjectType":"Contact","soupName":"contacts","fieldlist":[\#(list)]}]}"#
      }
    return [
      "fleet.json": #"""
      {"format":1,"name":"fleet",
       "org":{"url":{"env":"ATTACHE_ORG_URL"},"login":{"method":"jwt",
         "clientId":{"env":"ATTACHE_CLIENT_ID"},"key":{"env":"ATTACHE_JWT_KEY"},
         "integrationUser":"\#(OrgUser.adminUsername)"}},
       "users":{"query":"SELECT Id, Username FROM User WHERE Profile.Name = 'Field Technician'"},
       "prime":{"share":"\#(share)"},"platforms":["ios"],
       "stores":[{"schema":"store.json","syncs":"syncs.json"}]}
      """#,
      "store.json": #"""
      {"soups":[{"soupName":"contacts","indexes":[{"path":"Id","type":"string"},
        {"path":"LastName","type":"string"},{"path":"__local__","type":"string"},
        {"path":"__sync_id__","type":"integer"}]}]}
      """#,
      "syncs.json": #"{"syncs":[\#(SmallPipeline.down("down", "contacts", target))]}"#,
    ]
  }

  /// Primes the fleet, and returns what the org answered.
  func prime() async throws -> (summary: RunSummary, totals: RequestLog.Totals) {
    let before = world.server.log.count
    var options = RunOptions()
    options.stages = [.prime]
    let summary = try await PipelineRun.execute(
      world.pipeline, root: world.root, variables: world.variables, options: options,
      report: { _ in })
    return (summary, world.server.log.totals(after: before))
  }
}
