import JSON
import LocalOrg
import MobileSync
import Pipelines
import SmartStore
import System
import TestSupport

/// Users who see mostly the same contacts, and a pipeline that primes them.
struct FleetScene: Sendable {
  /// How the contacts are fetched.
  enum Kind: String, CaseIterable, Sendable {
    case soql, briefcase

    /// The mode in which records are shared.
    var mode: RecordPool.Mode { self == .soql ? .always : .auto }
  }

  let world: World
  let kind: Kind
  let users: [String]

  /// A fleet without contacts.
  ///
  /// One user is primed after the other if `jobs` is 1.
  init(users count: Int, _ kind: Kind, fields: [String], jobs: Int = 2) throws {
    self.kind = kind
    users = (0..<count).map { "t\($0)@example.com" }
    let files = TemporaryDirectory("fleet-files")
    for (name, text) in Self.files(kind, fields, jobs: jobs) {
      try DurableFile.write(Array(text.utf8), to: files.file(name))
    }
    world = try World(
      TemporaryDirectory("fleet"), file: files.file("fleet.json"), change: { $0 },
      server: { $0.dailyLimit = .max })
    for (number, user) in users.enumerated() {
      try world.org.addUser(user, lastName: Self.word(number), profile: "Field Technician")
    }
    try world.org.addBriefcase(
      "Contacts", rules: [BriefcaseRule("Contact", limit: 50_000)], users: users)
  }

  /// The last name of a user, as a word that is found in files.
  static func word(_ number: Int) -> String { "zq\(number)zq" }

  /// Creates contacts that all users see, and others that each user alone sees.
  func fill(shared: Int, own: Int) throws {
    let org = world.org
    try org.seedBulk(object: "Contact", count: shared, owner: OrgUser.adminUsername)
    let ids = try contacts()
    for user in users { try org.seedBulk(object: "Contact", count: own, owner: user) }
    try org.transaction { for user in users { try org.share(ids, with: user) } }
    // Nothing counts as recently changed.
    try org.moveClock(by: 86_400_000)
  }

  /// The IDs of all contacts.
  func contacts() throws -> [String] {
    let admin = try world.user("admin")
    var page = try world.org.query("SELECT Id FROM Contact", as: admin)
    var ids: [String] = []
    while true {
      ids += try JSONValue(parsing: page.records).array?.compactMap { $0["Id"]?.string } ?? []
      guard let locator = page.locator else { return ids }
      page = try world.org.queryMore(locator, as: admin)
    }
  }

  /// Defines the formula field `Tag__c` of contacts.
  static func tag(_ org: Org, _ formula: String) throws {
    let text = #"""
      {"objects": {"Contact": {"fields": {"Tag__c": {"type": "string", "formula": "\#(formula)"}}}}}
      """#
    try org.setUp(OrgSetup(parsing: Array(text.utf8)))
  }

  private static func files(_ kind: Kind, _ fields: [String], jobs: Int) -> [String: String] {
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
       "users":{"query":"SELECT Id, Username FROM User WHERE Username LIKE 't%@example.com'"},
       "limits":{"jobs":\#(jobs)},"prime":{"share":"\#(kind.mode.rawValue)"},"platforms":["ios"],
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

  // MARK: runs

  /// The data of the runs in a mode.
  func data(_ mode: RecordPool.Mode) -> DataDirectory {
    DataDirectory(root: world.root + "-" + mode.rawValue, name: world.pipeline.name)
  }

  /// Runs stages in a mode, and returns what the org answered; `change` sets other settings.
  func run(
    _ mode: RecordPool.Mode, _ stages: Set<Stage> = [.prime],
    change: (inout Pipeline) -> Void = { _ in }
  ) async throws -> (summary: RunSummary, totals: RequestLog.Totals) {
    let before = world.server.log.count
    var options = RunOptions()
    options.stages = stages
    options.retryPause = .none
    var pipeline = world.pipeline
    pipeline.prime.share = mode
    change(&pipeline)
    let summary = try await PipelineRun.execute(
      pipeline, root: world.root + "-" + mode.rawValue, variables: world.variables,
      options: options, report: { _ in })
    return (summary, world.server.log.totals(after: before))
  }

  /// The newest generation's directory of a user; nil if there is none.
  func newest(of user: String, in data: DataDirectory) throws -> String? {
    guard let id = world.org.user(named: user)?.id, let number = try data.generations(of: id).last
    else { return nil }
    return data.generation(number, of: id)
  }

  /// The rows of a user's newest store, without what depends on the order of arrival.
  func rows(of user: String, in data: DataDirectory) throws -> [String] {
    guard let directory = try newest(of: user, in: data) else { return [] }
    return try Tree.files(directory + "/ios").flatMap { name -> [String] in
      let store = try Store(opening: directory + "/ios/" + name, readOnly: true)
      var rows: [String] = []
      try store.forEachElement(in: "contacts") { element in
        var object = try element.value().object ?? [:]
        for name in ["_soupEntryId", "_soupLastModifiedDate"] { object[name] = nil }
        rows.append(JSONValue.object(object).text)
      }
      return rows.sorted()
    }
  }

  func rows(of user: String, _ mode: RecordPool.Mode) throws -> [String] {
    try rows(of: user, in: data(mode))
  }
}
