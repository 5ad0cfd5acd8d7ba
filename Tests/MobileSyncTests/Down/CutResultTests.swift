import SmartStore
import Testing

import MobileSync

/// Syncs down with a limited result: a missing record is neither known to be deleted nor known to
/// be unchanged.
@Suite struct CutResultTests {
  private static let soup = ManagedStore.accounts

  /// A snapshot with the accounts that a query selects after `FROM Account`.
  private static func primed(_ org: SyncedOrg, _ end: String) async throws -> Snapshot {
    try await Snapshot.primed(
      org, soups: [.sample(soup, "Name")],
      syncs: [.soql("down", "SELECT Id, Name FROM Account \(end)", into: soup)])
  }

  @Test(
    arguments: [
      "LIMIT 3", "LIMIT 3 OFFSET 1", "ORDER BY LastModifiedDate DESC LIMIT 3",
      "WHERE Name != 'Z' ORDER BY Name LIMIT 3",
    ], [false, true])
  func `an edit stays if another record was deleted`(_ end: String, _ listsAll: Bool) async throws {
    let org = try SyncedOrg(accounts: 5)
    let other = try org.make("Account", ["Name": "Z"])
    let snapshot = try await Self.primed(org, end)
    let held = try snapshot.column("Id", of: Self.soup)
    let edited = held.filter { $0 != other }.prefix(2)
    try org.update("Account", edited[0], ["Site": "Hall 3"])
    try org.delete(other)
    snapshot.changed = [Self.soup: Set(edited)]
    if listsAll { snapshot.listIDs = ["userstore/down"] }
    for _ in 0..<2 {
      try await snapshot.prime()
      for platform in Platform.allCases {
        let ids = try snapshot.column("Id", of: Self.soup, platform)
        #expect(Set(held).subtracting([other]).isSubset(of: ids))
        #expect(!ids.contains(other))
      }
    }
  }

  /// The records were deleted in the org after the user's edit, or the query no longer selects them.
  @Test(arguments: [true, false])
  func `missing records count for the guard`(_ isDeleted: Bool) async throws {
    let org = try SyncedOrg(accounts: 50)
    let snapshot = try await Self.primed(org, (isDeleted ? "" : "WHERE Name != 'X' ") + "LIMIT 25")
    let ids = try snapshot.column("Id", of: Self.soup)
    for id in ids {
      if isDeleted { try org.delete(id) } else { try org.update("Account", id, ["Name": "X"]) }
    }
    if isDeleted { snapshot.changed = [Self.soup: Set(ids)] }
    #expect(try await snapshot.prime().guardTripped)
    #expect(Set(ids).isSubset(of: try snapshot.column("Id", of: Self.soup)))
  }

  @Test(arguments: [false, true])
  func `a record that the user created stays, also outside the limit`(_ isEdited: Bool) async throws
  {
    let org = try SyncedOrg(accounts: 5)
    let snapshot = try await Self.primed(org, "WHERE Name != 'X' ORDER BY Name LIMIT 3")
    let held = try snapshot.column("Id", of: Self.soup)
    let made = try org.make("Account", ["Name": "Z"])
    let unselected = try org.make("Account", ["Name": "X"])
    if isEdited { try org.update("Account", held[0], ["Name": "ZZ"]) }
    // A record of another soup does not become one of this.
    let elsewhere = try org.make("Account", ["Name": "ZZZ"])
    snapshot.changed = [Self.soup: [made, unselected, held[0]], "others": [elsewhere]]
    for _ in 0..<2 {
      try await snapshot.prime()
      snapshot.changed = [:]
      for platform in Platform.allCases {
        let ids = Set(try snapshot.column("Id", of: Self.soup, platform))
        #expect(ids.isSuperset(of: held + [made]))
        #expect(ids.isDisjoint(with: [unselected, elsewhere]))
      }
    }
  }

  @Test(
    arguments: ["ORDER BY Name LIMIT 3", "ORDER BY Name LIMIT 3 OFFSET 1", "LIMIT 3"],
    [false, true])
  func `a record that no longer matches is removed, and one outside the limit stays`(
    _ end: String, _ listsAll: Bool
  ) async throws {
    let org = try SyncedOrg()
    try org.makeAccounts(6, name: "Keep")
    let snapshot = try await Self.primed(org, "WHERE Name LIKE 'Keep%' \(end)")
    let held = try snapshot.column("Id", of: Self.soup)
    // The last one moves out of the limit's part of the result.
    try org.update("Account", held[0], ["Name": "Drop"])
    try org.update("Account", held[2], ["Name": "Keep last"])
    if listsAll { snapshot.listIDs = ["userstore/down"] }
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.ghosts) == [1])
    #expect(outcome.warnings == [] && outcome.listed == ["userstore/down"])
    for platform in Platform.allCases {
      let ids = try snapshot.column("Id", of: Self.soup, platform)
      #expect(!ids.contains(held[0]) && ids.contains(held[2]))
      #expect(try snapshot.column("Name", of: Self.soup, platform).contains("Keep last"))
    }
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a first prime fetches the edited records that the limit leaves out`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 5)
    let snapshot = Snapshot(
      org, soups: [.sample(Self.soup, "Name")],
      syncs: [
        .soql(
          "down", "SELECT Id, Name FROM Account WHERE Name != 'X' ORDER BY Name DESC LIMIT 2",
          into: Self.soup)
      ])
    let unselected = try org.make("Account", ["Name": "X"])
    snapshot.changed = [Self.soup: [ids[0]]]
    snapshot.edited = [Self.soup: [ids[1], ids[4], unselected, "local_1"], "others": [ids[2]]]
    try await snapshot.prime()
    let stored = try snapshot.columns("Id", of: Self.soup)
    #expect(stored == [ids[0], ids[1], ids[3], ids[4]])
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a first prime reports the edited records that a cut search lacks`() async throws {
    let org = try SyncedOrg()
    let ids = try org.makeAccounts(3, name: "Acme")
    let query = "FIND {Acme} RETURNING Account(Id, Name ORDER BY Name LIMIT 2)"
    let snapshot = Snapshot(
      org, soups: [.sample(Self.soup, "Name")],
      syncs: [.down("down", .sosl(SoslTarget(query: query)), into: Self.soup)])
    snapshot.edited = [Self.soup: [ids[2]]]
    let warnings = try await snapshot.prime().warnings
    #expect(warnings.contains { $0.contains("1 record that the user edited and that it lacks") })
  }

  @Test(arguments: ["LIMIT 100", "LIMIT 3"])
  func `a record that its user's edit excludes is removed with the next prime`(
    _ limit: String
  ) async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 5)
    let snapshot = try await Self.primed(org, "WHERE Name != 'X' ORDER BY Name \(limit)")
    try org.update("Account", ids[0], ["Name": "X"])
    snapshot.changed = [Self.soup: [ids[0]]]
    snapshot.ghosts = DeletionGuard(maxDeletesPercent: 0, minimumDeletes: 0)
    try await snapshot.prime()
    #expect(try !snapshot.columns("Id", of: Self.soup).contains(ids[0]))
  }

  /// Targets with a limited result, and how to make them return other records.
  private static let cut: [(SyncTarget, late: Int)] = [
    (
      .soql(
        SoqlTarget(query: "SELECT Id, Name FROM Account ORDER BY LastModifiedDate DESC LIMIT 3")), 4
    ),
    (
      .soql(
        SoqlTarget(
          query: "SELECT Id, Name FROM Account ORDER BY LastModifiedDate DESC LIMIT 2 OFFSET 1")),
      4
    ),
    (.mru(MruTarget(sobjectType: "Account", fieldlist: ["Id", "Name"])), 205),
  ]

  @Test(arguments: cut.indices)
  func `a changed record that left the result is fetched by id`(_ number: Int) async throws {
    let (target, late) = Self.cut[number]
    let store = try await ManagedStore()
    let snapshot = Snapshot(
      store.org, soups: [.sample(Self.soup, "Name")],
      syncs: [.down("down", target, into: Self.soup)])
    try store.org.makeAccounts(3)
    try await snapshot.prime()
    let run = try await store.manager.syncDown(target: target, soupName: Self.soup).finished()
    let held = try await store.column("Id")
    for id in held { try store.org.update("Account", id, ["Name": .string("new \(id)")]) }
    try store.org.makeAccounts(late, name: "late")
    try await snapshot.prime()
    let report = try await store.manager.reSync(id: run.syncID).finish()
    let names = held.map { "new \($0)" }
    #expect(report.warnings == [])
    #expect(Set(names).isSubset(of: try await store.column("Name")))
    for platform in Platform.allCases {
      #expect(Set(names).isSubset(of: try snapshot.column("Name", of: Self.soup, platform)))
    }
    #expect(try await !snapshot.prime().changed)
    #expect(try await store.manager.reSync(id: run.syncID).finish().written == 0)
  }

  @Test func `records missing from a cut search that cannot be queried are reported`() async throws
  {
    let store = try await ManagedStore()
    let ids = try store.org.makeAccounts(2, name: "Acme")
    let run = try await store.manager.syncDown(
      target: .sosl(
        SoslTarget(
          query: "FIND {Acme} RETURNING Account(Id, Name ORDER BY LastModifiedDate DESC LIMIT 2)")),
      soupName: Self.soup)
    #expect(try await run.finish().warnings == [])
    for id in ids { try store.org.update("Account", id, ["Name": "Acme new"]) }
    try store.org.makeAccounts(2, name: "Acme late")
    let report = try await store.manager.reSync(id: run.syncID).finish()
    #expect(report.warnings.count == 1)
    #expect(report.warnings.contains { $0.contains("2 records of the store that it lacks") })
  }

  @Test func `values of a number field that cannot be queried are reported`() async throws {
    let field = "AnnualRevenue"
    let store = try await ManagedStore { store in
      try store.registerSoup(
        "numbered",
        indexSpecs: [field, "__local__", "__sync_id__"].map { IndexSpec(path: $0, type: .string) })
    }
    for number in 1...2 {
      try store.org.make("Account", ["Name": "n", field: .number("\(number)")])
    }
    let run = try await store.manager.syncDown(
      target: .soql(
        SoqlTarget(
          query:
            "SELECT \(field), Name FROM Account WHERE Name = 'n' ORDER BY \(field) DESC LIMIT 2",
          fields: TargetFields(idFieldName: field))), soupName: "numbered"
    ).finished()
    try store.org.make("Account", ["Name": "n", field: .number("3")])
    let report = try await store.manager.reSync(id: run.syncID).finish()
    #expect(report.warnings.contains { $0.contains("1 record of the store") })
    #expect(try await store.elements("numbered").count == 3)
  }

  @Test func `a refreshed record stays if its sync's result may be cut`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample(Self.soup, "Name")],
      syncs: [
        .soql(
          "last", "SELECT Id, Name FROM Account ORDER BY LastModifiedDate DESC LIMIT 3",
          into: Self.soup),
        .soql("oslo", "SELECT Id, Name FROM Account WHERE BillingCity = 'Oslo'", into: Self.soup),
        .down(
          "refresh",
          .refresh(RefreshTarget(sobjectType: "Account", fieldlist: ["Name"], soupName: Self.soup)),
          into: Self.soup),
      ])
    try org.makeAccounts(3, name: "late")
    snapshot.listIDs = ["userstore/oslo"]
    for _ in 0..<2 { try await snapshot.prime() }
    #expect(Set(ids).isSubset(of: try snapshot.column("Id", of: Self.soup)))
  }
}
