import Bundles
import Foundation
import JSON
import LocalOrg
import Pipelines
import SQLite
import SmartStore
import System
import TestSupport
import Testing

@Suite struct FieldAccessTests {
  static let query = "SELECT FIELDS(STANDARD) FROM Account"

  /// A pipeline of accounts for ada and ben, who both see ada's first account.
  private static func world(
    query: String = query, _ change: (String) -> String = { $0 }
  ) throws -> World {
    let directory = TemporaryDirectory("rights")
    let file = directory.file("rights.json")
    let pipeline = """
      {"format": 1, "name": "rights",
       "org": {"url": {"env": "ATTACHE_ORG_URL"}, "login": {"method": "jwt",
         "clientId": {"env": "ATTACHE_CLIENT_ID"}, "key": {"env": "ATTACHE_JWT_KEY"},
         "integrationUser": "attache@example.com"}},
       "users": {"list": ["ada@example.com", "ben@example.com"]},
       "stores": [{"schema": "store.json", "syncs": "syncs.json"}],
       "platforms": ["ios", "android"], "pack": { "format": "tar.zst" },
       "inbox": {"settleSeconds": 0}, "reconcile": {"unansweredWaitSeconds": 0}}
      """
    let store = """
      {"soups": [{"soupName": "accounts", "indexes": [
        {"path": "Id", "type": "string"}, {"path": "Tradestyle", "type": "string"},
        {"path": "__local__", "type": "string"}, {"path": "__sync_id__", "type": "integer"}]}]}
      """
    let syncs = """
      {"syncs": [
        {"syncName": "down", "syncType": "syncDown", "soupName": "accounts",
         "target": {"type": "soql", "query": "\(query)"}, "options": {"mergeMode": "OVERWRITE"}},
        {"syncName": "up", "syncType": "syncUp", "soupName": "accounts", "target": {},
         "options": {"fieldlist": ["Name", "Phone", "Tradestyle", "Site"],
           "mergeMode": "LEAVE_IF_CHANGED"}}]}
      """
    for (name, text) in [("rights", pipeline), ("store", store), ("syncs", syncs)] {
      try DurableFile.write(Array(text.utf8), to: directory.file(name + ".json"))
    }
    return try World(file: file, change: change)
  }

  private static func hide(_ world: World, butFor users: [String] = ["ada@example.com"]) throws {
    let names = JSONValue(users).text
    let text = """
      {"profiles": [{"name": "Field Technician",
         "objects": {"Account": {"fields": {"Tradestyle": "none"}}}}],
       "permissionSets": [{"name": "Trade", "users": \(names),
         "objects": {"Account": {"fields": {"Tradestyle": "edit"}}}}]}
      """
    try world.org.setUp(OrgSetup(parsing: Array(text.utf8)))
  }

  private static func accounts(_ name: String, _ world: World) throws -> [String] {
    let soql = "SELECT Id FROM Account WHERE OwnerId = '\(try world.user(name).id)' ORDER BY Id"
    return try world.column(soql)
  }

  /// The user's files that contain the word: generations, the contents of bundles, decrypted
  /// stores, and issued records.
  private static func hits(
    _ word: String, _ name: String, _ world: World, key: SQLCipherKey? = nil
  ) throws -> [String] {
    let id = try world.user(name).id
    let issued = try #require(Files.parent(of: world.data.issued(1, of: id)))
    #expect(try !Tree.files(issued).isEmpty)
    var directories = [world.data.snapshot(id), issued]
    for platform in [Platform.ios, .android] {
      let unpacked = world.directory.file("unpacked/\(name)-\(platform)-\(UUID())")
      try Files.makeDirectory(world.directory.file("unpacked"))
      let manifest = try BundleReader.extract(try world.bundle(name, platform), to: unpacked)
      directories.append(unpacked)
      guard let key else { continue }
      for entry in manifest.stores {
        let sealed = unpacked + "/" + entry.path
        #expect(try !Tree.contains("SQLite format 3", in: sealed))
        try SQLCipherFile.unseal(sealed, to: sealed + ".open", key: key)
        #expect(try Tree.contains("account 0", in: sealed + ".open"))
      }
    }
    var found: [String] = []
    for directory in directories {
      for file in try Tree.files(directory) where !file.hasSuffix(".bundle.tar.zst") {
        if try Tree.contains(word, in: directory + "/" + file) { found.append(file) }
      }
    }
    return found
  }

  /// The ledger's data about a user's edits, as text.
  private static func ledger(of name: String, _ world: World) throws -> String {
    let connection = try Connection(world.data.state, mode: .readOnly)
    let id = try world.user(name).id
    let edits: SQL = """
      SELECT e.id FROM edit e JOIN returned r ON r.id = e.return_id WHERE r.snapshot_id = \(id)
      """
    var text = ""
    for sql: SQL in [
      "SELECT CAST(element AS TEXT), * FROM edit WHERE id IN (\(edits))",
      "SELECT * FROM operation WHERE edit_id IN (\(edits))",
      "SELECT * FROM outcome WHERE edit_id IN (\(edits))",
      "SELECT * FROM snapshot WHERE id = \(id)",
    ] {
      for row in try connection.all(sql) { text += row.compactMap(\.text).joined(separator: "\n") }
    }
    return text
  }

  @Test func `a name in different case stops the run even if some lack the field`() async throws {
    let world = try Self.world()
    try Self.hide(world)
    try await world.run()
    for name in ["ada", "ben"] {
      let device = try world.device(name)
      let id = try Self.accounts(name, world)[0]
      let field = name == "ada" ? "Tradestyle" : "Phone"
      try device.edit("accounts", id: id, [field: "1"], now: world.org.now())
      try world.handBack(device, as: name + ".sqlite")
    }
    let path = try #require(Files.parent(of: world.pipeline.file)) + "/syncs.json"
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    let other = text.replacing(#""Tradestyle", "Site""#, with: #""TradeStyle", "Site""#)
    try DurableFile.write(Array(other.utf8), to: path)
    let error = await #expect(throws: Problems.self) {
      try await world.runAsWritten([.ingest, .reconcile])
    }
    #expect(error?.list.contains { $0.fix == #"write "Tradestyle""# } == true)
    #expect(world.server.log.writes.isEmpty)
  }

  @Test(arguments: [false, true])
  func
    `the value of a field that a user may not read is in no byte of the user's store, bundle or report`(
      isSealed: Bool
    ) async throws
  {
    let world = try Self.world {
      isSealed ? SealedBundlesTests.sealing($0, SealedBundlesTests.passphrase) : $0
    }
    let key =
      isSealed
      ? try SQLCipherKey(passphrase: Secret(SealedBundlesTests.passphrase), iterations: 4000) : nil
    try Self.hide(world)
    let (adas, bens) = (try Self.accounts("ada", world), try Self.accounts("ben", world))
    for id in adas + bens { try world.change(id, ["Tradestyle": "canary of the run"]) }
    #expect(try await world.run().exitStatus == .done)
    #expect(try Self.hits("canary", "ada", world, key: key).isEmpty == false)
    #expect(try Self.hits("canary", "ben", world, key: key) == [])
    guard !isSealed else { return }

    // Both change the shared account; one of ben's own accounts conflicts with another user's change.
    let (ada, ben) = (try world.device("ada"), try world.device("ben"))
    #expect(try ben.elements("accounts").allSatisfy { $0["Tradestyle"] == nil })
    #expect(try ada.elements("accounts").count { $0["Tradestyle"] == "canary of the run" } == 4)
    let now = world.org.now()
    let both: JSONObject = ["Phone": "1", "Tradestyle": "canary of ada"]
    try ada.edit("accounts", id: adas[0], both, now: now)
    try ben.edit("accounts", id: adas[0], ["Phone": "2"], now: now)
    try ben.edit("accounts", id: bens[0], ["Phone": "3"], now: now)
    try ben.edit("accounts", id: bens[1], ["Site": "4"], now: now)
    try ben.edit("accounts", id: bens[2], ["Site": "6"], now: now)
    try world.change(bens[0], ["Phone": "5", "Tradestyle": "canary of another user"])
    try world.change(bens[1], ["Tradestyle": "canary of the day"])
    try world.handBack(ada, as: "ada.sqlite")
    let summary = try await world.run(ben, as: "ben.sqlite")
    // The hidden part of a listed field is unknown, so the record's date decides.
    #expect(summary.verdicts == [.deviceConflict: 2, .conflict: 2, .updated: 1])
    let kept = try world.record("Account", bens[2])
    #expect(kept["Site"] == "6" && kept["Tradestyle"] == "canary of the run")
    #expect(try Self.hits("canary", "ben", world) == [])
    for words in [
      ["--format", "text"], ["--format", "json"], ["--format", "html"], ["--format", "csv"],
    ] {
      let said = try await world.program(["report"], ["--user", "ben"] + words)
      #expect(said.status == 0 && !said.everything.contains("canary"), "\(said.everything)")
      let other = try await world.program(["report"], ["--user", "ada"] + words)
      let hasValues = words[1] == "html" || words[1] == "json"
      #expect(!hasValues || other.output.contains("canary of ada"), "\(words)")
    }
    #expect(try Self.ledger(of: "ada", world).contains("canary of ada"))
    #expect(try !Self.ledger(of: "ben", world).contains("canary"))
  }

  @Test func `a field that a user cannot read now leaves bundles, may return`() async throws {
    let world = try Self.world()
    let accounts = try Self.accounts("ben", world)
    for id in accounts { try world.change(id, ["Tradestyle": "canary of the run"]) }
    // Only one of them is so new that each later run fetches it again.
    try world.org.moveClock(by: 3_600_000)
    try world.change(accounts[0], ["Site": "later"])
    try await world.run()
    #expect(try !Self.hits("canary", "ben", world).isEmpty)
    try Self.hide(world)
    #expect(try await world.run().snapshots.map(\.changed) == [false, true])
    let ben = try world.device("ben", as: "ben-2")
    #expect(try ben.elements("accounts").count == 5)
    #expect(try ben.elements("accounts").allSatisfy { $0["Tradestyle"] == nil })
    #expect(try !Tree.contains("canary", in: ben.storePath))
    #expect(try await world.run().snapshots.map(\.changed) == [false, false])
    try world.org.setUp(OrgSetup(parsing: Array("{}".utf8)))
    try await world.run()
    let again = try world.device("ben", as: "ben-3").elements("accounts")
    #expect(again.count { $0["Tradestyle"] == "canary of the run" } == 4)
  }

  @Test func `a user who cannot read a named field is reported, others are served`() async throws {
    let world = try Self.world(query: "SELECT Id, Name, Tradestyle FROM Account")
    try Self.hide(world)
    let summary = try await world.run()
    #expect(summary.findings == [.skippedUser])
    #expect(summary.snapshots.map(\.username) == ["ada@example.com"])
    let reason = try #require(world.skipped.first)
    #expect(world.skipped.count == 1 && reason.hasPrefix("ben@example.com: "))
    #expect(reason.contains(#"Account has no field "Tradestyle" for this user"#), "\(reason)")
    let check = try await OrgCheck.run(world.pipeline, root: world.root, variables: world.variables)
    #expect(
      check.findings.map(\.description).allSatisfy {
        $0.contains("Account has no field \"Tradestyle\" for this user")
          && $0.hasSuffix("(as ben@example.com)")
      })
    #expect(check.findings.count >= 1)
  }

  @Test(arguments: [true, false])
  func `if all users lose a fetched field, edits are still sent`(_ isOneOfTwo: Bool) async throws {
    let world = try Self.world(query: "SELECT Id, Name, Phone, Tradestyle FROM Account") {
      isOneOfTwo ? $0 : $0.replacing(", \"ben@example.com\"]", with: "]")
    }
    try world.rewrite("\"Tradestyle\", \"Site\"", "\"Site\"", in: "syncs.json")
    _ = try await world.runAllAsWritten()
    let account = try Self.accounts("ada", world)[0]
    let device = try world.device("ada")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "1"])
    try Self.hide(world, butFor: [])
    let ended = try await world.program(["run"], [])
    #expect(ended.status == 4)
    #expect(ended.everything.contains("Account has no field \"Tradestyle\" for this user"))
    #expect(ended.everything.contains("report: "))
    #expect(try world.record("Account", account)["Phone"] == "1")
    let told = try await world.program(["report"], ["--format", "text"])
    #expect(told.output.contains("updated"), "\(told.everything)")
  }
}
