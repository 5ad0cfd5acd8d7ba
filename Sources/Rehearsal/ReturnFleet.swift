import Crypto
import JSON
import LocalOrg
import Pipelines
import SmartStore
import System

/// A benchmark run with many returns: technicians who each edit many records offline, in a separate
/// org.
///
/// In each return, one edit in fifty conflicts with a change in the org, one in a hundred is
/// refused by the org, and one in twenty creates a record. Of every four returns, two have an edit
/// of the same record.
package struct ReturnFleet: Sendable {
  /// The number of devices that return a store.
  package let returns: Int
  /// The number of edits in each return.
  package let edits: Int
  /// The directory of the org, the pipeline and its data.
  package let directory: String
  /// The values that the pipeline file reads, except the org's address.
  private let key: (pem: String, certificate: [UInt8])

  private static let clientID = "attache-fleet"
  static let office = OrgUser.adminUsername
  private static let soups = [
    "accounts": ["Name", "Phone"], "contacts": ["LastName", "AccountId"],
  ]

  /// The number of a return's edits that create a record, that conflict, and that are refused.
  private var shares: (creates: Int, conflicts: Int, failures: Int) {
    (max(1, edits / 20), max(1, edits / 50), max(1, edits / 100))
  }

  /// The number of records that each return creates.
  var creates: Int { shares.creates }

  /// Creates a fleet in an empty directory, without any files yet.
  package init(returns: Int, edits: Int, directory: String) throws {
    (self.returns, self.edits, self.directory) = (returns, edits, directory)
    let key = try PrivateKey.generateRSA()
    self.key = (
      String(decoding: key.pem, as: UTF8.self),
      try key.selfSignedCertificate(
        commonName: Self.clientID, days: 2, dnsNames: [], ipAddresses: [])
    )
  }

  /// Opens the org.
  package func org() throws -> Org { try Org(directory: directory + "/org") }

  package func serve(_ org: Org) throws -> OrgServer {
    var options = OrgServer.Options()
    options.apps = [Self.clientID: key.certificate]
    options.dailyLimit = Int.max
    options.writesLog = false
    return try OrgServer(org: org, options: options)
  }

  /// The pipeline's data directory.
  package var root: String { directory + "/snapshots" }

  /// Returns the environment of a run.
  package func variables(_ server: OrgServer) -> [String: String] {
    [
      "ATTACHE_ORG_URL": server.url, "ATTACHE_CLIENT_ID": Self.clientID, "ATTACHE_JWT_KEY": key.pem,
    ]
  }

  /// Returns the pipeline, with a maximum number of concurrent requests.
  package func pipeline(concurrency: Int) throws -> Pipeline {
    let file = directory + "/fleet.json"
    try DurableFile.write(Array(Self.pipelineFile(concurrency).utf8), to: file)
    return try PipelineFile.read(path: file)
  }

  /// Saves the current state, to be restored for another run.
  package func save(to place: String) throws { try Self.copy(directory, to: place) }

  /// Restores a saved state.
  package func restore(from place: String) throws {
    // In the original location, because a pipeline's data belong to its file.
    try Files.remove(directory)
    try Self.copy(place, to: directory)
  }

  private static func copy(_ source: String, to target: String) throws {
    if Files.isSymbolicLink(source) {
      return try DurableFile.link(target, to: Files.target(ofLink: source))
    }
    guard Files.isDirectory(source) else { return try Files.copy(source, to: target) }
    try Files.makeDirectory(target, intermediate: true)
    for name in try Files.list(source) { try copy(source + "/" + name, to: target + "/" + name) }
  }

  // MARK: preparation

  /// Creates the org, primes all users, edits on every device and ingests the returns.
  ///
  /// Only the reconciliation is left.
  package func prepare() async throws {
    try Files.makeDirectory(directory, intermediate: true)
    for (name, text) in [("userstore", Self.storeFile), ("usersyncs", Self.syncsFile)] {
      try DurableFile.write(Array(text.utf8), to: "\(directory)/\(name).json")
    }
    try Files.makeDirectory(directory + "/org")
    let org = try org()
    let accounts = try fill(org)
    let server = try serve(org)
    defer { server.stop() }
    try await run(server, [.prime, .pack], concurrency: 4)
    let data = DataDirectory(root: root, name: "fleet")
    for number in 0..<returns { try handBack(number, org, data) }
    try changeInTheOffice(org, accounts)
    try await run(server, [.ingest], concurrency: 4)
  }

  @discardableResult
  package func run(
    _ server: OrgServer, _ stages: Set<Stage>, concurrency: Int
  ) async throws -> RunSummary {
    var options = RunOptions()
    options.stages = stages
    return try await PipelineRun.execute(
      pipeline(concurrency: concurrency), root: root, variables: variables(server),
      options: options, report: { _ in })
  }

  /// Injects faults, some of each kind for every hundred returns: lost answers, requests that never
  /// arrive, a locked row, server errors, a session that ends.
  package func strike(_ server: OrgServer) {
    for place in stride(from: 0, to: max(1, returns * 8 / 10), by: 80) {
      let faults = server.faults
      faults.add(.kind(.composite), nth: 2 + place * 4 / 8, .drop(afterCommit: true))
      faults.add(.kind(.composite), nth: 9 + place * 4 / 8, .drop(afterCommit: false))
      faults.add(.kind(.collectionCreate), nth: 2 + place / 8, .drop(afterCommit: true))
      faults.add(
        .kind(.collectionCreate), nth: 4 + place / 8,
        .refusePart(0, code: "UNABLE_TO_LOCK_ROW", message: "unable to lock row"))
      faults.add(.kind(.retrieve), nth: 5 + place / 4, .status(503, code: "SERVER_UNAVAILABLE"))
      faults.add(.kind(.describe), nth: 3 + place / 4, .expireSession)
    }
  }

  static func username(_ number: Int) -> String { "t\(number)@example.com" }

  /// Creates the users and their accounts, and returns the accounts' IDs by user.
  private func fill(_ org: Org) throws -> [[String]] {
    var accounts: [[String]] = []
    try org.addUser(OrgUser.integrationUsername, lastName: "Attache", profile: "Integration")
    for number in 0..<returns {
      let user = try org.addUser(
        Self.username(number), lastName: "Technician \(number)", profile: "Field Technician")
      accounts.append(
        try org.transaction {
          try (0..<(edits - shares.creates)).map { place in
            let outcome = org.create(
              "Account", ["Name": .string(Self.account(number, place)), "Phone": "1"], as: user)
            if let error = outcome.errors.first { throw error }
            return outcome.id ?? ""
          }
        })
    }
    for number in stride(from: 0, to: returns - 1, by: 4) {
      try org.share(accounts[number][0], with: Self.username(number + 1))
    }
    return accounts
  }

  static func account(_ number: Int, _ place: Int) -> String { "account \(number).\(place)" }

  /// What a device does with one of its accounts.
  enum Deed {
    case update, conflict, failure, deviceConflict
  }

  func deed(_ number: Int, _ place: Int) -> Deed {
    if number % 4 == 0, number + 1 < returns, place == 0 { return .deviceConflict }
    switch place - 1 {
    case 0..<shares.conflicts: return .conflict
    case shares.conflicts..<(shares.conflicts + shares.failures): return .failure
    default: return .update
    }
  }

  static func store(of number: Int, in directory: String) -> String {
    "\(directory)/devices/\(number)"
  }

  private func handBack(_ number: Int, _ org: Org, _ data: DataDirectory) throws {
    let username = Self.username(number)
    guard let user = org.user(named: username) else { throw RehearsalError.noUser(username) }
    let generation = data.generation(try data.generations(of: user.id).last ?? 0, of: user.id)
    guard let name = try BundleName.list(in: generation, .ios).last?.text else {
      throw RehearsalError.noStamp(generation)
    }
    let now = org.now() + Int64(number)
    let device = try Device.install(
      generation + "/" + name, .ios, into: Self.store(of: number, in: directory), now: now)
    let store = try Store(opening: device.storePath)
    store.clock = { now }
    let spec = QuerySpec(soupName: "accounts", .all, pageSize: 1_000_000)
    var changed: [JSONValue] = []
    for text in try store.query(spec) {
      guard var element = try JSONValue(parsing: text).object else { continue }
      let words = (element["Name"]?.string ?? "").split(whereSeparator: { $0 == " " || $0 == "." })
      guard words.count == 3, let owner = Int(words[1]), let place = Int(words[2]) else { continue }
      let isTooLong = deed(owner, place) == .failure
      element["Phone"] = .string(
        isTooLong ? String(repeating: "9", count: 60) : "\(number) \(place)")
      element["__local__"] = true
      element["__locally_updated__"] = true
      changed.append(.object(element))
    }
    // A device that edits a neighbour's account leaves one of its own alone.
    if number % 4 == 1 {
      changed.removeAll { $0["Name"]?.string == Self.account(number, edits - shares.creates - 1) }
    }
    _ = try store.upsert(changed, into: "accounts")
    let made = (0..<shares.creates).map { place -> JSONValue in
      [
        "Id": .string("local_\(number)_\(place)"), "attributes": ["type": "Contact"],
        "LastName": .string("Contact \(number).\(place)"), "__local__": true,
        "AccountId": changed[place]["Id"] ?? .null,
        "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
      ]
    }
    _ = try store.upsert(made, into: "contacts")
    try store.close()
    try device.handBack(to: "\(data.inbox("inbox"))/\(number).sqlite", now: now)
  }

  private func changeInTheOffice(_ org: Org, _ accounts: [[String]]) throws {
    guard let admin = org.user(named: Self.office) else { throw RehearsalError.noUser(Self.office) }
    for (number, ids) in accounts.enumerated() {
      for (place, id) in ids.enumerated() where deed(number, place) == .conflict {
        let outcome = org.update("Account", id: id, ["Phone": "office"], as: admin)
        if let error = outcome.errors.first { throw error }
      }
    }
  }

  // MARK: files

  private static func pipelineFile(_ concurrency: Int) -> String {
    """
    {"format": 1, "name": "fleet",
     "org": {"url": {"env": "ATTACHE_ORG_URL"}, "apiVersion": "66.0", "concurrency": \(concurrency),
       "login": {"method": "jwt", "clientId": {"env": "ATTACHE_CLIENT_ID"},
         "key": {"env": "ATTACHE_JWT_KEY"}, "integrationUser": "\(OrgUser.integrationUsername)"}},
     "users": {"query": "SELECT Id, Username FROM User WHERE IsActive = true AND \
    Profile.Name = 'Field Technician'"},
     "stores": [{"schema": "userstore.json", "syncs": "usersyncs.json"}],
     "platforms": ["ios"], "inbox": {"settleSeconds": 0},
     "reconcile": {"unansweredWaitSeconds": 0}, "report": {"formats": ["json"]}}
    """
  }

  private static var storeFile: String {
    let soups = soups.keys.sorted().map { soup in
      """
      {"soupName": "\(soup)", "indexes": [{"path": "Id", "type": "string"},
        {"path": "__local__", "type": "string"}, {"path": "__locally_created__", "type": "string"},
        {"path": "__locally_updated__", "type": "string"},
        {"path": "__locally_deleted__", "type": "string"},
        {"path": "__sync_id__", "type": "integer"}]}
      """
    }
    return "{\"soups\": [\(soups.joined(separator: ", "))]}"
  }

  private static var syncsFile: String {
    let syncs = soups.sorted { $0.key < $1.key }.flatMap { soup, fields in
      let object = soup == "accounts" ? "Account" : "Contact"
      let list = fields.map { "\"\($0)\"" }.joined(separator: ", ")
      return [
        """
        {"syncName": "down-\(soup)", "syncType": "syncDown", "soupName": "\(soup)",
         "target": {"type": "soql", "query": "SELECT \(fields.joined(separator: ", ")) FROM \(object)"},
         "options": {"mergeMode": "OVERWRITE"}}
        """,
        """
        {"syncName": "up-\(soup)", "syncType": "syncUp", "soupName": "\(soup)", "target": {},
         "options": {"fieldlist": [\(list)], "mergeMode": "LEAVE_IF_CHANGED"}}
        """,
      ]
    }
    return "{\"syncs\": [\(syncs.joined(separator: ", "))]}"
  }
}
