import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

/// The queries of an incremental run that are asked before its syncs need the answers.
@Suite struct AheadTests {
  private let scene: WideScene
  private let families: [Family]
  init() throws {
    scene = try WideScene(accounts: 3)
    families = try scene.org.makeFamilies(6, children: 2)
  }

  private static let accounts = SyncDefinition.soql(
    "accounts", "SELECT Id, Name FROM Account", into: "accounts")
  private static let contacts = SyncDefinition.soql(
    "contacts", "SELECT Id, LastName FROM Contact", into: "contacts")

  private func snapshot(_ syncs: [SyncDefinition], _ asksAhead: Bool = true) -> Snapshot {
    let soups: [StoreConfig.Soup] = [
      .sample("accounts", "Name"), .sample("contacts", "LastName", "AccountId"),
    ]
    let snapshot = Snapshot(scene.org, soups: soups, syncs: syncs)
    snapshot.wide = WideCalls()
    snapshot.asksAhead = asksAhead
    return snapshot
  }

  /// Two snapshots of two syncs, of which only the first asks ahead.
  private func primed(
    _ syncs: [SyncDefinition] = [accounts, contacts]
  ) async throws -> (Snapshot, direct: Snapshot) {
    (try await snapshot(syncs).primed(), try await snapshot(syncs, false).primed())
  }

  private func change() throws {
    let org = scene.org
    try org.org.moveClock(by: 60_000)
    try org.update("Account", families[0].id, ["Name": "renamed"])
    try org.make("Contact", ["LastName": "new", "AccountId": .string(families[1].id)])
    try org.delete(families[2].children[0])
  }

  private func expectSame(_ one: Snapshot, _ other: Snapshot) throws {
    for soup in ["accounts", "contacts"] { #expect(try one.rows(soup) == other.rows(soup)) }
    #expect(one.cursors == other.cursors)
  }

  struct QuietRun: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let syncs: [SyncDefinition]
    let requests: [LocalOrg.RequestKind: Int]
  }

  static let quietRuns = [
    QuietRun(
      testDescription: "two queries", syncs: [accounts, contacts], requests: [.composite: 1]),
    QuietRun(
      testDescription: "a family",
      syncs: [.down("family", .parentChildren(.accounts()), into: "accounts")],
      requests: [.composite: 1]),
    QuietRun(
      testDescription: "a query and a refresh, whose IDs are in the store",
      syncs: [
        accounts,
        .down(
          "refresh",
          .refresh(
            RefreshTarget(sobjectType: "Account", fieldlist: ["Site"], soupName: "accounts")),
          into: "accounts"),
      ], requests: [.composite: 1, .query: 1]),
    QuietRun(
      testDescription: "a LIMIT, of which the store has fewer records",
      syncs: [.soql("some", "SELECT Id, Name FROM Account LIMIT 50", into: "accounts"), contacts],
      requests: [.composite: 1]),
    QuietRun(
      testDescription: "one query", syncs: [accounts], requests: [.query: 1]),
    QuietRun(
      testDescription: "the same query for two soups, and another one",
      syncs: [
        accounts, .soql("again", "SELECT Id, Name FROM Account", into: "contacts"),
        .soql("users", "SELECT Id, Username FROM User", into: "accounts"),
      ], requests: [.composite: 1, .query: 1]),
  ]

  @Test(arguments: quietRuns)
  func `a quiet run is one call, as far as its queries are known before`(
    _ run: QuietRun
  ) async throws {
    let (snapshot, direct) = try await primed(run.syncs)
    let requests = try await scene.requests {
      let hasChanged = try await snapshot.prime().changed
      #expect(!hasChanged)
    }
    #expect(requests == run.requests)
    try change()
    for _ in 0..<2 {
      try await snapshot.prime()
      try await direct.prime()
      try expectSame(snapshot, direct)
    }
  }

  static let failures: [WideScene.Failure] = [
    .init("a part is refused", .refusePart(1, code: "QUERY_TIMEOUT"), composites: 1, separate: 1),
    .init("the org fails", .status(503, code: "SERVER_UNAVAILABLE"), composites: 1, separate: 2),
    .init(
      "calls are refused", .status(400, code: "API_DISABLED_FOR_ORG"), composites: 1, separate: 2),
    .init("the answer is cut", .truncate(bytes: 200), composites: 1, separate: 2),
    .init("the org stops after a part", .interrupt(afterParts: 1), composites: 1, separate: 2),
    .init("a page is not the last", .shortPage(records: 1), composites: 1, separate: 1),
  ]

  @Test(arguments: failures)
  func `what a call does not bring is requested as without it`(
    _ failure: WideScene.Failure
  ) async throws {
    let (snapshot, direct) = try await primed()
    try change()
    scene.org.server.faults.add(.kind(.composite), failure.action)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests[.composite] == failure.composites)
    #expect(requests[.query, default: 0] == failure.separate)
    try await direct.prime()
    try expectSame(snapshot, direct)
  }

  @Test func `a page with fewer records than promised changes nothing`() async throws {
    let (snapshot, _) = try await primed()
    let cursors = snapshot.cursors
    let page = #"{"totalSize":3,"done":true,"records":[]}"#
    let parts = (0..<2).map {
      #"{"body":\#(page),"httpHeaders":{},"httpStatusCode":200,"referenceId":"ahead\#($0)"}"#
    }
    try change()
    scene.org.server.faults.add(
      .kind(.composite),
      .respond(.json(#"{"compositeResponse":[\#(parts.joined(separator: ","))]}"#)))
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .incomplete)
    #expect(snapshot.cursors == cursors)
  }

  @Test func `a slow call makes the next ones shorter`() async throws {
    let (snapshot, _) = try await primed()
    let wide = WideCalls(clock: PacedClock(seconds: 13).read)
    snapshot.wide = wide
    try await snapshot.prime()
    #expect(wide.ahead.known.parts == 1)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests == [.query: 2])
    // The next run tries again.
    snapshot.wide = WideCalls(stored: wide.stored)
    let again = try await scene.requests { try await snapshot.prime() }
    #expect(again == [.composite: 1])
  }

  @Test func `what changes after the call is fetched by the next run`() async throws {
    let (snapshot, direct) = try await primed(try #require(Self.quietRuns.last).syncs)
    // While the second sync asks, the first one has its answer already.
    scene.org.server.faults.add(
      .kind(.query), .update(families[0].id, ["Name": "moved"], after: 5000))
    try await snapshot.prime()
    #expect(try !snapshot.column("Name", of: "accounts").contains("moved"))
    for _ in 0..<2 {
      try await snapshot.prime()
      try await direct.prime()
    }
    try expectSame(snapshot, direct)
    #expect(try snapshot.column("Name", of: "accounts").contains("moved"))
  }
}
