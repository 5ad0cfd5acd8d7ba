import LocalOrg
import MobileSync
import Testing

/// Records requested by more IDs than one query has.
@Suite struct WideIDsTests {
  private static func world(_ count: Int) async throws -> DownWorld {
    let target = SyncTarget.refresh(
      RefreshTarget(
        sobjectType: "Account", fieldlist: ["Name", "Site"], soupName: "accounts"))
    let world = try await DownWorld(.refresh, .snapshot, target: target)
    try world.org.makeAccounts(count, name: "Acme")
    return world
  }

  private func requests(_ world: DownWorld) -> [String] {
    world.org.server.log.entries.filter { [.query, .queryMore, .composite].contains($0.kind) }
      .map(\.kind.rawValue)
  }

  @Test func `1,200 ids are one call instead of three queries`() async throws {
    let world = try await Self.world(1200)
    try await world.sync()
    #expect(requests(world) == ["query", "composite"])
    #expect(try await world.names() == world.expected())
  }

  @Test(arguments: [
    Faults.Action.status(500, code: "UNKNOWN_EXCEPTION"), .status(413, code: "REQUEST_TOO_LARGE"),
    .refusePart(0, code: "QUERY_TIMEOUT"), .truncate(bytes: 500),
  ])
  func `a failed call is three queries`(_ action: Faults.Action) async throws {
    let world = try await Self.world(1200)
    world.org.server.faults.add(.kind(.composite), action)
    try await world.sync()
    // A query of 500 IDs is too long for an address.
    #expect(requests(world) == ["query", "composite", "composite", "composite", "query"])
    #expect(try await world.names() == world.expected())
  }

  @Test func `a page of the call that is not the last is followed`() async throws {
    let world = try await Self.world(1200)
    world.org.server.faults.add(.kind(.composite), .shortPage(records: 500))
    try await world.sync()
    #expect(requests(world) == ["query", "composite", "queryMore"])
    #expect(try await world.names() == world.expected())
  }

  @Test func `a locator that is dropped after the call is read again`() async throws {
    let world = try await Self.world(1200)
    world.org.server.faults.add(.kind(.composite), .shortPage(records: 500))
    world.org.server.faults.add(.kind(.queryMore), .expireCursors)
    try await world.sync()
    #expect(try await world.names() == world.expected())
  }

  @Test func `a client with one request at a time sends the queries in order`() async throws {
    let org = try SyncedOrg(accounts: 100)
    let snapshot = Snapshot(
      org, soups: [.sample("accounts", "Name")], syncs: try DownKind.refresh.syncs(.overwrite, nil))
    snapshot.concurrency = 1
    try await snapshot.prime()
    let queries = org.server.log.entries.compactMap(\.soql).filter { $0.contains(" IN (") }
    #expect(queries.count == 25)
    #expect(queries == queries.sorted())
  }

  @Test func `a smaller number of ids per query is kept`() async throws {
    let world = try await DownWorld(.refresh, .snapshot)
    try world.org.makeAccounts(12, name: "Acme")
    try await world.sync()
    #expect(requests(world) == ["query", "query", "query", "query"])
  }
}
