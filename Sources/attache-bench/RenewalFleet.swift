import Crypto
import JSON
import LocalOrg
import Pipelines
import System

/// An org of many contacts and one user who has them all in a store for either platform, night after night.
final class RenewalFleet {
  /// How many contacts there are.
  let records: Int
  private let directory: String
  private let org: LocalOrg.Org
  private let admin: OrgUser
  private let server: OrgServer
  private let key: PrivateKey
  private var ids: [String] = []
  private var changes = 0

  private static let name = "renewal"
  private static let clientID = "attache-renewal"
  private static let integration = "attache@example.com"
  private static let user = "t0@example.com"

  static func pipelineFile(in directory: String) -> String { directory + "/renewal.json" }
  static func root(in directory: String) -> String { directory + "/snapshots" }

  /// Makes the org, serves it and writes the pipeline's files; all of it is thrown away by `end`.
  init(records: Int, directory: String) throws {
    self.records = records
    self.directory = directory
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory + "/org", intermediate: true)
    key = try PrivateKey.generateRSA()
    org = try LocalOrg.Org(directory: directory + "/org")
    try org.addUser(Self.integration, lastName: "Attache", profile: "Integration")
    try org.addUser(Self.user, lastName: "Technician", profile: "Integration")
    guard let admin = org.user(named: Self.integration) else {
      throw BenchFailure("the org has no user \(Self.integration)")
    }
    self.admin = admin
    try org.seedBulk(object: Workload.object, count: records, owner: Self.integration)
    var options = OrgServer.Options()
    options.apps = [
      Self.clientID: try key.selfSignedCertificate(
        commonName: Self.clientID, days: 2, dnsNames: [], ipAddresses: [])
    ]
    options.dailyLimit = Int.max
    options.writesLog = false
    server = try OrgServer(org: org, options: options)
    for (name, text) in [
      ("store", IngestFleet.storeFile), ("syncs", IngestFleet.syncsFile),
      (Self.name, Self.pipeline),
    ] {
      try DurableFile.write(Array(text.utf8), to: "\(directory)/\(name).json")
    }
    var page = try org.query("SELECT Id FROM \(Workload.object)", as: admin)
    while true {
      let rows = try JSONValue(parsing: page.records).array ?? []
      ids += rows.compactMap { $0["Id"]?.string }
      guard let locator = page.locator else { break }
      page = try org.queryMore(locator, as: admin)
    }
  }

  /// What a child that primes has to know of the org.
  var variables: [String: String] {
    [
      "ATTACHE_ORG_URL": server.url, "ATTACHE_CLIENT_ID": Self.clientID,
      "ATTACHE_JWT_KEY": String(decoding: key.pem, as: UTF8.self),
    ]
  }

  /// Removes all that was primed, so that the next prime begins anew.
  func forget() throws {
    let root = Self.root(in: directory)
    if Files.exists(root) { try Files.remove(root) }
  }

  /// Lets an hour pass in the org, in which every so manieth record is changed.
  func change(every share: Int) throws {
    try org.moveClock(by: 3_600_000)
    changes += 1
    guard share > 0 else { return }
    try org.transaction {
      for place in stride(from: 0, to: ids.count, by: share) {
        let outcome = org.update(
          Workload.object, id: ids[place], ["Title": .string("changed \(changes)")], as: admin)
        guard outcome.id != nil else { throw BenchFailure("\(ids[place]) was not changed") }
      }
    }
    try org.moveClock(by: 3_600_000)
  }

  /// Stops the org and throws everything away.
  func end() throws {
    server.stop()
    try Files.remove(directory)
  }

  private static let pipeline = """
    {"format": 1, "name": "\(name)",
     "org": {"url": {"env": "ATTACHE_ORG_URL"}, "apiVersion": "66.0", "concurrency": 4,
       "login": {"method": "jwt", "clientId": {"env": "ATTACHE_CLIENT_ID"},
         "key": {"env": "ATTACHE_JWT_KEY"}, "integrationUser": "\(integration)"}},
     "users": {"query": "SELECT Id, Username FROM User WHERE Username = '\(user)'"},
     "stores": [{"schema": "store.json", "syncs": "syncs.json"}],
     "platforms": ["ios", "android"], "keep": {"generations": 1},
     "report": {"formats": ["json"]}}
    """
}
