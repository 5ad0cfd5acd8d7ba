import JSON
import LocalOrg
import MobileSync
import Salesforce
import SQLite
import SmartStore
import System
import TestSupport
import Testing

/// A custom target whose pages have some records twice, newer or older the second time.
private struct TwiceTarget: CustomSyncDownTarget {
  static let className = "com.example.TwiceTarget"
  private static let pages = [["a 3", "b 1", "c 2"], ["b 5", "d 4", "d 4"], ["a 1", "e 6"]]
  var isSortedByModification: Bool { false }

  func fetch(since: Int64?, at place: String?, org: SyncOrg) async throws -> CustomPage {
    let page = place.flatMap { Int($0) } ?? 0
    let records = Self.pages[page].map { record in
      let id = record.prefix(1)
      let date = Dates.salesforce(SyncedOrg.start + (Int64(record.suffix(1)) ?? 0) * 1000)
      return #"{"Id":"\#(id)","Name":"page \#(page)","LastModifiedDate":"\#(date)"}"#
    }
    let next = page + 1 < Self.pages.count ? String(page + 1) : nil
    return CustomPage(records: records, totalSize: 8, next: next)
  }
}

/// First loads into a file that gets its name when they have ended: they write finished pages, and
/// the store is the one that durable loads write.
@Suite struct DisposableStoreTests {
  private static let now = SyncedOrg.start + 86_400_000
  private let directory = TemporaryDirectory("disposable")
  private let org: SyncedOrg

  init() throws {
    let org = try SyncedOrg()
    self.org = org
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 5000), BriefcaseRule("Contact", limit: 5000)],
      users: ["admin@example.com"])
    let parents = try org.org.transaction {
      try (0..<9).map { number in
        let word = number.isMultiple(of: 2) ? "Harbour" : "Åse \"Sø\""
        return try org.make(
          "Account",
          [
            "Name": .string("Acme \(number) \(word)"),
            "Description": number == 4 ? .null : .string("a\r\n\tb e\u{301} \(number)"),
            "AnnualRevenue": .number("\(number * 7).25"),
            "NumberOfEmployees": JSONValue(9 - number),
          ])
      }
    }
    for (place, parent) in parents.enumerated() {
      for child in 0..<3 {
        try org.make(
          "Contact",
          ["LastName": .string("Contact \(place).\(child)"), "AccountId": .string(parent)])
      }
    }
  }

  // MARK: the syncs

  /// The syncs of a store, which are run in this order.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let syncs: @Sendable () throws -> [SyncDefinition]
    var testDescription: String { name }
  }

  private static let query =
    "SELECT Id, Name, Description, AnnualRevenue, NumberOfEmployees, Owner.Name FROM Account"

  private static let kinds: [Case] = DownKind.allCases.map { kind in
    Case(name: kind.rawValue) {
      try kind.syncs(.leaveIfChanged, kind.target(["Name", "Description", "NumberOfEmployees"]))
    }
  }

  private static let others: [Case] = [
    Case(name: "layout and metadata") {
      [
        .down(
          "layout", .layout(LayoutTarget(sobjectType: "Account", layoutType: .full)),
          into: "answers"),
        .down(
          "metadata", .metadata(MetadataTarget(sobjectType: "Contact")), into: "answers"),
      ]
    },
    Case(name: "briefcase of two soups") {
      let infos = [BriefcasePrimeTests.accounts, BriefcasePrimeTests.contacts]
      return [.briefcase("briefcase", infos, perRetrieve: 4)]
    },
    Case(name: "several syncs, two of one soup, and one up") {
      [
        .soql("contacts", "SELECT Id, LastName, AccountId FROM Contact", into: "contacts"),
        .soql("some", Self.query + " WHERE NumberOfEmployees > 5", into: "accounts"),
        .soql("all", Self.query, into: "accounts"),
        .up("up", soup: "accounts", fields: ["Name"]),
        .down(
          "family", .parentChildren(.accounts(filter: "Name LIKE 'Acme%'")), into: "accounts"),
      ]
    },
    Case(name: "nothing to fetch") {
      [.soql("none", Self.query + " WHERE Name = 'nobody'", into: "accounts")]
    },
  ]

  static let cases = kinds + others

  private static let soups: [StoreConfig.Soup] = [
    StoreConfig.Soup(
      soupName: "accounts",
      indexes: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .fullText),
        IndexSpec(path: "Description", type: .string),
        IndexSpec(path: "AnnualRevenue", type: .floating),
        IndexSpec(path: "NumberOfEmployees", type: .integer),
        IndexSpec(path: "Owner.Name", type: .json1), IndexSpec(path: "__local__", type: .string),
        IndexSpec(path: "__sync_id__", type: .integer),
      ]),
    .sample("contacts", "LastName", "AccountId"),
    StoreConfig.Soup(soupName: "answers", indexes: [IndexSpec(path: "Id", type: .string)]),
  ]

  /// Syncs into a new store until a sync fails, as `attache sync run` does.
  private func sync(
    _ syncs: [SyncDefinition], _ platform: Platform, isDisposable: Bool
  ) async throws -> (path: String, reports: [SyncReport], states: [SyncState]) {
    let path = directory.file("\(platform)-\(isDisposable).db")
    for suffix in ["", ".lock"] { try Files.remove(path + suffix) }
    // A fault is for a request by its number, so requests are sent one after the other.
    let client = try org.client(concurrency: 1)
    let manager = try await SyncManager(
      store: Self.makeStore(path, platform, isDisposable: isDisposable),
      settings: SyncSettings(overlapSeconds: 0), customTargets: Self.targets
    ) { () async throws(Salesforce.OrgError) in try await client.session() }
    try await manager.setUpSyncs(from: SyncsConfig(syncs: syncs))
    var (reports, states): ([SyncReport], [SyncState]) = ([], [])
    for sync in syncs {
      let run = try await manager.reSync(named: sync.syncName)
      reports.append(await run.report)
      states.append(await run.lastState)
      if states.last?.status != .done { break }
    }
    #expect(await manager.withStore { !$0.isSpoiled })
    try await manager.withStore { try $0.checkpoint() }
    try await manager.close()
    return (path, reports, states)
  }

  private static var targets: CustomTargets {
    var targets = AcmeTarget.targets
    targets.add(TwiceTarget.className, syncDown: { _ in TwiceTarget() })
    return targets
  }

  private static func makeStore(
    _ path: String, _ platform: Platform, isDisposable: Bool
  ) throws -> sending Store {
    let store =
      isDisposable
      ? try Store(disposable: path, platform: platform)
      : try Store(creating: path, platform: platform)
    store.clock = { now }
    _ = try store.register(StoreConfig(soups: soups))
    return store
  }

  /// Everything that a store contains, except where its pages are.
  private func content(of path: String) throws -> [String] {
    let file = try Connection(path, mode: .readOnly)
    defer { file.close() }
    var lines = try file.texts(
      "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
    // FTS5's own tables depend on when words were merged.
    let tables = try file.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
      .filter { !$0.contains("_fts_") }
    for table in tables {
      let columns = try file.texts("SELECT name FROM pragma_table_info(\(table))")
        .map { "quote(\"\($0)\")" }
      // Soups get their greatest row number in any order.
      let start = table == "sqlite_sequence" ? [] : ["rowid"]
      let row = (start + columns).joined(separator: " || '|' || ")
      lines += try file.texts(
        "SELECT \(raw: row) FROM \(raw: table) ORDER BY \(raw: (start + columns)[0])"
      ).map { "\(table) \($0)" }
    }
    for table in tables where table.hasSuffix("_fts") {
      for word in ["acme", "harbour", "sø", "nobody"] {
        lines += try file.texts(
          """
          SELECT rowid || \(word) FROM \(raw: table) WHERE \(raw: table) MATCH \(word)
          ORDER BY rowid
          """)
      }
    }
    lines += try file.texts("PRAGMA integrity_check")
    // An error names the request, whose locator is another one.
    return lines.map { $0.replacing(/"error":"([^"\\]|\\.)*"/, with: "") }
  }

  private func expectSame(
    _ syncs: [SyncDefinition], _ platform: Platform, _ story: String,
    arm: () -> Void = {}
  ) async throws {
    arm()
    let durable = try await sync(syncs, platform, isDisposable: false)
    org.server.faults.removeAll()
    arm()
    let pages = try await sync(syncs, platform, isDisposable: true)
    org.server.faults.removeAll()
    #expect(
      pages.states.map { "\($0.status) \($0.totalSize) \($0.maxTimeStamp)" }
        == durable.states.map { "\($0.status) \($0.totalSize) \($0.maxTimeStamp)" }, "\(story)")
    for (one, other) in zip(pages.reports, durable.reports) {
      #expect(one.fetched == other.fetched, "\(story)")
      #expect(one.written == other.written, "\(story)")
      #expect(one.unchanged == other.unchanged, "\(story)")
    }
    let (found, expected) = (try content(of: pages.path), try content(of: durable.path))
    #expect(found.count == expected.count, "\(story)")
    let different = zip(found, expected).filter { $0 != $1 }.prefix(3)
    #expect(different.isEmpty, "\(story): \(different.map { "\($0)\ninstead of\n\($1)" })")
    let check = StoreCheck(
      origin: .server, platform: platform, config: StoreConfig(soups: Self.soups))
    #expect(try check.violations(at: pages.path).isEmpty, "\(story)")
  }

  // MARK: tests

  @Test(arguments: cases, Platform.allCases)
  func `every kind of sync leaves the rows, states and indexes of a durable load`(
    _ each: Case, _ platform: Platform
  ) async throws {
    try await expectSame(each.syncs(), platform, each.name)
    try await expectSame(each.syncs(), platform, "\(each.name), by short pages") {
      for pages in [LocalOrg.RequestKind.query, .queryMore] {
        org.server.faults.add(.kind(pages), times: 1000, .shortPage(records: 2))
      }
    }
  }

  @Test(arguments: cases)
  func `a failed sync leaves what a durable load leaves`(_ each: Case) async throws {
    for place in 1...8 {
      try await expectSame(each.syncs(), .android, "\(each.name), broken off at request \(place)") {
        for pages in [LocalOrg.RequestKind.query, .queryMore] {
          org.server.faults.add(.kind(pages), times: 1000, .shortPage(records: 2))
        }
        org.server.faults.add(.any, nth: place, .status(400, code: "MALFORMED_QUERY"))
      }
    }
  }

  @Test(arguments: Platform.allCases)
  func `a record that arrives twice is stored once, with its last values`(
    _ platform: Platform
  ) async throws {
    let target = try CustomTarget(androidImpl: TwiceTarget.className, json: "{}")
    let sync = SyncDefinition.down("twice", .custom(target), into: "accounts")
    try await expectSame([sync], platform, "twice")
  }

  /// A store into which two pages of three were loaded, and the run that waits for the third.
  private func begun(
    _ path: String, _ target: GatedTarget, _ gate: PageGate
  ) async throws -> (manager: SyncManager, run: SyncRun) {
    let client = try org.client()
    let manager = try await SyncManager(
      store: Self.makeStore(path, .ios, isDisposable: true),
      settings: SyncSettings(overlapSeconds: 0), customTargets: target.targets()
    ) { () async throws(Salesforce.OrgError) in try await client.session() }
    let run = try await manager.syncDown(
      target: GatedTarget.target(), soupName: "accounts", syncName: "down")
    await gate.reached()
    return (manager, run)
  }

  @Test func `the program itself sees the pages so far, and the load continues`() async throws {
    let path = directory.file("seen.db")
    let gate = PageGate(closedAt: 2)
    let (manager, run) = try await begun(path, GatedTarget(9, perPage: 3, gate: gate), gate)
    // The file has nothing of the load yet.
    let other = try Store(opening: path, readOnly: true)
    #expect(try other.count(of: "accounts") == 0)
    try other.close()
    #expect(try await manager.withStore { try $0.count(of: "accounts") } == 6)
    await gate.open()
    #expect(try await run.finish().written == 9)
    #expect(try await manager.withStore { try $0.count(of: "accounts") } == 9)
    try await manager.close()
    #expect(try StoreCheck(origin: .server).violations(at: path).isEmpty)
  }

  @Test func `a stopped run keeps its pages`() async throws {
    let gate = PageGate(closedAt: 2)
    let path = directory.file("stopped.db")
    let (manager, run) = try await begun(path, GatedTarget(9, perPage: 3, gate: gate), gate)
    await manager.stop()
    await gate.open()
    #expect(await run.lastState.status == .stopped)
    #expect(try await manager.withStore { try $0.count(of: "accounts") } == 6)
    try await manager.close()
  }

  @Test func `a store whose pages could not be written must be discarded`() async throws {
    let gate = PageGate(closedAt: 2)
    let path = directory.file("spoiled.db")
    let (manager, run) = try await begun(path, GatedTarget(12, perPage: 3, gate: gate), gate)
    // The first page of the soup's table must be empty until the load ends.
    let other = try Store(opening: path, readOnly: true)
    let row = try other.connection.first(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'TABLE_1'")
    try other.close()
    let place = (Int(try #require(row?[0].integer)) - 1) * 4096
    let file = try FileDescriptorHandle.updating(path)
    try [UInt8(1)].withUnsafeBytes { try file.write($0, at: place + 4) }
    await gate.open()
    await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(await manager.withStore { $0.isSpoiled })
    try? await manager.close()
  }
}
