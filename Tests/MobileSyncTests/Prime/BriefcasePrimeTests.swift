import LocalOrg
import MobileSync
import SmartStore
import Testing

/// Rows 197–205 of the conformance table (BriefcaseSyncDownTargetTest, BriefcaseSyncDownTests).
@Suite struct BriefcasePrimeTests {
  static let accounts = BriefcaseObjectInfo(
    soupName: "accounts", sobjectType: "Account", fieldlist: ["Name", "Description"])
  static let contacts = BriefcaseObjectInfo(
    soupName: "contacts", sobjectType: "Contact", fieldlist: ["LastName"])

  static func snapshot(
    _ org: SyncedOrg, _ infos: [BriefcaseObjectInfo] = [accounts, contacts],
    perRetrieve: Int = 2000, mode: MergeMode = .overwrite, as user: String = "admin@example.com"
  ) -> Snapshot {
    Snapshot(
      org, as: user, soups: [.sample("accounts", "Name"), .sample("contacts", "LastName")],
      syncs: [.briefcase("briefcase", infos, perRetrieve: perRetrieve, mode)])
  }

  static func org(
    accounts: Int, contacts: Int = 0, _ adjust: (inout OrgServer.Options) -> Void = { _ in }
  ) throws -> (SyncedOrg, accounts: [String], contacts: [String]) {
    let org = try SyncedOrg(adjust)
    let accountIDs = try org.makeAccounts(accounts)
    let contactIDs = try (0..<contacts).map {
      try org.make("Contact", ["LastName": .string("Contact \($0)")])
    }
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 5000), BriefcaseRule("Contact", limit: 5000)],
      users: ["admin@example.com"])
    return (org, accountIDs, contactIDs)
  }

  // SDK: testStartFetchNoMaxTimeStamp (197), testSyncDownFetchingOneObjectType (199)
  @Test func `one type is fetched in full by one list and one retrieve`() async throws {
    let (org, ids, _) = try Self.org(accounts: 12)
    let snapshot = Self.snapshot(org, [Self.accounts])
    #expect(try await snapshot.prime().soups.map(\.fetched) == [12])
    #expect(org.requests(.priming) == 1)
    #expect(org.requests(.retrieve) == 1)
    for platform in Platform.allCases {
      let elements = try snapshot.elements("accounts", platform)
      #expect(elements.compactMap { $0["Id"]?.string }.sorted() == ids.sorted())
      let first = try #require(elements.first)
      #expect(first["attributes"]?["type"] == "Account")
      #expect(first["LastModifiedDate"]?.string != nil)
      #expect(first["__sync_id__"] == 1)
    }
    let state = try #require(try SyncsSoup.states(in: snapshot.store()).first)
    #expect(state.totalSize == 12)
    #expect(state.maxTimeStamp == snapshot.cursors["userstore/briefcase"])
    #expect(state.target["countIdsPerRetrieve"] == 2000)
  }

  // Uses the stamps, which also find late commits.
  // SDK: testStartFetchWithMaxTimeStamp (198)
  @Test func `a second prime retrieves only new records, an unchanged org none`() async throws {
    let (org, _, _) = try Self.org(accounts: 6)
    let snapshot = try await Self.snapshot(org).primed()
    let new = try org.makeAccounts(6, name: "New")
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.fetched) == [6, 0])
    #expect(outcome.soups.map(\.written) == [6, 0])
    #expect(try Set(snapshot.column("Id", of: "accounts")).isSuperset(of: new))
    let retrieves = org.requests(.retrieve)
    let files = snapshot.files
    let unmoved = try await snapshot.prime()
    #expect(!unmoved.changed)
    #expect(unmoved.soups.map(\.fetched) == [0, 0])
    #expect(org.requests(.retrieve) == retrieves)
    #expect(snapshot.files == files)
    #expect(org.requests(.priming) == 3)
  }

  @Test func `a change right before a prime is retrieved again, but only once`() async throws {
    let (org, ids, _) = try Self.org(accounts: 6)
    let snapshot = Self.snapshot(org)
    snapshot.overlapSeconds = 300
    // All but one were created long before.
    try org.org.moveClock(by: 3_600_000)
    try org.org.setClockStep(0)
    try org.update("Account", ids[2], ["Name": "once"])
    try await snapshot.prime()
    // In the second in which it was read.
    try org.update("Account", ids[2], ["Name": "twice"])
    let stamps = try ids.map { try org.values("Account", ["SystemModstamp"], of: $0) }
    try org.org.moveClock(by: 86_400_000)
    let second = try await snapshot.prime()
    #expect(second.soups.map(\.fetched) == [1, 0])
    #expect(second.soups.map(\.written) == [1, 0])
    #expect(try snapshot.column("Name", of: "accounts").contains("twice"))
    #expect(try ids.map { try org.values("Account", ["SystemModstamp"], of: $0) } == stamps)
    let retrieves = org.requests(.retrieve)
    #expect(try await !snapshot.prime().changed)
    #expect(org.requests(.retrieve) == retrieves)
  }

  // SDK: testSyncDownFetchingOneObjectTypeWithMultipleRetrieveCalls (200)
  @Test func `few ids per retrieve make many retrieves, written in order`() async throws {
    let (org, _, _) = try Self.org(accounts: 12)
    let snapshot = try await Self.snapshot(org, [Self.accounts], perRetrieve: 2).primed()
    #expect(org.requests(.retrieve) == 6)
    let progressed = snapshot.events.all.compactMap { event -> Int? in
      if case .progressed(let progress) = event { progress.records } else { nil }
    }
    #expect(progressed == [2, 4, 6, 8, 10, 12])
    let one = try await Self.snapshot(org, [Self.accounts]).primed()
    #expect(try one.elements("accounts") == snapshot.elements("accounts"))
  }

  // SDK: testSyncDownFetchingTwoObjectTypes (201)
  // SDK: testSyncDownFetchingTwoObjectTypesWithMultipleRetrieveCalls (202)
  @Test(arguments: [(2000, 2), (3, 8)])
  func `two types go into their soups`(_ perRetrieve: Int, _ retrieves: Int) async throws {
    let (org, accounts, contacts) = try Self.org(accounts: 12, contacts: 12)
    let snapshot = Self.snapshot(org, perRetrieve: perRetrieve)
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.soup) == ["accounts", "contacts"])
    #expect(outcome.soups.map(\.fetched) == [12, 12])
    #expect(org.requests(.retrieve) == retrieves)
    #expect(try snapshot.column("Id", of: "accounts") == accounts.sorted())
    #expect(try snapshot.column("Id", of: "contacts", .android) == contacts.sorted())
    #expect(try SyncsSoup.states(in: snapshot.store()).first?.totalSize == 24)
  }

  // SDK: testCleanGhostsOneObjectType (203), testCleanGhostsTwoObjectTypes (204)
  @Test func `deleted records leave both soups, those created on a device stay`() async throws {
    let (org, accounts, contacts) = try Self.org(accounts: 4, contacts: 4)
    let snapshot = try await Self.snapshot(org).primed()
    for platform in Platform.allCases {
      let store = try snapshot.store(platform, writable: true)
      try store.upsert(
        [["Id": "local_1", "Name": "mine", "__local__": true, "__locally_created__": true]],
        into: "accounts")
      try store.close()
    }
    for id in accounts[0...1] + contacts[0...1] { try org.delete(id) }
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [2, 2])
    #expect(try snapshot.columns("Id", of: "accounts") == (accounts[2...3] + ["local_1"]).sorted())
    #expect(try snapshot.columns("Id", of: "contacts") == contacts[2...3].sorted())
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a failed rule is reported and removes nothing`() async throws {
    let (org, ids, contacts) = try Self.org(accounts: 4, contacts: 3)
    let snapshot = try await Self.snapshot(org).primed()
    try org.delete(ids[0])
    try org.update("Account", ids[1], ["Name": "new"])
    let rules = try org.org.briefcaseRules(of: org.admin, app: "app")
    let rule = try #require(rules.first { $0.object == "Contact" }).id
    org.server.faults.add(.kind(.priming), .ruleError(ruleID: rule, object: "Contact"))
    let outcome = try await snapshot.prime()
    #expect(outcome.warnings.contains { $0.contains(rule) })
    #expect(outcome.soups.map(\.ghosts) == [0, 0])
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    #expect(try snapshot.column("Id", of: "contacts") == contacts.sorted())
    #expect(try snapshot.column("Name", of: "accounts").contains("new"))
    // The rule works again: deleted records are removed, and nothing omitted is fetched again.
    let retrieves = org.requests(.retrieve)
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [1, 0])
    #expect(org.requests(.retrieve) == retrieves)
  }

  @Test func `a failed rule fails the prime if the pipeline is configured so`() async throws {
    let (org, _, _) = try Self.org(accounts: 2)
    org.server.faults.add(.kind(.priming), .ruleError(ruleID: "0bR000000000001"))
    let snapshot = Self.snapshot(org)
    snapshot.onRuleErrors = .fail
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .ruleErrors)
  }

  @Test func `an unreadable record is kept, reported and reread`() async throws {
    let (org, ids, _) = try Self.org(accounts: 4)
    let snapshot = try await Self.snapshot(org, [Self.accounts]).primed()
    for id in ids { try org.update("Account", id, ["Name": "new"]) }
    org.server.faults.add(.kind(.retrieve), .nullEntry(id: ids[2]))
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.unreadable) == [[ids[2]]])
    #expect(outcome.soups.map(\.written) == [3])
    #expect(outcome.soups.map(\.ghosts) == [0])
    #expect(outcome.warnings.count == 1)
    #expect(try snapshot.column("Name", of: "accounts") == ["Account 2", "new", "new", "new"])
    #expect(try await snapshot.prime().soups.map(\.fetched) == [1])
    #expect(try snapshot.column("Name", of: "accounts") == ["new", "new", "new", "new"])
    // Nothing holds the cursor anymore: it equals that of a store that missed nothing.
    let other = try await Self.snapshot(org, [Self.accounts]).primed()
    #expect(snapshot.cursors == other.cursors)
  }

  @Test func `more deletions than the guard allows wait until they are allowed`() async throws {
    let (org, accounts, _) = try Self.org(accounts: 20)
    let snapshot = try await Self.snapshot(org, [Self.accounts]).primed()
    for id in accounts[0..<11] { try org.delete(id) }
    let refused = try await snapshot.prime()
    #expect(refused.guardTripped)
    #expect(!refused.changed)
    #expect(refused.warnings.contains { $0.contains("11 of 20") })
    #expect(try snapshot.column("Id", of: "accounts").count == 20)
    snapshot.ghosts.maxDeletesPercent = 100
    let allowed = try await snapshot.prime()
    #expect(!allowed.guardTripped)
    #expect(allowed.soups.map(\.ghosts) == [11])
    #expect(try snapshot.column("Id", of: "accounts") == accounts[11...].sorted())
  }
}
