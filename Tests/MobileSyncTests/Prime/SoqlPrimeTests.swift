import MobileSync
import SmartStore
import System
import Testing

@Suite struct SoqlPrimeTests {
  private static let query = "SELECT Name, Description FROM Account"

  private func snapshot(
    _ org: SyncedOrg, _ mode: MergeMode = .overwrite, query: String = query
  ) -> Snapshot {
    Snapshot(
      org, soups: [.sample("accounts", "Name")],
      syncs: [
        .up("accountsUp", soup: "accounts", fields: ["Name"]),
        .soql("accountsDown", query, into: "accounts", mode),
      ])
  }

  // testSyncDown
  @Test func `a first prime fetches all once and writes it for both platforms`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 10)
    let snapshot = snapshot(org)
    let outcome = try await snapshot.prime()
    #expect(outcome.changed)
    #expect(outcome.soups.map(\.fetched) == [10])
    #expect(outcome.soups.map(\.written) == [10])
    #expect(outcome.soups.map(\.total) == [10])
    #expect(org.requests(.query) == 1)
    for platform in Platform.allCases {
      let elements = try snapshot.elements("accounts", platform)
      #expect(elements.compactMap { $0["Id"]?.string } == ids)
      let first = try #require(elements.first)
      #expect(first["Name"] == "Account 0")
      #expect(first["attributes"]?["type"] == "Account")
      #expect(first["__local__"] == false)
      #expect(first["__sync_id__"] == 2)
      #expect(first["_soupLastModifiedDate"]?.int == org.org.now())
    }
    #expect(!snapshot.files.contains { $0.hasSuffix(".partial") })
  }

  @Test func `the syncs are written in file order, downs done and ups new`() async throws {
    let org = try SyncedOrg(accounts: 3)
    let snapshot = snapshot(org)
    snapshot.overlapSeconds = 300
    try await snapshot.prime()
    let now = org.org.now()
    for platform in Platform.allCases {
      let store = try snapshot.store(platform)
      #expect(try store.soupNames() == ["accounts", "syncs_soup"])
      let states = try SyncsSoup.states(in: store)
      #expect(states.map(\.name) == ["accountsUp", "accountsDown"])
      #expect(states.map(\.id) == [1, 2])
      #expect(states.map(\.status) == [.new, .done])
      let down = try #require(states.last)
      #expect(down.totalSize == 3)
      #expect(down.progress == 100)
      #expect(down.startTime == now)
      #expect(down.endTime == now)
      #expect(
        down.target["query"]
          == "select Id,LastModifiedDate,Name, Description from Account order by LastModifiedDate")
      let greatest = try #require(
        try snapshot.column("LastModifiedDate", of: "accounts").last
          .flatMap { Dates.milliseconds(iso8601: $0) })
      #expect(snapshot.cursors == ["userstore/accountsDown": greatest])
      #expect(down.maxTimeStamp == greatest - 300_000)
    }
  }

  // testReSync, testReSyncByName
  @Test func `a second prime fetches changes and advances the cursor`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 10)
    let snapshot = try await snapshot(org).primed()
    let before = snapshot.cursors
    for id in ids[2...4] { try org.update("Account", id, ["Name": "changed"]) }
    let added = try org.makeAccounts(1, name: "Added")
    let outcome = try await snapshot.prime()
    #expect(outcome.changed)
    #expect(outcome.soups.map(\.fetched) == [4])
    #expect(outcome.soups.map(\.written) == [4])
    #expect(snapshot.cursors["userstore/accountsDown"] ?? 0 > before["userstore/accountsDown"] ?? 0)
    for platform in Platform.allCases {
      #expect(try snapshot.column("Id", of: "accounts", platform) == (ids + added).sorted())
      let names = try snapshot.column("Name", of: "accounts", platform)
      #expect(names.filter { $0 == "changed" }.count == 3)
      let state = try #require(try SyncsSoup.states(in: snapshot.store(platform)).last)
      #expect(state.totalSize == 4)
      #expect(state.maxTimeStamp == snapshot.cursors["userstore/accountsDown"])
      let check = StoreCheck(origin: .server, platform: platform)
      for generation in 1...2 {
        #expect(try check.violations(at: snapshot.path(platform, generation)).isEmpty)
      }
    }
  }

  @Test func `without changes no file is touched, whatever the overlap returns`() async throws {
    let org = try SyncedOrg(accounts: 5)
    let snapshot = snapshot(org)
    snapshot.overlapSeconds = 300
    try await snapshot.prime()
    let files = snapshot.files
    let bytes = try files.map { try Files.read(snapshot.directory.file($0)) }
    let outcome = try await snapshot.prime()
    #expect(!outcome.changed)
    #expect(outcome.soups.map(\.fetched) == [5])
    #expect(outcome.soups.map(\.unchanged) == [5])
    #expect(outcome.soups.map(\.written) == [0])
    #expect(snapshot.files == files)
    #expect(try files.map { try Files.read(snapshot.directory.file($0)) } == bytes)
    #expect(org.requests(.query) == 2)
    #expect(org.server.log.writes.isEmpty)
  }

  @Test func `a cursor in the org's future causes a full read`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let snapshot = try await snapshot(org).primed()
    try org.delete(ids[0])
    snapshot.cursors["userstore/accountsDown"] = org.org.now() + 60_000
    let outcome = try await snapshot.prime()
    #expect(outcome.warnings.count == 1)
    #expect(outcome.warnings.first?.contains("everything is read again") == true)
    #expect(outcome.soups.map(\.ghosts) == [1])
    #expect(snapshot.cursors["userstore/accountsDown"] ?? 0 <= org.org.now())
  }

  @Test func `an empty result makes an empty soup with its state`() async throws {
    let org = try SyncedOrg()
    let snapshot = snapshot(org)
    let outcome = try await snapshot.prime()
    #expect(outcome.changed)
    #expect(outcome.soups.map(\.total) == [0])
    let state = try #require(try SyncsSoup.states(in: snapshot.store()).last)
    #expect(state.status == .done)
    #expect(state.maxTimeStamp == -1)
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `the same org and clock make the same rows`() async throws {
    let org = try SyncedOrg(accounts: 20)
    let one = snapshot(org)
    let two = snapshot(org)
    try await one.prime()
    try await two.prime()
    for platform in Platform.allCases {
      #expect(try one.elements("accounts", platform) == two.elements("accounts", platform))
      #expect(try Files.read(one.path(platform)) == Files.read(two.path(platform)))
    }
  }

  @Test func `a variable of the query has the run's value`() async throws {
    let org = try SyncedOrg()
    try org.makeAccounts(2, name: "North")
    try org.makeAccounts(3, name: "South")
    let snapshot = snapshot(org, query: "SELECT Id, Name FROM Account WHERE Name LIKE :region")
    snapshot.variables = ["region": "'South%'"]
    #expect(try await snapshot.prime().soups.map(\.fetched) == [3])
    let state = try #require(try SyncsSoup.states(in: snapshot.store()).last)
    #expect(state.target["query"]?.string?.contains("'South%'") == true)
  }
}
