import Crypto
import JSON
import LocalOrg
import Pipelines
import Rehearsal
import SmartStore
import System

/// A night's stores before they are ingested: one of each technician, with edits in a hundredth of its rows.
///
/// They are made once and kept; before each play the ledger is put back, and copies of them into the inbox.
struct IngestFleet {
  /// How many stores come back.
  let returns: Int
  /// Where it is made, and played again and again: a pipeline's data belong to the place of its file.
  let directory: String

  /// The rows of a store: about 50 MB with its indexes.
  static let rows = 51_600
  /// Of so many rows one is edited.
  private static let share = 100
  /// The edits of a store.
  static var edits: Int { rows / share }

  private static let name = "ingest"
  private static let clientID = "attache-ingest"
  private static let integration = "attache@example.com"

  var pipelineFile: String { directory + "/ingest.json" }
  var root: String { directory + "/snapshots" }
  private var data: DataDirectory { DataDirectory(root: root, name: Self.name) }
  /// The stores as they are handed back.
  private var handed: String { directory + "/returns" }
  /// The ledger as it is before they come.
  private var ledger: String { directory + "/before.sqlite" }
  private var mark: String { directory + "/made" }

  /// The paths of the stores.
  var files: [String] { (0..<returns).map { "\(handed)/\($0).sqlite" } }

  /// Makes the org, primes everybody and edits every store, unless that was done before.
  func make() async throws {
    if Files.exists(mark) { return }
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(handed, intermediate: true)
    let key = try PrivateKey.generateRSA()
    let certificate = try key.selfSignedCertificate(
      commonName: Self.clientID, days: 2, dnsNames: [], ipAddresses: [])
    for (name, text) in [("store", Self.storeFile), ("syncs", Self.syncsFile)] {
      try DurableFile.write(Array(text.utf8), to: "\(directory)/\(name).json")
    }
    try write(jobs: 2)
    let org = try filledOrg()
    var options = OrgServer.Options()
    options.apps = [Self.clientID: certificate]
    options.dailyLimit = Int.max
    options.writesLog = false
    let server = try OrgServer(org: org, options: options)
    defer { server.stop() }
    var run = RunOptions()
    run.stages = [.prime, .pack]
    let variables = [
      "ATTACHE_ORG_URL": server.url, "ATTACHE_CLIENT_ID": Self.clientID,
      "ATTACHE_JWT_KEY": String(decoding: key.pem, as: UTF8.self),
    ]
    _ = try await PipelineRun.execute(
      PipelineFile.read(path: pipelineFile, variables: variables), root: root, variables: variables,
      options: run, report: { _ in })
    for number in 0..<returns { try handBack(number, org) }
    for suffix in ["", "-wal"] where Files.exists(data.state + suffix) {
      try Files.copy(data.state + suffix, to: ledger + suffix)
    }
    try Files.remove(directory + "/org")
    try DurableFile.write([], to: mark)
  }

  /// Makes the users and the contacts, which all of them see.
  private func filledOrg() throws -> Org {
    try Files.makeDirectory(directory + "/org")
    let org = try Org(directory: directory + "/org")
    try org.addUser(Self.integration, lastName: "Attache", profile: "Integration")
    for number in 0..<returns {
      try org.addUser(
        Self.username(number), lastName: "Technician \(number)", profile: "Integration")
    }
    try org.seedBulk(object: Workload.object, count: Self.rows, owner: Self.integration)
    return org
  }

  private static func username(_ number: Int) -> String { "t\(number)@example.com" }

  /// Edits every hundredth row of a store, another one in each, and puts it where it is taken from.
  private func handBack(_ number: Int, _ org: Org) throws {
    guard let user = org.user(named: Self.username(number)) else {
      throw BenchFailure("the org has no user \(Self.username(number))")
    }
    let generation = data.generation(try data.generations(of: user.id).last ?? 0, of: user.id)
    guard let name = try Files.list(generation).first(where: { $0.hasPrefix("ios.bundle.") }) else {
      throw BenchFailure("there is no bundle in \(generation)")
    }
    let now = org.now() + Int64(number)
    let place = "\(directory)/device"
    let device = try Device.install(generation + "/" + name, .ios, into: place, now: now)
    let store = try Store(opening: device.storePath)
    store.clock = { now }
    var edited: [JSONValue] = []
    var row = 0
    try store.forEachElement(in: Workload.soup) { element in
      defer { row += 1 }
      guard row % Self.share == number % Self.share else { return }
      guard var object = try element.value().object else { return }
      object["Title"] = .string("edited by \(number)")
      object["__local__"] = true
      object["__locally_updated__"] = true
      edited.append(.object(object))
    }
    _ = try store.upsert(edited, into: Workload.soup)
    try store.close()
    try device.handBack(to: files[number], now: now)
    try Files.remove(place)
    // Nobody installs it again.
    try Files.remove(generation + "/" + name)
  }

  /// Puts everything back as it was before the stores came, and them into the inbox.
  func restore(jobs: Int) async throws {
    try write(jobs: jobs)
    let inbox = data.inbox("inbox")
    for place in [data.done, data.processing, data.quarantine, data.reports, inbox] {
      if Files.exists(place) { try Files.remove(place) }
    }
    for suffix in ["", "-wal", "-shm"] {
      try Files.remove(data.state + suffix)
      if Files.exists(ledger + suffix) { try Files.copy(ledger + suffix, to: data.state + suffix) }
    }
    try Files.makeDirectory(inbox)
    for file in files {
      let place = inbox + "/" + Files.name(of: file)
      try Files.copy(file, to: place)
      // As they lie there when a night begins.
      try Files.setModificationTime(
        of: place, nanoseconds: (Clock.wallMilliseconds() - 600_000) * 1_000_000)
    }
    // What is waited for in a play is its own; and what was written a moment ago is read twice.
    try DurableFile.synchronize(tree: inbox)
    try await Task.sleep(nanoseconds: 6_000_000_000)
  }

  private func write(jobs: Int) throws {
    let text = """
      {"format": 1, "name": "\(Self.name)",
       "org": {"url": {"env": "ATTACHE_ORG_URL"}, "apiVersion": "66.0", "concurrency": 4,
         "login": {"method": "jwt", "clientId": {"env": "ATTACHE_CLIENT_ID"},
           "key": {"env": "ATTACHE_JWT_KEY"}, "integrationUser": "\(Self.integration)"}},
       "users": {"query": "SELECT Id, Username FROM User WHERE IsActive = true AND \
      Profile.Name = 'Integration' AND Username != '\(Self.integration)'"},
       "stores": [{"schema": "store.json", "syncs": "syncs.json"}],
       "platforms": ["ios"], "inbox": {"settleSeconds": 0}, "limits": {"jobs": \(jobs)},
       "report": {"formats": ["json"]}}
      """
    try DurableFile.write(Array(text.utf8), to: pipelineFile)
  }

  static var storeFile: String {
    let indexes = Workload.indexes.map {
      "{\"path\": \"\($0.path)\", \"type\": \"\($0.type.rawValue)\"}"
    }
    return """
      {"soups": [{"soupName": "\(Workload.soup)", "indexes": [\(indexes.joined(separator: ", "))]}]}
      """
  }

  static var syncsFile: String {
    """
    {"syncs": [
      {"syncName": "down", "syncType": "syncDown", "soupName": "\(Workload.soup)",
       "target": {"type": "soql", "query": "\(Workload.query)"},
       "options": {"mergeMode": "OVERWRITE"}},
      {"syncName": "up", "syncType": "syncUp", "soupName": "\(Workload.soup)", "target": {},
       "options": {"fieldlist": ["Title", "Phone"], "mergeMode": "LEAVE_IF_CHANGED"}}]}
    """
  }
}
