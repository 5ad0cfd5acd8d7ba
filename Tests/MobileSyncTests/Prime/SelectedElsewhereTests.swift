import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

@Suite struct SelectedElsewhereTests {
  private let org: SyncedOrg
  init() throws { org = try SyncedOrg() }

  /// The contacts of the accounts in Oslo; a record can stop matching without being modified.
  private static let oslo = SyncDefinition.soql(
    "oslo", "SELECT Id, LastName FROM Contact WHERE Account.BillingCity = 'Oslo'", into: "contacts")

  private static let named = SyncDefinition.soql(
    "named", "SELECT Id, LastName, Title FROM Contact WHERE LastName LIKE 'K%'", into: "contacts")

  private static let refresh = SyncDefinition.down(
    "refresh",
    .refresh(
      RefreshTarget(sobjectType: "Contact", fieldlist: ["LastName", "Email"], soupName: "contacts")),
    into: "contacts")

  /// A soup of contacts, with or without an index on the sync's ID.
  private static func soup(hasIndex: Bool = true) -> StoreConfig.Soup {
    var soup = StoreConfig.Soup.sample("contacts", "LastName", "AccountId")
    if !hasIndex {
      soup = StoreConfig.Soup(
        soupName: soup.soupName, indexes: soup.indexes.filter { $0.path != "__sync_id__" })
    }
    return soup
  }

  private static func account(
    _ org: SyncedOrg, _ names: String...
  ) throws -> (id: String, contacts: [String]) {
    let id = try org.make("Account", ["Name": "Near", "BillingCity": "Oslo"])
    let contacts = try names.map {
      try org.make("Contact", ["LastName": .string($0), "Title": "Dr", "AccountId": .string(id)])
    }
    return (id, contacts)
  }

  // MARK: Refreshed records

  @Test(arguments: [true, false])
  func `a refreshed record is removed if no sync selects it`(_ hasIndex: Bool) async throws {
    let (_, stays) = try Self.account(org, "Stays")
    let (gone, _) = try Self.account(org, "Goes")
    let snapshot = try await Snapshot.primed(
      org, soups: [Self.soup(hasIndex: hasIndex)], syncs: [Self.oslo, Self.refresh])
    #expect(try snapshot.elements("contacts").allSatisfy { $0["__sync_id__"] == 2 })
    try org.update("Account", gone, ["BillingCity": "Rome"])
    try await snapshot.prime()
    #expect(try snapshot.column("Id", of: "contacts").count == 2)
    #expect(try await snapshot.prime(listing: "userstore/oslo").soups.map(\.ghosts) == [1, 0])
    #expect(try snapshot.columns("Id", of: "contacts") == stays)
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a refreshed record stays while one of two syncs selects it`() async throws {
    let (gone, contacts) = try Self.account(org, "Kay", "Low")
    let snapshot = try await Snapshot.primed(
      org, soups: [Self.soup()], syncs: [Self.oslo, Self.named, Self.refresh])
    try org.update("Account", gone, ["BillingCity": "Rome"])
    try await snapshot.prime(listing: "userstore/oslo", "userstore/named")
    for platform in Platform.allCases {
      #expect(try snapshot.column("Id", of: "contacts", platform) == [contacts[0]])
      // The field added by the refresh is present anyway.
      #expect(try snapshot.elements("contacts", platform).allSatisfy { $0["Email"] == .null })
    }
    #expect(try await !snapshot.prime().changed)
    try org.update("Contact", contacts[0], ["LastName": "Other"])
    try await snapshot.prime()
    #expect(try snapshot.columns("Id", of: "contacts") == [])
  }

  @Test func `among many refreshed records another sync's are found by its list`() async throws {
    let account = try org.make("Account", ["Name": "Near", "BillingCity": "Oslo"])
    try org.org.transaction {
      for number in 0..<2010 {
        let name = number < 2002 ? "K \(number)" : "L \(number)"
        try org.make("Contact", ["LastName": .string(name), "AccountId": .string(account)])
      }
    }
    let snapshot = try await Snapshot.primed(
      org, soups: [Self.soup()], syncs: [Self.oslo, Self.named, Self.refresh])
    let first = org.requests(.query) + org.requests(.queryMore)
    try org.update("Account", account, ["BillingCity": "Rome"])
    let outcome = try await snapshot.prime(listing: "userstore/oslo")
    #expect(outcome.soups.map(\.ghosts) == [8, 0, 0])
    #expect(outcome.soups.map(\.written) == [0, 0, 0])
    #expect(org.requests(.query) + org.requests(.queryMore) - first < 12)
    for platform in Platform.allCases {
      #expect(try snapshot.elements("contacts", platform).count == 2002)
    }
  }

  @Test func `a refreshed record that the user's edit excluded is removed at once`() async throws {
    let (_, contacts) = try Self.account(org, "Kay", "Kim")
    let snapshot = Snapshot(org, soups: [Self.soup()], syncs: [Self.named, Self.refresh])
    try await snapshot.prime()
    try org.update("Contact", contacts[0], ["LastName": "Low"])
    snapshot.changed = ["contacts": [contacts[0]]]
    try await snapshot.prime()
    #expect(try snapshot.columns("Id", of: "contacts") == [contacts[1]])
  }

  @Test func `an unmatched record changed after a refresh arrives when ids are read`() async throws
  {
    let (account, contacts) = try Self.account(org, "Kay", "Kim")
    try org.org.share(account, with: "ada@example.com")
    for id in contacts { try org.org.share(id, with: "ada@example.com") }
    let snapshot = try await Snapshot.primed(
      org, as: "ada@example.com", soups: [Self.soup()], syncs: [Self.named, Self.refresh])
    try org.org.unshare(contacts[0], from: "ada@example.com")
    try org.update("Contact", contacts[0], ["LastName": "Kay new"])
    try org.update("Contact", contacts[1], ["LastName": "Kim new"])
    try await snapshot.prime()
    #expect(try snapshot.column("LastName", of: "contacts") == ["Kay", "Kim new"])
    try org.org.share(contacts[0], with: "ada@example.com")
    try await snapshot.prime(listing: "userstore/named")
    #expect(try snapshot.columns("LastName", of: "contacts") == ["Kay new", "Kim new"])
  }

  // MARK: Two syncs of one soup

  @Test(arguments: [true, false], [true, false])
  func `one sync's ghost stays as another's`(_ isFirst: Bool, _ listsAll: Bool) async throws {
    let syncs = isFirst ? [Self.oslo, Self.named] : [Self.named, Self.oslo]
    let org = try SyncedOrg()
    let (gone, contacts) = try Self.account(org, "Kay", "Low")
    let (near, others) = try Self.account(org, "Lee")
    let snapshot = try await Snapshot(org, soups: [Self.soup()], syncs: syncs).primed()
    try org.update("Account", gone, ["BillingCity": "Rome"])
    // The cursors pass what is to stay.
    try org.make("Contact", ["LastName": "Kim", "AccountId": .string(near)])
    try await snapshot.prime()
    snapshot.listIDs = listsAll ? ["userstore/oslo", "userstore/named"] : ["userstore/oslo"]
    #expect(try await snapshot.prime().soups.reduce(0) { $0 + $1.ghosts } == 1)
    let named = isFirst ? 2 : 1
    for platform in Platform.allCases {
      let elements = try snapshot.elements("contacts", platform)
      #expect(elements.compactMap { $0["LastName"]?.string }.sorted() == ["Kay", "Kim", "Lee"])
      let kept = try #require(elements.first { $0["Id"]?.string == contacts[0] })
      #expect(kept["Title"] == "Dr")
      #expect(kept["__sync_id__"] == JSONValue(named))
    }
    #expect(try await !snapshot.prime().changed)
    // The sync that keeps it also removes it.
    try org.update("Contact", contacts[0], ["LastName": "Zoe"])
    try await snapshot.prime(listing: "userstore/named")
    for platform in Platform.allCases {
      #expect(try snapshot.column("LastName", of: "contacts", platform) == ["Kim", "Lee"])
      #expect(try snapshot.column("Id", of: "contacts", platform).contains(others[0]))
    }
  }

  @Test func `records that another sync keeps do not count for the guard`() async throws {
    let account = try org.make("Account", ["Name": "Near", "BillingCity": "Oslo"])
    for number in 0..<20 {
      let name = number < 15 ? "K \(number)" : "L \(number)"
      try org.make("Contact", ["LastName": .string(name), "AccountId": .string(account)])
    }
    let snapshot = Snapshot(org, soups: [Self.soup()], syncs: [Self.named, Self.oslo])
    try await snapshot.prime()
    try org.update("Account", account, ["BillingCity": "Rome"])
    #expect(try await !snapshot.prime(listing: "userstore/oslo").guardTripped)
    #expect(try snapshot.column("Id", of: "contacts").count == 15)
  }

  @Test func `records of a search, recent records or a LIMIT query stay too`() async throws {
    let (gone, contacts) = try Self.account(org, "Kay", "Low")
    let targets: [SyncTarget] = [
      .sosl(
        SoslTarget(
          query: "FIND {Kay} IN NAME FIELDS RETURNING Contact(Id, LastName, LastModifiedDate)")),
      .mru(MruTarget(sobjectType: "Contact", fieldlist: ["LastName"])),
      .soql(SoqlTarget(query: "SELECT Id, LastName FROM Contact ORDER BY LastName LIMIT 1")),
    ]
    for (place, target) in targets.enumerated() {
      try org.update("Account", gone, ["BillingCity": "Oslo"])
      let snapshot = try await Snapshot.primed(
        org, soups: [Self.soup()], syncs: [.down("other", target, into: "contacts"), Self.oslo])
      try org.update("Account", gone, ["BillingCity": "Rome"])
      try await snapshot.prime(listing: "userstore/oslo")
      for platform in Platform.allCases {
        let ids = try snapshot.column("Id", of: "contacts", platform)
        // The user has created both, so both are recent.
        #expect(ids == (place == 1 ? contacts.sorted() : [contacts[0]]), "target \(place)")
      }
      #expect(try await !snapshot.prime().changed, "target \(place)")
    }
  }

  @Test func `a briefcase's records stay in the run that has them as other ghosts`() async throws {
    let (gone, contacts) = try Self.account(org, "Kay")
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Contact", limit: 5000)], users: ["admin@example.com"])
    let snapshot = try await Snapshot.primed(
      org, soups: [Self.soup()],
      syncs: [.briefcase("briefcase", [BriefcasePrimeTests.contacts]), Self.oslo])
    try org.update("Account", gone, ["BillingCity": "Rome"])
    try await snapshot.prime(listing: "userstore/oslo")
    #expect(try snapshot.columns("Id", of: "contacts") == contacts)
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `possible records of a failed briefcase rule stay`() async throws {
    let (gone, contacts) = try Self.account(org, "Kay")
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Contact", limit: 5000)], users: ["admin@example.com"])
    let rule = try #require(try org.org.briefcaseRules(of: org.admin, app: "app").first).id
    let snapshot = try await Snapshot.primed(
      org, soups: [Self.soup()],
      syncs: [.briefcase("briefcase", [BriefcasePrimeTests.contacts]), Self.oslo])
    try org.update("Account", gone, ["BillingCity": "Rome"])
    snapshot.listIDs = ["userstore/oslo"]
    org.server.faults.add(.kind(.priming), times: 2, .ruleError(ruleID: rule, object: "Contact"))
    #expect(try await snapshot.prime().hadRuleErrors)
    #expect(org.requests(.priming) == 3)
    #expect(try snapshot.columns("Id", of: "contacts") == contacts)
  }

  // MARK: Families

  private static func families(where filter: String) -> SyncDefinition {
    .down("families", .parentChildren(.accounts(filter: filter)), into: "accounts")
  }

  private static let accounts = SyncDefinition.soql(
    "accounts", "SELECT Id, Name FROM Account", into: "accounts")

  @Test(arguments: [true, false])
  func `older children of another sync's parent arrive with it`(_ isFirst: Bool) async throws {
    let families = Self.families(where: "Name LIKE 'Family%'")
    let syncs = isFirst ? [families, Self.accounts] : [Self.accounts, families]
    let org = try SyncedOrg()
    let near = try org.make("Account", ["Name": "Family near"])
    let far = try org.make("Account", ["Name": "Other"])
    // It is older than the family's cursor, so no query for changed children finds it.
    let two = try org.make("Contact", ["LastName": "Two", "AccountId": .string(far)])
    let one = try org.make("Contact", ["LastName": "One", "AccountId": .string(near)])
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("accounts", "Name"), Self.soup()], syncs: syncs)
    #expect(try snapshot.column("Id", of: "contacts") == [one])
    try org.update("Account", far, ["Name": "Family far"])
    try await snapshot.prime()
    #expect(try snapshot.columns("Id", of: "contacts") == [one, two].sorted())
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a family stays complete when another sync loses its parent`() async throws {
    let owner = try org.make("Account", ["Name": "Owner", "BillingCity": "Oslo"])
    let near = try org.make("Account", ["Name": "Family", "ParentId": .string(owner)])
    let lone = try org.make("Account", ["Name": "Lone", "ParentId": .string(owner)])
    let child = try org.make("Contact", ["LastName": "One", "AccountId": .string(near)])
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("accounts", "Name"), Self.soup()],
      syncs: [
        Self.families(where: "Name LIKE 'Family%'"),
        .soql(
          "near", "SELECT Id, Name FROM Account WHERE Parent.BillingCity = 'Oslo'", into: "accounts"
        ),
      ])
    #expect(try snapshot.column("Id", of: "accounts") == [near, lone].sorted())
    try org.update("Account", owner, ["BillingCity": "Rome"])
    try await snapshot.prime(listing: "userstore/near", "userstore/families")
    #expect(try snapshot.columns("Id", of: "accounts") == [near])
    #expect(try snapshot.columns("Id", of: "contacts") == [child])
    #expect(try await !snapshot.prime().changed)
  }

  // MARK: Live stores

  @Test(arguments: Platform.allCases)
  func `a live store keeps records that its other syncs select`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let (org, manager) = (store.org, store.manager)
    let (gone, contacts) = try Self.account(org, "Kay", "Low")
    var ids: [String: Int64] = [:]
    for sync in [Self.named, Self.oslo] {
      let run = try await manager.syncDown(
        target: sync.target, soupName: ManagedStore.contacts, syncName: sync.syncName
      ).finished()
      ids[sync.syncName] = run.syncID
    }
    try org.update("Account", gone, ["BillingCity": "Rome"])
    #expect(try await manager.cleanResyncGhosts(named: "oslo").count == 1)
    let kept = try await store.elements(ManagedStore.contacts)
    #expect(kept.compactMap { $0["Id"]?.string } == [contacts[0]])
    #expect(kept.first?["__sync_id__"]?.int == ids["named"])
    #expect(kept.first?["Title"] == "Dr")
    try org.update("Contact", contacts[0], ["LastName": "Zoe"])
    #expect(try await manager.cleanResyncGhosts(named: "oslo").count == 0)
    #expect(try await manager.cleanResyncGhosts(named: "named").count == 1)
    #expect(try await store.elements(ManagedStore.contacts).isEmpty)
  }

  /// Also next to a custom sync, which cannot be asked what it selects.
  @Test(arguments: [false, true])
  func `a live store keeps refreshed records, as if an app's`(_ hasCustom: Bool) async throws {
    let custom = hasCustom ? GatedTarget(3) : nil
    let store = try await ManagedStore(customTargets: custom?.targets() ?? CustomTargets())
    let (org, manager) = (store.org, store.manager)
    let (gone, contacts) = try Self.account(org, "Goes")
    if hasCustom {
      _ = try await manager.createSyncDown(
        target: GatedTarget.target(), soupName: ManagedStore.contacts)
    }
    for sync in [Self.oslo, Self.refresh] {
      try await manager.syncDown(
        target: sync.target, soupName: ManagedStore.contacts, syncName: sync.syncName
      ).finish()
    }
    try org.update("Account", gone, ["BillingCity": "Rome"])
    #expect(try await manager.cleanResyncGhosts(named: "refresh").count == 0)
    #expect(try await manager.cleanResyncGhosts(named: "oslo").count == 0)
    #expect(try await store.column("Id", of: ManagedStore.contacts) == contacts)
  }
}
