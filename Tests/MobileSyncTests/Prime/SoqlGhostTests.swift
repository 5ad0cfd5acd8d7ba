import MobileSync
import SmartStore
import System
import Testing

@Suite struct SoqlGhostTests {
  private static let query = "SELECT Id, Name FROM Account"

  private func snapshot(_ org: SyncedOrg, _ query: String = query) -> Snapshot {
    Snapshot(
      org, soups: [.sample("accounts", "Name")], syncs: [.soql("down", query, into: "accounts")])
  }

  // testCleanResyncGhostsForSOQLTarget
  @Test func `a deleted record is removed without a list of all ids`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let snapshot = try await snapshot(org).primed()
    try org.delete(ids[1])
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.ghosts) == [1])
    #expect(outcome.listed.isEmpty)
    #expect(try snapshot.columns("Id", of: "accounts") == [ids[0], ids[2]].sorted())
    #expect(org.server.log.entries.compactMap(\.soql).contains { $0.contains("IsDeleted = true") })
  }

  // testCleanResyncGhostsWithMultipleSyncs
  @Test func `a record belongs to the last sync that fetched it`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 6)
    func query(_ places: Int...) -> String {
      let list = places.map { "'\(ids[$0])'" }.joined(separator: ",")
      return "SELECT Id, Name FROM Account WHERE Id IN (\(list))"
    }
    let snapshot = Snapshot(
      org, soups: [.sample("accounts", "Name")],
      syncs: [
        .soql("one", query(0, 1, 2), into: "accounts"),
        .soql("two", query(2, 3, 4, 5), into: "accounts"),
      ])
    let first = try await snapshot.prime()
    #expect(first.soups.map(\.fetched) == [3, 4])
    for platform in Platform.allCases {
      let elements = try snapshot.elements("accounts", platform)
      #expect(elements.count == 6)
      #expect(elements.first { $0["Id"]?.string == ids[2] }?["__sync_id__"] == 2)
    }
    for place in [0, 2, 5] { try org.delete(ids[place]) }
    #expect(try await snapshot.prime(listing: "userstore/one").soups.map(\.ghosts) == [1, 2])
    #expect(try snapshot.column("Id", of: "accounts") == [ids[1], ids[3], ids[4]].sorted())
  }

  @Test func `records of two syncs do not change an unchanged snapshot`() async throws {
    let org = try SyncedOrg(accounts: 4)
    let snapshot = Snapshot(
      org, soups: [.sample("accounts", "Name")],
      syncs: [
        .soql("one", "SELECT Id, Name FROM Account", into: "accounts"),
        .soql("two", "SELECT Id, Name FROM Account WHERE Name > 'Account 1'", into: "accounts"),
      ])
    snapshot.overlapSeconds = 300
    try await snapshot.prime()
    let outcome = try await snapshot.prime()
    #expect(!outcome.changed)
    #expect(outcome.soups.map(\.unchanged) == [4, 2])
  }

  // testCleanResyncGhostsWithMultipleSyncs, in a soup that does not index the sync's id
  @Test func `without an index on the sync's id others' records are not ghosts`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 4)
    let soup = StoreConfig.Soup(
      soupName: "accounts",
      indexes: [IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: .string)])
    let snapshot = try await Snapshot.primed(
      org, soups: [soup],
      syncs: [
        .soql("one", "SELECT Id, Name FROM Account WHERE Name < 'Account 2'", into: "accounts"),
        .soql("two", "SELECT Id, Name FROM Account WHERE Name >= 'Account 2'", into: "accounts"),
      ])
    #expect(try await !snapshot.prime(listing: "userstore/one", "userstore/two").changed)
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
  }

  // D3
  @Test(arguments: [1, 3, 100])
  func `with a LIMIT records that no longer match are ghosts, and no others`(
    _ limit: Int
  ) async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 5)
    let snapshot = try await snapshot(org, "SELECT Id, Name FROM Account LIMIT 100").primed()
    for id in ids[0...1] { try org.update("Account", id, ["Name": "Z"]) }
    snapshot.stores[0].syncs = [
      .soql(
        "down", "SELECT Id, Name FROM Account WHERE Name != 'Z' LIMIT \(limit)", into: "accounts")
    ]
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.ghosts) == [2])
    #expect(outcome.warnings.isEmpty)
    #expect(try snapshot.column("Id", of: "accounts") == ids[2...].sorted())
  }

  @Test func `the bytes of a lost record are removed from the file`() async throws {
    let org = try SyncedOrg()
    let canary = "canary-7f3a9c"
    try org.makeAccounts(20)
    let lost = try org.make("Account", ["Name": .string(canary), "Description": .string(canary)])
    let snapshot = Snapshot(
      org,
      soups: [
        StoreConfig.Soup(
          soupName: "accounts",
          indexes: StoreConfig.Soup.sample("accounts").indexes + [
            IndexSpec(path: "Name", type: .fullText), IndexSpec(path: "Description", type: .json1),
          ])
      ], syncs: [.soql("down", "SELECT Id, Name, Description FROM Account", into: "accounts")])
    try await snapshot.prime()
    func holdsCanary(_ platform: Platform) throws -> Bool {
      let bytes = try Files.read(snapshot.path(platform))
      return String(decoding: bytes, as: UTF8.self).contains(canary)
    }
    #expect(try holdsCanary(.ios) && holdsCanary(.android))
    try org.delete(lost)
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [1])
    #expect(try !holdsCanary(.ios) && !holdsCanary(.android))
    for platform in Platform.allCases {
      let check = StoreCheck(origin: .server, platform: platform)
      #expect(try check.violations(at: snapshot.path(platform)).isEmpty)
    }
  }

  @Test func `keys that differ only in their last characters are distinct`() async throws {
    let org = try SyncedOrg()
    let keys = ["000000000012345001", "000000000012345002"]
    let ids = try keys.map {
      try org.make("Account", ["Name": "Account", "AccountNumber": .string($0)])
    }
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("accounts", "AccountNumber")],
      syncs: [
        .down(
          "down",
          .soql(
            SoqlTarget(
              query: "SELECT Id, Name, AccountNumber FROM Account WHERE AccountNumber != ''",
              fields: TargetFields(idFieldName: "AccountNumber"))), into: "accounts")
      ])
    #expect(try snapshot.column("AccountNumber", of: "accounts") == keys)
    try org.delete(ids[0])
    #expect(try await snapshot.prime(listing: "userstore/down").soups.map(\.ghosts) == [1])
    #expect(try snapshot.columns("AccountNumber", of: "accounts") == [keys[1]])
  }

  @Test(arguments: [false, true])
  func `an interrupted list of ids is still read to its end`(_ expires: Bool) async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 450)
    let snapshot = try await snapshot(org).primed()
    snapshot.listIDs = ["userstore/down"]
    org.server.faults.add(.kind(.query), nth: 2, .shortPage(records: 200))
    org.server.faults.add(.kind(.queryMore), nth: 1, expires ? .expireCursors : .delete(ids[449]))
    #expect(try await snapshot.prime().listed == ["userstore/down"])
    #expect(try snapshot.column("Id", of: "accounts").count == (expires ? 450 : 449))
  }
}
