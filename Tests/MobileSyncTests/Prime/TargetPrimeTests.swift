import JSON
import MobileSync
import SmartStore
import Testing

@Suite struct TargetPrimeTests {
  private let org: SyncedOrg
  init() throws { org = try SyncedOrg() }

  private static func snapshot(
    _ org: SyncedOrg, _ syncs: SyncDefinition..., as user: String = "admin@example.com"
  ) -> Snapshot {
    Snapshot(
      org, as: user,
      soups: [
        .sample("accounts", "Name"), .sample("contacts", "LastName", "AccountId"),
        StoreConfig.Soup(soupName: "answers", indexes: [IndexSpec(path: "Id", type: .string)]),
      ], syncs: syncs)
  }

  private static let search = SyncTarget.sosl(
    SoslTarget(query: "FIND {Acme} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate)"))

  // MARK: sosl

  @Test func `a search is one request per run, whose list also shows the ghosts`() async throws {
    let ids = try org.makeAccounts(3, name: "Acme")
    let snapshot = Self.snapshot(org, .down("search", Self.search, into: "accounts"))
    let first = try await snapshot.prime()
    #expect(first.soups.map(\.fetched) == [3])
    #expect(first.cursors["userstore/search"] ?? 0 > 0)
    let files = snapshot.files
    let unmoved = try await snapshot.prime()
    #expect(!unmoved.changed)
    #expect(unmoved.soups.map(\.unchanged) == [3])
    #expect(snapshot.files == files)
    #expect(org.requests(.search) == 2)
    try org.delete(ids[0])
    try org.update("Account", ids[1], ["Name": "Acme new"])
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.written) == [1])
    #expect(outcome.soups.map(\.ghosts) == [1])
    #expect(org.requests(.search) == 3)
    #expect(try snapshot.columns("Id", of: "accounts") == ids[1...].sorted())
    let state = try #require(try SyncsSoup.states(in: snapshot.store()).first)
    #expect(state.status == .done)
    #expect(state.totalSize == 2)
  }

  @Test func `a cut search removes nothing and warns`() async throws {
    let ids = try org.makeAccounts(3, name: "Acme")
    let target = SyncTarget.sosl(
      SoslTarget(query: "FIND {Acme} IN NAME FIELDS RETURNING Account(Id LIMIT 2)"))
    let snapshot = try await Self.snapshot(org, .down("search", target, into: "accounts")).primed()
    for id in ids { try org.delete(id) }
    try org.makeAccounts(2, name: "Acme")
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.ghosts) == [0])
    #expect(outcome.soups.map(\.total) == [4])
    #expect(outcome.warnings.contains { $0.contains("none was removed") })
  }

  // MARK: mru

  @Test func `recent records are the user's own; deletions arrive next time`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let target = SyncTarget.mru(MruTarget(sobjectType: "Account", fieldlist: ["Name"]))
    let snapshot = Self.snapshot(org, .down("recent", target, into: "accounts"))
    #expect(try await snapshot.prime().soups.map(\.fetched) == [3])
    try org.delete(ids[0])
    let deleted = try await snapshot.prime()
    #expect(deleted.soups.map(\.ghosts) == [1])
    #expect(deleted.listed.isEmpty)
    #expect(try snapshot.columns("Id", of: "accounts") == ids[1...].sorted())
    #expect(try await !snapshot.prime().changed)
    // The list finds what the org no longer reports.
    try org.delete(ids[1])
    snapshot.cursors["userstore/recent"] = org.org.now()
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [0])
    let listed = try await snapshot.prime(listing: "userstore/recent")
    #expect(listed.soups.map(\.ghosts) == [1])
    #expect(listed.listed == ["userstore/recent"])
    let other = Self.snapshot(
      org, .down("recent", target, into: "accounts"), as: "ben@example.com")
    #expect(try await other.prime().soups.map(\.fetched) == [0])
  }

  // MARK: refresh

  @Test func `a refresh updates records that an earlier sync put in the soup`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 5)
    let target = SyncTarget.refresh(
      RefreshTarget(
        sobjectType: "Account", fieldlist: ["Name", "Site"], soupName: "accounts",
        countIdsPerSoql: 2))
    let snapshot = Self.snapshot(
      org, .soql("ids", "SELECT Id FROM Account", into: "accounts"),
      .down("fields", target, into: "accounts"))
    #expect(try await snapshot.prime().soups.map(\.fetched) == [5, 5])
    for platform in Platform.allCases {
      let elements = try snapshot.elements("accounts", platform)
      #expect(elements.count == 5)
      #expect(elements.allSatisfy { $0["Name"]?.string != nil && $0["__sync_id__"] == 2 })
    }
    #expect(try await !snapshot.prime().changed)
    try org.update("Account", ids[3], ["Site": "new"])
    #expect(try await snapshot.prime().soups.map(\.fetched) == [1, 1])
    #expect(try snapshot.column("Site", of: "accounts", .android) == ["new"])
    try org.delete(ids[0])
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [1, 0])
    #expect(try snapshot.column("Id", of: "accounts") == ids[1...].sorted())
    try org.delete(ids[1])
    let listed = try await snapshot.prime(listing: "userstore/ids", "userstore/fields")
    #expect(listed.soups.map(\.ghosts) == [1, 0])
    #expect(listed.listed == snapshot.listIDs)
  }

  @Test(arguments: [
    SyncTarget.soql(SoqlTarget(query: "SELECT Id FROM Account")),
    .mru(MruTarget(sobjectType: "Account", fieldlist: ["Name"])),
  ])
  func `refreshed records stay complete, and an unchanged org writes nothing`(
    _ source: SyncTarget
  ) async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 4)
    for id in ids { try org.update("Account", id, ["Site": "here"]) }
    let target = SyncTarget.refresh(
      RefreshTarget(sobjectType: "Account", fieldlist: ["Name", "Site"], soupName: "accounts"))
    let snapshot = Self.snapshot(
      org, .down("source", source, into: "accounts"),
      .down("fields", target, into: "accounts"))
    // The overlap fetches all of them again in each run.
    snapshot.overlapSeconds = 3600
    try await snapshot.prime()
    #expect(try await !snapshot.prime().changed)
    try org.update("Account", ids[2], ["Site": "there"])
    #expect(try await snapshot.prime().changed)
    #expect(try snapshot.columns("Site", of: "accounts") == ["here", "here", "here", "there"])
    #expect(try await !snapshot.prime().changed)
  }

  // MARK: Layout and metadata

  @Test func `a layout has the id that each platform looks up`() async throws {
    let layout = SyncTarget.layout(
      LayoutTarget(sobjectType: "Account", formFactor: .medium, layoutType: .compact))
    let snapshot = Self.snapshot(
      org, .down("layout", layout, into: "answers"),
      .down("metadata", .metadata(MetadataTarget(sobjectType: "Account")), into: "answers"))
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.fetched) == [1, 1])
    #expect(outcome.soups.map(\.total) == [1, 2])
    #expect(
      try snapshot.column("Id", of: "answers", .ios)
        == ["Account", "Account-Medium-Compact-(null)-(null)"])
    #expect(
      try snapshot.column("Id", of: "answers", .android)
        == ["Account", "Account-Medium-Compact-null-null"])
    let states = try SyncsSoup.states(in: snapshot.store())
    #expect(states.map(\.totalSize) == [1, 1])
    #expect(states.map(\.maxTimeStamp) == [-1, -1])
    #expect(try await !snapshot.prime().changed)
    #expect(org.requests(.layout) == 2)
    #expect(org.requests(.describe) == 2)
  }

  // MARK: parent_children

  private static let family = SyncTarget.parentChildren(.accounts(filter: "Name LIKE 'Account%'"))

  @Test func `families are in both soups of both platforms, without their ghosts`() async throws {
    let families = try org.makeFamilies(3, children: 2)
    let (parents, children) = (families.map(\.id), families.flatMap(\.children))
    let snapshot = Self.snapshot(org, .down("families", Self.family, into: "accounts"))
    let first = try await snapshot.prime()
    #expect(first.soups.map(\.soup) == ["accounts", "contacts"])
    #expect(first.soups.map(\.fetched) == [3, 6])
    for platform in Platform.allCases {
      #expect(try snapshot.column("Id", of: "accounts", platform) == parents.sorted())
      #expect(try snapshot.column("Id", of: "contacts", platform) == children.sorted())
      #expect(
        try snapshot.elements("contacts", platform).allSatisfy { $0["AccountId"]?.string != nil })
    }
    #expect(try await !snapshot.prime().changed)
    try org.update("Account", parents[1], ["Name": "Account new"])
    #expect(try await snapshot.prime().soups.first?.written == 1)
    try org.delete(children[0])
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [0, 1])
    #expect(try snapshot.column("Id", of: "contacts", .android) == children[1...].sorted())
    // Only the list finds a parent that no longer matches, and its children.
    try org.update("Account", parents[2], ["Name": "other"])
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [0, 0])
    #expect(try await snapshot.prime(listing: "userstore/families").soups.map(\.ghosts) == [1, 2])
  }

  @Test func `a tree changed on the device stays although its parent was deleted`() async throws {
    let families = try org.makeFamilies(3, children: 2)
    let (parents, children) = (families.map(\.id), families.flatMap(\.children))
    let snapshot = try await Self.snapshot(
      org, .down("families", Self.family, into: "accounts", .leaveIfChanged)
    ).primed()
    try snapshot.edit("contacts", children[0]) { $0["LastName"] = "mine" }
    try org.delete(parents[0])
    try org.delete(parents[1])
    #expect(try await snapshot.prime().soups.first?.ghosts == 1)
    #expect(try snapshot.column("Id", of: "accounts") == [parents[0], parents[2]].sorted())
    #expect(try snapshot.column("Id", of: "contacts").contains(children[0]))
  }

  @Test func `LEAVE_IF_CHANGED skips the whole tree of a changed child`() async throws {
    let families = try org.makeFamilies(3, children: 2)
    let (parents, children) = (families.map(\.id), families.flatMap(\.children))
    let snapshot = try await Self.snapshot(
      org, .down("families", Self.family, into: "accounts", .leaveIfChanged)
    ).primed()
    try snapshot.edit("contacts", children[0]) { $0["LastName"] = "mine" }
    for id in parents { try org.update("Account", id, ["Name": "Account theirs"]) }
    try await snapshot.prime()
    for platform in Platform.allCases {
      let names = try snapshot.elements("accounts", platform).map { $0["Name"]?.string }
      #expect(names.filter { $0 == "Account theirs" }.count == 2)
      #expect(try snapshot.column("LastName", of: "contacts", platform).contains("mine"))
    }
  }

  // MARK: Unsupported

  @Test func `an app's code cannot be primed`() async throws {
    let json = JSONValue.object([
      "type": "custom", "iOSImpl": "AppTarget", "androidImpl": "com.example.AppTarget",
    ])
    let target = try SyncTarget(stored: json, type: .syncDown)
    let snapshot = Self.snapshot(org, .down("custom", target, into: "accounts"))
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .definition)
    #expect(snapshot.files.isEmpty)
  }
}
