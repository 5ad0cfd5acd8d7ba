import JSON
import MobileSync
import SmartStore
import Testing

@Suite struct SoqlChangesTests {
  private static let query = "SELECT Id, Name FROM Account"

  private func snapshot(_ org: SyncedOrg, _ queries: String...) -> Snapshot {
    Snapshot(
      org, soups: queries.indices.map { .sample("soup\($0)", "Name") },
      syncs: queries.enumerated().map { .soql("down\($0)", $1, into: "soup\($0)") })
  }

  @Test func `changes and deletions arrive in one request, byte by byte as a query`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 5)
    let snapshot = try await snapshot(org, Self.query).primed()
    try org.delete(ids[0])
    try org.update("Account", ids[1], ["Name": "changed"])
    let added = try org.make("Account", ["Name": "added"])
    let before = org.requests(.query)
    let outcome = try await snapshot.prime()
    #expect(org.requests(.query) - before == 1)
    #expect(outcome.soups.map(\.ghosts) == [1])
    #expect(outcome.soups.map(\.fetched) == [2])
    // A first prime of the same org, by `query` alone, has the same rows.
    let whole = try await self.snapshot(org, Self.query).primed()
    for platform in Platform.allCases {
      #expect(try snapshot.column("Id", of: "soup0", platform) == (ids[1...] + [added]).sorted())
      func bytes(_ snapshot: Snapshot) throws -> [String] {
        try snapshot.elements("soup0", platform).map { element in
          var object = element.object ?? JSONObject()
          for path in ["_soupEntryId", "_soupLastModifiedDate"] { object[path] = nil }
          return String(decoding: JSONValue.object(object).bytes, as: UTF8.self)
        }.sorted()
      }
      #expect(try bytes(snapshot) == bytes(whole))
      #expect(try snapshot.elements("soup0", platform).allSatisfy { $0["IsDeleted"] == nil })
    }
  }

  @Test(arguments: [
    ("SELECT Id, Name FROM Account WHERE Name LIKE 'A%' OR Name LIKE 'B%'", 1),
    ("SELECT Id, Name, IsDeleted FROM Account LIMIT 10000", 1), ("SELECT Id, Name FROM User", 1),
    ("SELECT Id, Name, (SELECT Id FROM Contacts) FROM Account", 2),
    ("SELECT Id, Name FROM Account WHERE Id IN (SELECT AccountId FROM Contact)", 2),
  ])
  func `an unchanged org gets one request if queryAll returns the same as query`(
    _ query: String, _ requests: Int
  ) async throws {
    let org = try SyncedOrg()
    for id in try org.makeAccounts(3) {
      try org.make("Contact", ["LastName": "c", "AccountId": .string(id)])
    }
    let snapshot = snapshot(org, query)
    snapshot.overlapSeconds = 300
    try await snapshot.prime()
    let before = org.requests(.query)
    let outcome = try await snapshot.prime()
    #expect(!outcome.changed)
    #expect(outcome.soups.allSatisfy { $0.unchanged > 0 })
    #expect(org.requests(.query) - before == requests)
  }

  @Test func `an object without IsDeleted uses query alone`() async throws {
    let org = try SyncedOrg(accounts: 2)
    let snapshot = try await snapshot(org, Self.query).primed()
    try org.makeAccounts(1, name: "late")
    org.server.faults.add(
      .kind(.query), nth: 1,
      .status(400, code: "INVALID_FIELD", message: "No such column 'IsDeleted'"))
    let before = org.requests(.query)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [1])
    #expect(org.requests(.query) - before == 2)
  }

  @Test func `a LIMIT that deleted rows could fill is queried without them`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 4)
    let snapshot = snapshot(org, "SELECT Id, Name FROM Account WHERE Name != 'x' LIMIT 5")
    try await snapshot.prime()
    try org.make("Account", ["Name": "x"])
    for id in ids[0...2] { try org.delete(id) }
    let others = try (0..<4).map { try org.make("Account", ["Name": .string("gone \($0)")]) }
    for id in others { try org.delete(id) }
    try org.update("Account", ids[3], ["Name": "kept"])
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [3])
    #expect(try snapshot.column("Name", of: "soup0") == ["kept"])
  }

  @Test func `deleted rows do not count as missing records`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 14)
    let snapshot = snapshot(org, Self.query)
    snapshot.ghosts.minimumDeletes = 20
    try await snapshot.prime()
    for (place, id) in ids.enumerated() {
      if place.isMultiple(of: 2) {
        try org.delete(id)
      } else {
        try org.update("Account", id, ["Name": "again"])
      }
    }
    org.server.faults.add(.any, times: 100, .shortPage(records: 3))
    let outcome = try await snapshot.prime()
    #expect(outcome.warnings == [])
    #expect(org.requests(.queryMore) > 1)
    #expect(outcome.soups.map(\.ghosts) == [7])
    #expect(outcome.soups.map(\.fetched) == [7])
  }

  @Test(arguments: [
    (#"{"records":[{"Id":"1","IsDeleted":false}]}"#, #"{"records":[{"Id":"1"}]}"#, []),
    (#"{"records":[]}"#, #"{"records":[]}"#, []),
    (
      #"{"records":[{"Id":"1", "IsDeleted": true},{"Id":"2","A":"x,\"IsDeleted\"" , "IsDeleted" : false }]}"#,
      #"{"records":[{"Id":"2","A":"x,\"IsDeleted\""  }]}"#, ["1"]
    ),
    (
      #"{"records":[{"Id":"1","O":{"IsDeleted":true},"IsDeleted":false},{"Id":"2","IsDeleted":false}]}"#,
      #"{"records":[{"Id":"1","O":{"IsDeleted":true}},{"Id":"2"}]}"#, []
    ),
  ])
  func `a page is split into existing records and deleted ids`(
    _ page: String, _ living: String, _ deleted: [String]
  ) throws {
    let split = try DeletedRows(idField: "Id", cutsMember: true).split(Array(page.utf8))
    #expect(String(decoding: split.living, as: UTF8.self) == living)
    #expect(split.deleted == deleted)
  }

  @Test(arguments: [
    #"{"records":[{"Id":"1"}]}"#, #"{"records":[{"Id":"1","IsDeleted":"no"}]}"#,
    #"{"records":[{"IsDeleted":false}]}"#, "[]", "x",
  ])
  func `a page that does not show deleted rows is refused`(_ page: String) {
    #expect(throws: SyncError.self) {
      try DeletedRows(idField: "Id", cutsMember: true).split(Array(page.utf8))
    }
  }

  @Test func `deleted records are queried without the target's conditions`() throws {
    let query = try SyncQuery("SELECT Id, Name FROM Account WHERE A = 1 OR B = 2 LIMIT 9")
    #expect(query.addsIsDeleted)
    #expect(
      query.changes(since: 1_706_704_496_000)
        == "select LastModifiedDate,Id, Name, IsDeleted from Account where "
        + "(IsDeleted = false and LastModifiedDate > 2024-01-31T12:34:56.000Z and "
        + "(A = 1 OR B = 2)) or (IsDeleted = true and SystemModstamp > 2024-01-31T12:34:56.000Z) "
        + "order by LastModifiedDate limit 9")
    #expect(try SyncQuery("SELECT Id FROM A FOR VIEW").changes(since: 1) == nil)
    #expect(try SyncQuery("SELECT Key__c FROM A", idField: "Key__c").changes(since: 1) == nil)
  }
}
