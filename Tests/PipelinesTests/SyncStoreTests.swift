import JSON
import SQLite
import SmartStore
import System
import Testing

@Suite struct SyncStoreTests {
  private let scene: SyncScene
  init() throws { scene = try SyncScene(primed: "accounts") }

  @Test func `syncs are listed, shown in full, and removed`() throws {
    let list = try scene.attache(["sync", "list", "--store", scene.store])
    #expect(list.status == 0)
    #expect(list.output.contains("sync1") && list.output.contains("syncDown"))
    #expect(list.output.contains("DONE") && list.output.contains("cursor"))
    let json = try scene.attache(["sync", "list", "--store", scene.store, "--json"]).lines()
    #expect(json.first?.array?.count == 2)
    let status = try scene.attache(["sync", "status", "--store", scene.store, "--name", "sync1"])
    #expect(status.output.contains("\nstatus    DONE\n"))
    #expect(status.output.contains("from Account"))
    let byID = try scene.attache(["sync", "status", "--store", scene.store, "--id", "2", "--json"])
    #expect(try byID.lines().first?["name"] == "sync2")
    let deleted = try scene.attache(["sync", "delete", "--store", scene.store, "--name", "sync1"])
    #expect(deleted.status == 0)
    #expect(try scene.elements("syncs_soup").count == 1)
    #expect(try scene.elements("accounts").count == 5)
  }

  @Test func `a usage error names the fault and the valid choices`() throws {
    let cases: [(words: [String], says: String)] = [
      (
        ["sync", "run", "--store", scene.store, "--name", "sync3"] + SyncScene.login, "sync1, sync2"
      ),
      (["sync", "run", "--store", scene.store, "--name", "sync1"], "--target-org"),
      (["sync", "run", "--store", scene.store] + SyncScene.login, "--all"),
      (
        ["sync", "run", "--store", scene.store, "--all", "--name", "sync1"] + SyncScene.login,
        "exclude"
      ),
      (["sync", "run", "--store", scene.store + "x", "--all"] + SyncScene.login, "--store-config"),
      (
        ["sync", "run", "--store", scene.store, "--all", "--token-env", "T"] + SyncScene.login,
        "more than one login"
      ),
      (
        ["sync", "run", "--store", scene.store, "--all", "--max-deletes", "many"]
          + SyncScene.login, "100%"
      ),
      (["sync", "status", "--store", scene.store, "--name", "sync"], "it has sync1, sync2"),
      (["sync", "delete", "--store", scene.store, "--name", "sync"], "it has sync1, sync2"),
      (["sync", "list", "--store", scene.store + "x"], "no file"),
    ]
    for (words, says) in cases {
      let outcome = try scene.attache(words)
      #expect(outcome.status == 2, "\(words): \(outcome.error)")
      #expect(outcome.error.contains(says), "\(outcome.error)")
    }
    #expect(!Files.exists(scene.store + "x"))
    let unset = try scene.attache(
      ["sync", "run", "--store", scene.store, "--all"] + SyncScene.login,
      without: ["ATTACHE_JWT_KEY"])
    #expect(unset.status == 4)
    let stranger = try scene.attache([
      "sync", "run", "--store", scene.store, "--all", "--key-env", "ATTACHE_JWT_KEY", "--username",
      "nobody@example.com",
    ])
    #expect(stranger.status == 5, "\(stranger.error)")
  }

  @Test func `a broken sync file is reported with its location; no store is made`() throws {
    let scene = try SyncScene()
    let config = scene.world.directory.file("broken.json")
    try DurableFile.write(
      Array(#"{"syncs":[{"syncName":"a","syncType":"syncDown","soupÑame":"s"}]}"#.utf8), to: config)
    let words = [
      "sync", "run", "--store", scene.store, "--all", "--config", config, "--platform", "ios",
    ]
    let outcome = try scene.attache(
      words + Array(SyncScene.files("accounts")[2...3]) + SyncScene.login)
    #expect(outcome.status == 4)
    #expect(outcome.error.contains("broken.json:1:"))
    #expect(outcome.error.contains("did you mean"))
    #expect(!Files.exists(scene.store))
  }

  @Test(arguments: [
    (#""fieldlist": ["Name", "PHONE"]"#, "", #"write "Phone""#),
    (
      #""fieldlist": ["Name", "Phone"]"#, #""modificationDateFieldName": "lastmodifieddate""#,
      #"write "LastModifiedDate""#
    ),
  ])
  func `a sync with field names in different case is refused, and no edit is lost`(
    _ list: String, _ target: String, _ fix: String
  ) throws {
    let scene = try SyncScene()
    let config = scene.world.directory.file("syncs.json")
    func write(_ list: String, _ target: String) throws {
      let text = #"""
        {"syncs": [
          {"syncName": "down", "syncType": "syncDown", "soupName": "accounts",
           "target": {"type": "soql", "query": "SELECT Id, Name, PHONE, LastModifiedDate FROM Account"},
           "options": {"mergeMode": "OVERWRITE"}},
          {"syncName": "up", "syncType": "syncUp", "soupName": "accounts", "target": {\#(target)},
           "options": {\#(list), "mergeMode": "LEAVE_IF_CHANGED"}}]}
        """#
      try DurableFile.write(Array(text.utf8), to: config)
    }
    let right = #""fieldlist": ["Name", "Phone"]"#
    try write(right, "")
    let soups = Array(SyncScene.files("accounts").suffix(4))
    func sync(_ words: String...) throws -> SyncScene.Outcome {
      try scene.attache(
        ["sync", "run", "--store", scene.store, "--all", "--config", config] + soups + words
          + SyncScene.login)
    }
    #expect(try sync().status == 0)
    let id = try #require(try scene.ownIDs("accounts", "Account").first)
    try scene.rename("accounts", id, "Phone", "device")
    try write(list, target)
    let refused = try sync("--replace")
    #expect(refused.status == 4, "\(refused.error)")
    #expect(refused.error.contains(fix) && refused.error.contains("--replace"))
    #expect(scene.world.server.log.writes.isEmpty)
    #expect(try scene.sync("--all").status == 4)
    #expect(try scene.dirty("accounts").compactMap { $0["Phone"]?.string } == ["device"])
    try write(right, "")
    #expect(try sync("--replace").status == 0)
    #expect(try scene.world.record("Account", id)["Phone"] == "device")
  }

  @Test func `a link to a store is followed and kept, and a link to nothing is refused`() throws {
    let scene = try SyncScene(primed: "contacts")
    let (link, dangling) = (scene.store + ".link", scene.store + ".lost")
    try DurableFile.link(link, to: Files.name(of: scene.store))
    try DurableFile.link(dangling, to: "nothing.sqlite")
    let words = ["--all"] + SyncScene.files("contacts") + SyncScene.login
    let synced = try scene.attache(["sync", "run", "--store", link] + words)
    #expect(synced.status == 0, "\(synced)")
    #expect(synced.error.contains("\(link) is a link: the syncs use the store \(scene.store)"))
    for command in [["sync", "list", "--store"], ["store", "check"]] {
      let read = try scene.attache(command + [link])
      #expect(read.status == 0, "\(read)")
    }
    #expect(try Files.target(ofLink: link) == Files.name(of: scene.store))
    let refused = try scene.attache(["sync", "run", "--store", dangling] + words)
    #expect(refused.status == 2 && refused.error.contains("to a file that does not exist"))
    #expect(try Files.target(ofLink: dangling) == "nothing.sqlite")
    #expect(!Files.exists(scene.world.directory.file("nothing.sqlite")))
  }

  @Test func `a store that another process syncs is left alone`() throws {
    let lock = try FileLock(scene.store, note: nil)
    let outcome = try scene.sync("--all")
    #expect(outcome.status == 7)
    #expect(outcome.error.contains("[sync.locked]"))
    lock.close()
    #expect(try scene.sync("--all").status == 0)
    // Nothing is left next to it but the shared lock file, which is never removed.
    let directory = try #require(Files.parent(of: scene.store))
    #expect(
      try Files.list(directory).filter { $0.hasPrefix("store") }
        == ["store.sqlite", "store.sqlite.lock"])
  }

  @Test func `a sealed store is refused with a fix`() throws {
    let sealed = scene.world.directory.file("sealed.sqlite")
    _ = try SQLCipherFile.seal(
      scene.store, to: sealed, key: SQLCipherKey(passphrase: Secret("a passphrase")))
    for words in [["run", "--all"] + SyncScene.login, ["list"]] {
      let outcome = try scene.attache(["sync", words[0], "--store", sealed] + words.dropFirst())
      #expect(outcome.status == 4)
      #expect(outcome.error.contains("attache store unseal"))
    }
  }

  @Test func `edits in a -wal are sent, and no -wal is left next to the store`() throws {
    let id = try #require(try scene.ownIDs("accounts", "Account").first)
    // A device has its last edits in a -wal: copied while the store is open.
    let live = scene.world.directory.file("live.sqlite")
    try Files.copy(scene.store, to: live)
    let connection = try Connection(live, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL")
    let store = try Store(opening: live)
    var object = try #require(try store.elements(in: "accounts", where: "Id", is: id).first?.object)
    object["Name"] = "in the wal"
    object["__local__"] = true
    object["__locally_updated__"] = true
    try store.upsert([.object(object)], into: "accounts")
    try Files.remove(scene.store)
    try Files.copy(live, to: scene.store)
    try Files.copy(live + "-wal", to: scene.store + "-wal")
    try store.close()
    connection.close()
    // Cut off in transit, the -wal still belongs to the store.
    let log = try Files.read(scene.store + "-wal")
    try DurableFile.write(Array(log.dropLast(30)), to: scene.store + "-wal")
    let words = [
      ["run", "--store", scene.store, "--all"] + SyncScene.login,
      ["delete", "--store", scene.store, "--name", "sync2"],
    ].map { ["sync"] + $0 }
    for words in words + [["store", "check", scene.store]] {
      let refused = try scene.attache(words)
      #expect(refused.status != 0)
      #expect((refused.output + refused.error).contains("its -wal is truncated in frame"))
    }
    #expect(try Files.read(scene.store + "-wal").count == log.count - 30)
    try DurableFile.write(log, to: scene.store + "-wal")
    let outcome = try scene.sync("--all")
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.contains("1 change, 1 sent"))
    #expect(try scene.world.record("Account", id)["Name"] == "in the wal")
    #expect(!Files.exists(scene.store + "-wal"))
  }

  @Test func `a changed definition is reported, and applied on request`() throws {
    let sample = World.repository + "/pipelines/samples/accounts.usersyncs.json"
    let text = String(decoding: try Files.read(sample), as: UTF8.self)
      .replacing("FROM Account", with: "FROM Account WHERE Name LIKE '%0'")
    let config = scene.world.directory.file("usersyncs.json")
    try DurableFile.write(Array(text.utf8), to: config)
    let kept = try scene.sync("--name", "sync1", "--config", config)
    #expect(kept.status == 0)
    #expect(kept.error.contains("sync \"sync1\" in the store differs"))
    #expect(kept.output.contains("5 records"))
    let replaced = try scene.sync("--name", "sync1", "--config", config, "--replace")
    #expect(replaced.error.isEmpty)
    #expect(!replaced.output.contains("5 records"), "\(replaced.output)")
  }

  @Test func `a store that was issued for another org is refused`() async throws {
    let scene = try SyncScene()
    try await scene.world.run(.prime)
    let id = try scene.world.user("ada").id
    let issued = try #require(
      try scene.world.stores().map(\.path).first { $0.contains(id) && $0.contains("/ios/") })
    let words = ["sync", "run", "--store", issued, "--all"]
    let own = try scene.attache(words + SyncScene.login)
    #expect(own.status == 0, "\(own.error)")
    let other = try scene.attache(
      words + ["--key-env", "ATTACHE_JWT_KEY", "--username", "ben@example.com"])
    #expect(other.error.contains("warning: the store was issued for the user \(id)"))
    let store = try Store(opening: issued)
    var stamps: [JSONObject] = []
    try store.forEachElement(in: "attache_stamp") { stamps += [try $0.value().object ?? [:]] }
    var stamp = try #require(stamps.first)
    stamp["org"] = "00D000000000099EAA"
    try store.upsert([.object(stamp)], into: "attache_stamp")
    try store.close()
    let refused = try scene.attache(words + SyncScene.login)
    #expect(refused.status == 4)
    #expect(refused.error.contains("[sync.foreign-store]"))
  }

  @Test(arguments: [
    "with t as (select {accounts:Name} n from {accounts}) select n, count(*) from t": "n,count(*)",
    "WITH a AS (select 1 x), b(y, z) AS (select 2, 3)\nSELECT DISTINCT x, z\nFROM a, b": "x,z",
    "select (select 1 from {accounts}), 'a, from b' from {accounts}":
      #"(select 1 from {accounts}),"'a, from b'""#,
    "select {accounts:Name} -- from, select\n from {accounts}": "{accounts:Name}",
    "select {accounts:Name}, {accounts:Id} from {accounts}": "{accounts:Name},{accounts:Id}",
  ])
  func `result columns are named by the select list`(_ query: String, _ heading: String) throws {
    let outcome = try scene.attache(["store", "query", scene.store, query, "--csv"])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.hasPrefix(heading + "\n"), "\(outcome.output.prefix(200))")
  }
}
