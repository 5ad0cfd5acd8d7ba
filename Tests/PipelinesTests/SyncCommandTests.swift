import JSON
import SmartStore
import System
import Testing

@Suite struct SyncCommandTests {
  @Test(arguments: Platform.allCases)
  func `the sample of accounts syncs down, up and down again`(_ platform: Platform) throws {
    let scene = try SyncScene()
    let first = try scene.prime("accounts", platform)
    #expect(first.status == 0, "\(first.error)")
    #expect(first.output.contains("sync2: 0 changes\nsync1: 5 records, 5 written\n"))
    #expect(first.error.isEmpty)
    let ids = try scene.ownIDs("accounts", "Account")
    try scene.rename("accounts", ids[0], "Name", "renamed")
    try scene.edit("accounts", ids[1]) { $0["__locally_deleted__"] = true }
    try scene.create("accounts", "Account", ["Name": "made here"])
    let second = try scene.prime("accounts", platform)
    #expect(second.status == 0, "\(second.error)")
    #expect(second.output.hasPrefix("sync2: 3 changes, 3 sent\n"))
    #expect(try scene.dirty("accounts").isEmpty)
    #expect(try scene.world.record("Account", ids[0])["Name"] == "renamed")
    let made = try #require(try scene.elements("accounts").first { $0["Name"] == "made here" })
    let madeID = try #require(made["Id"]?.string)
    #expect(try scene.world.record("Account", madeID)["Name"] == "made here")
    #expect(try scene.elements("accounts").count == 5)
    #expect(try StoreCheck(origin: .device, platform: platform).violations(at: scene.store).isEmpty)
  }

  @Test(arguments: [
    ("contacts", "contacts", "Contact", "LastName"), ("briefcase", "accounts", "Account", "Name"),
  ])
  func `the other samples sync down and up`(
    _ sample: String, _ soup: String, _ type: String, _ field: String
  ) throws {
    let scene = try SyncScene()
    #expect(try scene.prime(sample).status == 0)
    #expect(try !scene.elements(soup).compactMap { $0["Id"]?.string }.sorted().isEmpty)
    let again = try scene.prime(sample)
    #expect(again.status == 0)
    #expect(!again.output.contains("written"), "\(again.output)")
    guard sample == "contacts" else { return }
    let own = try scene.ownIDs(soup, type)
    try scene.rename(soup, own[0], field, "renamed")
    #expect(try scene.prime(sample).output.contains("syncUpContacts: 1 change, 1 sent"))
    #expect(try scene.world.record(type, own[0])[field] == "renamed")
    #expect(try scene.dirty(soup).isEmpty)
  }

  @Test func `the sample of users fetches ten at most`() throws {
    let scene = try SyncScene()
    let outcome = try scene.prime("users", .android)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect((1...10).contains(try scene.elements("User").count))
  }

  @Test func `events are the SDK's states, and the last line is the summary`() throws {
    let scene = try SyncScene(primed: "accounts")
    let outcome = try scene.sync("--name", "sync1", "--json")
    #expect(outcome.status == 0)
    #expect(outcome.error.isEmpty)
    let lines = try outcome.lines()
    let states = lines.filter { $0["type"] == "sync" }.compactMap { $0["state"] }
    #expect(states.first?["status"] == "RUNNING")
    #expect(states.last?["status"] == "DONE")
    #expect(states.last?["progress"] == 100)
    for name in [
      "syncId", "type", "name", "target", "options", "soupName", "status", "progress", "totalSize",
      "maxTimeStamp", "startTime", "endTime", "error",
    ] { #expect(states.allSatisfy { $0[name] != nil }, "\(name)") }
    let summary = try outcome.summary()
    #expect(summary["type"] == "summary")
    #expect(summary["status"] == 0)
    #expect(summary["result"]?["syncs"]?.array?.first?["unchanged"] == 5)
  }

  @Test func `changes that remain are listed, with exit status 3`() throws {
    let scene = try SyncScene(primed: "accounts")
    let ids = try scene.ownIDs("accounts", "Account")
    try scene.rename("accounts", ids[0], "Name", "here")
    try scene.rename("accounts", ids[1], "Name", String(repeating: "x", count: 256))
    let admin = try scene.world.user("admin")
    _ = scene.world.org.update("Account", id: ids[0], ["Name": "there"], as: admin)
    let outcome = try scene.sync("--name", "sync2")
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("sync2: 2 changes, "))
    #expect(outcome.output.contains("the org's record is newer"))
    #expect(outcome.output.contains("STRING_TOO_LONG"))
    #expect(outcome.output.contains(ids[0]) && outcome.output.contains(ids[1]))
    #expect(try scene.dirty("accounts").count == 2)
    let json = try scene.sync("--name", "sync2", "--json").summary()
    #expect(json["status"] == 3)
    let records = json["result"]?["syncs"]?.array?.first?["records"]?.array ?? []
    #expect(records.compactMap { $0["outcome"]?.string }.sorted() == ["failed", "left"])
  }

  @Test func `edits that could not be sent survive later records in each run`() throws {
    let scene = try SyncScene(primed: "contacts")
    let own = try scene.ownIDs("contacts", "Contact")
    try scene.rename("contacts", own[0], "LastName", "here")
    let admin = try scene.world.user("admin")
    for (id, name) in [(own[0], "there"), (own[1], "other")] {
      _ = scene.world.org.update("Contact", id: id, ["LastName": .string(name)], as: admin)
    }
    for _ in 0..<2 {
      let outcome = try scene.sync("--all")
      #expect(outcome.status == 3, "\(outcome.error)")
      #expect(outcome.output.contains("1 not overwritten (unsent changes)"), "\(outcome.output)")
      #expect(try scene.dirty("contacts").compactMap { $0["LastName"]?.string } == ["here"])
    }
    #expect(try scene.elements("contacts").compactMap { $0["LastName"]?.string }.contains("other"))
    #expect(try scene.sync("--name", "syncDownContacts").status == 0)
    #expect(try scene.dirty("contacts").isEmpty)
  }

  /// JavaScript cuts text inside the surrogate pair of an emoji.
  @Test(arguments: Platform.allCases)
  func `an unpaired surrogate is sent, bad JSON stops no other edit`(_ platform: Platform) throws {
    let scene = try SyncScene()
    try scene.prime("accounts", platform)
    let ids = try scene.ownIDs("accounts", "Account")
    for (id, name) in zip(ids, ["cut MARK", "broken MARK", "whole"]) {
      try scene.rename("accounts", id, "Name", name)
    }
    try scene.rewrite("accounts", #"cut MARK"#, #"cut \ud83d"#)
    try scene.rewrite("accounts", #"broken MARK""#, "broken")
    let outcome = try scene.sync("--name", "sync2")
    #expect(outcome.status == 3, "\(outcome.error)")
    #expect(outcome.output.contains("sync2: 3 changes, 1 failed, 2 sent"), "\(outcome.output)")
    #expect(outcome.output.contains("not a JSON object: nothing was sent"))
    #expect(try scene.world.record("Account", ids[0])["Name"] == "cut \u{FFFD}")
    #expect(try scene.world.record("Account", ids[2])["Name"] == "whole")
    #expect(try scene.world.record("Account", ids[1])["Name"] != "broken")
    #expect(try scene.sync("--all").status == 3)
  }

  @Test func `a failing sync ends the command before the syncs down`() throws {
    let scene = try SyncScene(primed: "accounts")
    let ids = try scene.ownIDs("accounts", "Account")
    try scene.rename("accounts", ids[0], "Name", "not lost")
    scene.world.server.faults.add(.writes, times: 20, .status(403, code: "REQUEST_LIMIT_EXCEEDED"))
    let outcome = try scene.sync("--all")
    #expect(outcome.status == 6, "\(outcome.error)")
    #expect(outcome.error.contains("attache: sync \"sync2\" failed: "))
    #expect(outcome.error.contains("\n  where  "))
    #expect(outcome.error.contains("\n  fix    "))
    #expect(outcome.error.contains("not run: sync1"))
    #expect(try scene.dirty("accounts").count == 1)
    scene.world.server.faults.removeAll()
    #expect(try scene.attache(["sync", "list", "--store", scene.store]).output.contains("FAILED"))
    #expect(try scene.sync("--all").status == 0)
    #expect(try scene.world.record("Account", ids[0])["Name"] == "not lost")
  }

  @Test(arguments: [
    "SELECT Id, Nothing__c, LastModifiedDate FROM Account",
    "SELECT Id, Name, LastModifiedDate FROM Nothing__c",
    "SELECT Id, Name, LastModifiedDate FROM Account WHERE Name LIKE '%''",
  ])
  func `a query that the org rejects exits with status 4`(_ query: String) throws {
    let scene = try SyncScene(primed: "accounts")
    let config = scene.world.directory.file("wrong.json")
    let syncs: JSONValue = [
      "syncs": [
        [
          "syncName": "wrong", "syncType": "syncDown", "soupName": "accounts",
          "target": ["type": "soql", "query": .string(query)],
          "options": ["mergeMode": "OVERWRITE"],
        ]
      ]
    ]
    try DurableFile.write(syncs.bytes, to: config)
    let outcome = try scene.sync("--name", "wrong", "--config", config)
    #expect(outcome.status == 4, "\(outcome.error)")
    #expect(outcome.error.contains("[sync.query-refused]"), "\(outcome.error)")
    #expect(outcome.error.contains("fix    check the sync's query"), "\(outcome.error)")
  }

  @Test func `an exhausted daily limit is reported without pipeline settings`() throws {
    let scene = try SyncScene(server: { $0.dailyLimit = 10 })
    var outcome = try scene.prime("accounts")
    for _ in 0..<9 where outcome.status == 0 { outcome = try scene.prime("accounts") }
    #expect(outcome.status == 6, "\(outcome.error)")
    #expect(outcome.error.contains("are left for other users"), "\(outcome.error)")
    #expect(outcome.error.contains("24-hour window has freed requests: a tenth of its"))
    #expect(!outcome.error.contains("apiBudget") && !outcome.error.contains("--api-budget"))
  }

  @Test func `ghosts are removed on request, and not too many at once`() throws {
    let scene = try SyncScene()
    let (org, admin) = (scene.world.org, try scene.world.user("admin"))
    let ada = try scene.world.user("ada")
    for number in 0..<20 { _ = org.create("Account", ["Name": .string("more \(number)")], as: ada) }
    try scene.prime("accounts")
    let ids = try scene.ownIDs("accounts", "Account")
    for id in ids[0..<12] { _ = org.delete(nil, id: id, as: admin) }
    #expect(try scene.sync("--name", "sync1").status == 0)
    #expect(try scene.elements("accounts").count == 25)
    let guarded = try scene.sync("--name", "sync1", "--clean-ghosts")
    #expect(guarded.status == 3)
    #expect(guarded.error.contains("12 of 25 records"))
    #expect(guarded.error.contains("--max-deletes"))
    #expect(try scene.elements("accounts").count == 25)
    let allowed = try scene.sync("--name", "sync1", "--clean-ghosts", "--max-deletes", "50%")
    #expect(allowed.status == 0)
    #expect(allowed.output.contains("12 removed"))
    #expect(try scene.elements("accounts").count == 13)
  }

  @Test func `a sync without its soup is reported before anything runs`() throws {
    let scene = try SyncScene()
    try scene.prime("users", .android)
    let config = World.repository + "/pipelines/samples/accounts.usersyncs.json"
    let outcome = try scene.sync("--all", "--config", config)
    #expect(outcome.status == 4)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.contains("the store has no soup \"accounts\""))
    #expect(outcome.error.contains("--store-config"))
  }
}
