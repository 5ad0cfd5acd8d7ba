import Crypto
import JSON
import LocalOrg
import Pipelines
import System

/// An org of contacts, the users who see all of them, an app to log in with, and a pipeline, for
/// workloads that run a pipeline.
struct BenchFleet: Sendable {
  /// The name of the pipeline and of its file.
  let name: String
  /// The directory of the org, the files and the data, because a pipeline's data directory is next
  /// to its file.
  let directory: String
  /// The profile of the users.
  var profile = Self.integrationProfile

  /// The user who lists the users and owns the contacts.
  static let integration = OrgUser.integrationUsername
  private static let clientID = "attache-bench"
  /// The profile of the integration user, who sees all records.
  private static let integrationProfile = "Integration"

  var pipelineFile: String { "\(directory)/\(name).json" }
  var root: String { directory + "/snapshots" }
  var data: DataDirectory { DataDirectory(root: root, name: name) }
  private var orgDirectory: String { directory + "/org" }

  static func username(_ number: Int) -> String { "t\(number)@example.com" }

  // MARK: the org

  /// Creates the org in an empty directory.
  func makeOrg(users: Int, records: Int) throws -> LocalOrg.Org {
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(orgDirectory, intermediate: true)
    let org = try LocalOrg.Org(directory: orgDirectory)
    try org.addUser(Self.integration, lastName: "Attache", profile: Self.integrationProfile)
    for number in 0..<users {
      try org.addUser(
        Self.username(number), lastName: "Technician \(number)", profile: profile)
    }
    try org.seedBulk(object: ObjectShape.contact.object, count: records, owner: Self.integration)
    return org
  }

  /// Deletes the org.
  func removeOrg() throws { try Files.remove(orgDirectory) }

  /// A user of the org.
  static func user(_ name: String, of org: LocalOrg.Org) throws -> OrgUser {
    guard let user = org.user(named: name) else {
      throw BenchFailure("the org has no user \(name)")
    }
    return user
  }

  /// The IDs of all records of an object.
  static func ids(of object: String, in org: LocalOrg.Org, as user: OrgUser) throws -> [String] {
    var page = try org.query("SELECT Id FROM \(object)", as: user)
    var ids: [String] = []
    while true {
      let rows = try JSONValue(parsing: page.records).array ?? []
      ids += rows.compactMap { $0["Id"]?.string }
      guard let locator = page.locator else { return ids }
      page = try org.queryMore(locator, as: user)
    }
  }

  /// A running org, with the variables that a run needs.
  struct Served {
    let server: OrgServer
    let variables: [String: String]
  }

  /// Serves an org to the pipeline's app.
  func serve(_ org: LocalOrg.Org) throws -> Served {
    let key = try PrivateKey.generateRSA()
    var options = OrgServer.Options()
    options.apps = [
      Self.clientID: try key.selfSignedCertificate(
        commonName: Self.clientID, days: 2, dnsNames: [], ipAddresses: [])
    ]
    options.dailyLimit = Int.max
    options.writesLog = false
    let server = try OrgServer(org: org, options: options)
    return Served(
      server: server,
      variables: Self.variables(server.url, key: String(decoding: key.pem, as: UTF8.self)))
  }

  /// The variables of a run that uses no org.
  static let offline = variables("http://127.0.0.1:9", key: "none")

  private static func variables(_ url: String, key: String) -> [String: String] {
    ["ATTACHE_ORG_URL": url, "ATTACHE_CLIENT_ID": clientID, "ATTACHE_JWT_KEY": key]
  }

  // MARK: the pipeline

  /// Writes the files that the pipeline file refers to.
  func write(store: String = Self.storeFile, syncs: String = Self.syncsFile) throws {
    for (name, text) in [("store", store), ("syncs", syncs)] {
      try DurableFile.write(Array(text.utf8), to: "\(directory)/\(name).json")
    }
  }

  /// Writes the pipeline file with the required members and these ones; everything else has its
  /// default.
  func write(members: String) throws {
    let text = """
      {"format": 1, "name": "\(name)",
       "org": {"url": {"env": "ATTACHE_ORG_URL"}, "apiVersion": "66.0",
         "login": {"method": "jwt", "clientId": {"env": "ATTACHE_CLIENT_ID"},
           "key": {"env": "ATTACHE_JWT_KEY"}, "integrationUser": "\(Self.integration)"}},
       "users": {"query": "SELECT Id, Username FROM User WHERE IsActive = true AND \
      Profile.Name = '\(profile)' AND Username != '\(Self.integration)'"},
       "stores": [{"schema": "store.json", "syncs": "syncs.json"}],
       "report": {"formats": ["json"]}, \(members)}
      """
    try DurableFile.write(Array(text.utf8), to: pipelineFile)
  }

  /// Runs stages of the pipeline.
  @discardableResult
  func run(
    _ stages: Set<Stage>, part: RunPart = .whole, _ variables: [String: String]
  ) async throws -> RunSummary {
    var options = RunOptions()
    (options.stages, options.part) = (stages, part)
    return try await PipelineRun.execute(
      PipelineFile.read(path: pipelineFile, variables: variables), root: root, variables: variables,
      options: options, report: { _ in })
  }

  /// The newest generation of a user.
  func generation(of username: String, in org: LocalOrg.Org) throws -> String {
    let id = try Self.user(username, of: org).id
    return data.generation(try data.generations(of: id).last ?? 0, of: id)
  }

  static var storeFile: String {
    let indexes = ObjectShape.contact.indexes.map {
      "{\"path\": \"\($0.path)\", \"type\": \"\($0.type.rawValue)\"}"
    }
    return """
      {"soups": [{"soupName": "\(ObjectShape.contact.soup)", "indexes": [\(indexes.joined(separator: ", "))]}]}
      """
  }

  static var syncsFile: String {
    """
    {"syncs": [
      {"syncName": "down", "syncType": "syncDown", "soupName": "\(ObjectShape.contact.soup)",
       "target": {"type": "soql", "query": "\(ObjectShape.contact.query)"},
       "options": {"mergeMode": "OVERWRITE"}},
      {"syncName": "up", "syncType": "syncUp", "soupName": "\(ObjectShape.contact.soup)", "target": {},
       "options": {"fieldlist": ["Title", "Phone"], "mergeMode": "LEAVE_IF_CHANGED"}}]}
    """
  }
}
