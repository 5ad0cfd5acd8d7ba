import JSON
import LocalOrg
import MobileSync
import SmartStore
import Synchronization
import System
import Testing

@Suite struct SnapshotPrimeTests {
  @Test func `each user's store contains exactly what the user's own token reads`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 6)
    let users = ["ada@example.com", "ben@example.com"]
    let shares = [users[0]: ids[0...3], users[1]: ids[2...5]]
    for (user, shared) in shares { try org.org.share(Array(shared), with: user) }
    try org.org.addBriefcase("all", rules: [BriefcaseRule("Account")], users: users)
    for user in users {
      let token = try #require(org.org.user(named: user))
      let readable = try JSONValue(
        parsing: org.org.query("SELECT Id FROM Account", as: token, includeDeleted: false).records)
      let expected = (readable.array ?? []).compactMap { $0["Id"]?.string }.sorted()
      #expect(expected == shares[user]?.sorted())
      let byBriefcase = BriefcasePrimeTests.snapshot(org, [BriefcasePrimeTests.accounts], as: user)
      let byQuery = Snapshot(
        org, as: user, soups: [.sample("accounts")],
        syncs: [.soql("down", "SELECT Id, Name FROM Account", into: "accounts")])
      for snapshot in [byBriefcase, byQuery] {
        try await snapshot.prime()
        #expect(try snapshot.columns("Id", of: "accounts") == expected)
      }
      // The user loses access to a record.
      try org.org.unshare(expected[0], from: user)
      byQuery.listIDs = ["userstore/down"]
      for snapshot in [byBriefcase, byQuery] {
        #expect(try await snapshot.prime().soups.map(\.ghosts) == [1])
        #expect(try snapshot.column("Id", of: "accounts") == Array(expected.dropFirst()))
      }
    }
  }

  @Test func `a first prime with SQLite's API equals one with prebuilt pages`() async throws {
    let org = try SyncedOrg()
    try org.org.seedBulk(object: "Site_Visit__c", count: 450, owner: org.admin.username)
    let query = "SELECT Id, Name, Hours__c, Notes__c FROM Site_Visit__c"
    let snapshots = [BulkLoader.Method.pages, .statements].map { method in
      let snapshot = Snapshot(
        org, soups: [.sample("visits", "Name", "Notes__c")],
        syncs: [.soql("down", query, into: "visits")])
      snapshot.method = method
      return snapshot
    }
    for snapshot in snapshots { #expect(try await snapshot.prime().soups.map(\.total) == [450]) }
    for platform in Platform.allCases {
      let stores = try snapshots.map { try $0.elements("visits", platform) }
      #expect(stores[0] == stores[1])
      let files = try snapshots.map { try Files.read($0.store(platform).path) }
      #expect(files[0] != files[1])
    }
  }

  @Test func `if one store changes all the snapshot's stores form a generation`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    try org.make("Contact", ["LastName": "one"])
    let snapshot = Snapshot(
      org, soups: [.sample("accounts")],
      syncs: [.soql("accounts", "SELECT Id, Name FROM Account", into: "accounts")])
    snapshot.stores.append(
      (
        "second", StoreConfig(soups: [.sample("contacts")]),
        [.soql("contacts", "SELECT Id, LastName FROM Contact", into: "contacts")]
      ))
    try await snapshot.prime()
    #expect(snapshot.cursors.keys.sorted() == ["second/contacts", "userstore/accounts"])
    try org.update("Account", ids[0], ["Name": "new"])
    let finished = Mutex<[String]>([])
    let outcome = try await snapshot.prime { store, platform in
      finished.withLock { $0.append("\(platform) \(store.platform == platform)") }
    }
    #expect(outcome.changed)
    #expect(
      finished.withLock { $0.sorted() } == ["android true", "android true", "ios true", "ios true"])
    #expect(try snapshot.elements("contacts", .android, store: "second").count == 1)
    #expect(Files.exists(snapshot.path(.ios, 2, store: "second")))
    #expect(outcome.syncStates.keys.sorted() == ["second", "userstore"])
  }

  @Test func `the finishing step sees the complete store of each platform first`() async throws {
    let org = try SyncedOrg(accounts: 3)
    let snapshot = Snapshot(
      org, soups: [.sample("accounts")],
      syncs: [.soql("accounts", "SELECT Id, Name FROM Account", into: "accounts")])
    let directory = snapshot.directory.path
    try await snapshot.prime { store, _ in
      #expect(try store.count(of: "accounts") == 3)
      #expect(try SyncsSoup.states(in: store).map(\.status) == [.done])
      #expect(
        try !Files.list(directory).contains { $0.contains("ios") && $0.hasSuffix(".db") }
          || store.platform == .ios)
      try store.registerSoup("extra", indexSpecs: [IndexSpec(path: "a", type: .string)])
      try store.upsert([["a": "b"]], into: "extra")
    }
    #expect(try snapshot.store().soupNames() == ["accounts", "syncs_soup", "extra"])
    // A soup added by another layer does not cause a fresh start.
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a changed definition is read in full and its state is rewritten`() async throws {
    let org = try SyncedOrg(accounts: 3)
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("accounts")],
      syncs: [.soql("accounts", "SELECT Id, Name FROM Account", into: "accounts")])
    snapshot.stores[0].syncs = [
      .soql("accounts", "SELECT Id, Name, Site FROM Account", into: "accounts")
    ]
    #expect(try await snapshot.prime().soups.map(\.written) == [3])
    let element = try #require(try snapshot.elements("accounts").first?.object)
    #expect(element.names.contains("Site"))
    #expect(element["_soupEntryId"] == 1)
    let state = try #require(try SyncsSoup.states(in: snapshot.store()).first)
    #expect(state.target["query"]?.string?.contains("Site") == true)
  }

  @Test func `another list of syncs, or other indexes, start the stores over`() async throws {
    let org = try SyncedOrg(accounts: 3)
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("accounts")],
      syncs: [.soql("accounts", "SELECT Id, Name FROM Account", into: "accounts")])
    snapshot.stores[0].syncs.append(.up("up", soup: "accounts", fields: ["Name"]))
    #expect(try await snapshot.prime().soups.map(\.fetched) == [3])
    #expect(try SyncsSoup.states(in: snapshot.store()).map(\.name) == ["accounts", "up"])
    snapshot.stores[0].config = StoreConfig(soups: [.sample("accounts", "Name")])
    #expect(try await snapshot.prime().changed)
    #expect(try snapshot.store().indexSpecs(of: "accounts").count == 7)
    #expect(try await !snapshot.prime().changed)
  }

  // testSetupSyncsSoupFirstTime
  @Test func `the soup of the syncs has three json1 indexes`() async throws {
    let org = try SyncedOrg()
    let snapshot = try await Snapshot(org, soups: [.sample("accounts")], syncs: []).primed()
    let specs = try snapshot.store().indexSpecs(of: "syncs_soup")
    #expect(specs.map(\.path) == ["type", "name", "status"])
    #expect(specs.allSatisfy { $0.type == .json1 })
  }

  @Test func `two syncs with one name are refused`() async throws {
    let org = try SyncedOrg()
    let snapshot = Snapshot(
      org, soups: [.sample("accounts")],
      syncs: [
        .up("same", soup: "accounts", fields: ["Name"]),
        .up("same", soup: "accounts", fields: ["Name"]),
      ])
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .definition)
    #expect(snapshot.files.isEmpty)
  }
}
