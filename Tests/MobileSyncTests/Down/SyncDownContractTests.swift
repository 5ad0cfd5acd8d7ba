import JSON
import LocalOrg
import MobileSync
import System
import Testing

@Suite struct SyncDownContractTests {
  /// All of them, except that a prime cannot run an app's code.
  private static let every: [(DownKind, DownSink)] = DownKind.allCases.flatMap { kind in
    DownSink.allCases.filter { kind != .custom || $0 != .snapshot }.map { (kind, $0) }
  }

  @Test(arguments: every)
  func `a first run fetches all, an unchanged org writes nothing, a change arrives alone`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let world = try await DownWorld(kind, sink, settings: SyncSettings(overlapSeconds: 300))
    let ids = try world.org.makeAccounts(5, name: "Acme")
    try await world.sync()
    #expect(try await world.names().keys.sorted() == ids.sorted())
    #expect(try await world.sync().written == 0)
    try world.org.update("Account", ids[1], ["Name": "Acme new"])
    let added = try world.org.makeAccounts(1, name: "Acme later")
    // A refresh rewrites what the sync before it has fetched.
    #expect(try await world.sync().written >= 2)
    let names = try await world.names()
    #expect(names[ids[1]] == "Acme new")
    #expect(names[added[0]] == "Acme later 0")
    #expect(names.count == 6)
    #expect(try await world.sync().written == 0)
  }

  @Test(arguments: DownKind.allCases)
  func `every sink resumes from an overlap before the last date`(_ kind: DownKind) async throws {
    for (_, sink) in Self.every.filter({ $0.0 == kind }) {
      let world = try await DownWorld(kind, sink, settings: SyncSettings(overlapSeconds: 7))
      let ids = try world.org.makeAccounts(3, name: "Acme")
      try await world.sync()
      let latest = try #require(
        try world.org.values("Account", ["LastModifiedDate"], of: ids[2])?["LastModifiedDate"]?
          .string)
      #expect(try await world.cursor() == Dates.milliseconds(iso8601: latest).map { $0 - 7000 })
    }
  }

  @Test(arguments: every)
  func `a deleted record is removed, a locally changed one stays, and the guard holds`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let world = try await DownWorld(kind, sink, .leaveIfChanged)
    let ids = try world.org.makeAccounts(14, name: "Acme")
    try await world.sync()
    try await world.edit(ids[0], "mine")
    for id in ids[0...1] { try world.org.delete(id) }
    #expect(try await world.sync(listing: true).ghosts == 1)
    #expect(try await world.names().keys.sorted() == ([ids[0]] + ids[2...]).sorted())
    #expect(try await world.dirty() == [ids[0]])
    for id in ids[2...12] { try world.org.delete(id) }
    let refused = try await world.sync(listing: true)
    #expect(refused.isRefused)
    #expect(refused.ghosts == 0)
    #expect(try await world.names().count == 13)
  }

  @Test(arguments: every) func `LEAVE_IF_CHANGED keeps a local change, OVERWRITE reverts it`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    for mode in MergeMode.allCases {
      let world = try await DownWorld(kind, sink, mode)
      let ids = try world.org.makeAccounts(3, name: "Acme")
      try await world.sync()
      try await world.edit(ids[0], "mine")
      for id in ids { try world.org.update("Account", id, ["Name": "Acme theirs"]) }
      try await world.sync()
      let isLeft = mode == .leaveIfChanged
      #expect(try await world.names()[ids[0]] == (isLeft ? "mine" : "Acme theirs"))
      #expect(try await world.names()[ids[1]] == "Acme theirs")
      #expect(try await world.dirty() == (isLeft ? [ids[0]] : []))
    }
  }

  @Test(arguments: DownKind.allCases)
  func `a skipped record arrives when the local change is reverted`(_ kind: DownKind) async throws {
    let world = try await DownWorld(kind, .store, .leaveIfChanged)
    let ids = try world.org.makeAccounts(3, name: "Acme")
    try await world.sync()
    try await world.edit(ids[0], "mine")
    try world.org.update("Account", ids[0], ["Name": "Acme theirs"])
    try world.org.update("Account", ids[1], ["Name": "Acme newer"])
    try await world.sync()
    try await world.sync()
    #expect(try await world.names()[ids[0]] == "mine")
    try await world.edit(ids[0], "Acme 0", isLocal: false)
    try await world.sync()
    #expect(try await world.names()[ids[0]] == "Acme theirs")
    let before = world.org.requests(.query) + world.org.requests(.retrieve)
    try await world.sync()
    let asked = world.org.requests(.query) + world.org.requests(.retrieve) - before
    try await world.sync()
    #expect(world.org.requests(.query) + world.org.requests(.retrieve) - before == 2 * asked)
  }

  @Test(arguments: [DownKind.soql, .parentChildren], DownSink.allCases)
  func `a record that matches without being modified arrives when all ids are listed`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let target =
      kind == .soql
      ? SyncTarget.soql(
        SoqlTarget(query: "SELECT Id, Name FROM Account WHERE Parent.BillingCity = 'Oslo'"))
      : .parentChildren(.accounts(filter: "Parent.BillingCity = 'Oslo'"))
    let world = try await DownWorld(kind, sink, target: target)
    let owners = try ["Oslo", "Rome"].map {
      try world.org.make("Account", ["Name": .string($0), "BillingCity": .string($0)])
    }
    for owner in owners.reversed() {
      try world.org.make("Account", ["Name": "Acme", "ParentId": .string(owner)])
    }
    try await world.sync()
    #expect(try await world.names().count == 1)
    try world.org.update("Account", owners[1], ["BillingCity": "Oslo"])
    try await world.sync()
    #expect(try await world.names().count == 1)
    try await world.sync(listing: true)
    #expect(try await world.names().count == 2)
    #expect(try await world.sync(listing: true).written == 0)
  }

  @Test(arguments: every)
  func `the next run resumes an interrupted one`(_ kind: DownKind, _ sink: DownSink) async throws {
    let world = try await DownWorld(kind, sink, settings: SyncSettings(overlapSeconds: 300))
    var ids = try world.org.makeAccounts(7, name: "Acme")
    for place in 1...6 {
      let faults = world.org.server.faults
      for pages in [RequestKind.query, .queryMore] {
        faults.add(.kind(pages), times: 1000, .shortPage(records: 2))
      }
      faults.add(.any, nth: place, .status(400, code: "MALFORMED_QUERY"))
      _ = try? await world.sync(listing: true)
      faults.removeAll()
      try await world.sync(listing: true)
      #expect(try await world.names() == world.expected(), "broken off at request \(place)")
      #expect(try await world.sync().written == 0, "broken off at request \(place)")
      try world.org.delete(ids.removeFirst())
      try world.org.update("Account", ids[3], ["Name": .string("Acme new \(place)")])
      ids += try world.org.makeAccounts(1, name: "Acme later \(place)")
    }
  }

  // MARK: pages

  /// A world of nine records in pages of two, in which a fault strikes at one of the later pages.
  private func paged(
    _ kind: DownKind, _ sink: DownSink, nth: Int, _ fault: (_ ids: [String]) -> Faults.Action
  ) async throws -> DownWorld {
    let world = try await DownWorld(kind, sink)
    let ids = try world.org.makeAccounts(9, name: "Acme")
    let faults = world.org.server.faults
    faults.add(.kind(.queryMore), nth: nth, fault(ids))
    for pages in [RequestKind.query, .queryMore] {
      faults.add(.kind(pages), times: 1000, .shortPage(records: 2))
    }
    return world
  }

  @Test(arguments: [DownKind.soql, .parentChildren], DownSink.allCases)
  func `a dropped locator is resumed after the last record`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let world = try await paged(kind, sink, nth: 2) { _ in .expireCursors }
    try await world.sync()
    #expect(try await world.names() == world.expected())
    let queries = world.org.server.log.entries.filter { $0.kind == .query }.compactMap(\.soql)
    // Families are resumed at a date.
    let resumed = kind == .soql ? "and Id > '" : "LastModifiedDate >= "
    #expect(queries.count == 2 && queries.last?.contains(resumed) == true, "\(queries)")
  }

  @Test(arguments: [DownKind.soql, .parentChildren], DownSink.allCases)
  func `announced records that do not arrive are an error`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let world = try await paged(kind, sink, nth: 2) { _ in
      .respond(.json(#"{"totalSize":9,"done":true,"records":[]}"#))
    }
    let error = await #expect(throws: SyncError.self) { try await world.sync() }
    #expect(error?.code == .incomplete)
    #expect(
      error?.description.contains("4 of 9 records arrived") == true, "\(String(describing: error))")
  }

  @Test(arguments: DownSink.allCases)
  func `a record that changes while read is stored once, with its last values`(
    _ sink: DownSink
  ) async throws {
    let world = try await paged(.soql, sink, nth: 1) { .update($0[1], ["Name": "Acme moved"]) }
    for _ in 0..<2 { try await world.sync() }
    #expect(try await world.names() == world.expected())
    #expect(try await world.names().values.contains("Acme moved"))
  }

  // MARK: what the org selects

  @Test(arguments: every)
  func `a record that stops matching is removed`(_ kind: DownKind, _ sink: DownSink) async throws {
    let world = try await DownWorld(kind, sink)
    let ids = try world.org.makeAccounts(3, name: "Acme")
    try await world.sync()
    try world.org.update("Account", ids[0], ["Name": "Other"])
    try await world.sync(listing: true)
    #expect(try await world.names()[ids[0]] == (kind.selects ? nil : "Other"))
    #expect(try await world.names().count == (kind.selects ? 2 : 3))
  }

  @Test(arguments: every.filter { $0.0 != .mru })
  func `records come and go with user access`(_ kind: DownKind, _ sink: DownSink) async throws {
    let ada = "ada@example.com"
    let world = try await DownWorld(kind, sink, as: ada)
    let ids = try world.org.makeAccounts(3, name: "Acme")
    for id in ids[..<2] { try world.org.org.share(id, with: ada) }
    try await world.sync()
    #expect(try await world.names().keys.sorted() == ids[..<2].sorted())
    try world.org.org.unshare(ids[0], from: ada)
    try await world.sync(listing: true)
    #expect(try await world.names().keys.sorted() == [ids[1]])
    // The app's code lists no IDs that are missing here.
    guard kind != .custom else { return }
    try world.org.org.share(ids[2], with: ada)
    try await world.sync(listing: true)
    #expect(try await world.names().keys.sorted() == ids[1...].sorted())
  }

  @Test(arguments: every) func `a record committed late, with a past date, is in the overlap`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let world = try await DownWorld(kind, sink, settings: SyncSettings(overlapSeconds: 300))
    try world.org.makeAccounts(2, name: "Acme")
    try await world.sync()
    try world.org.org.committingLate(by: 60_000) {
      _ = try world.org.makeAccounts(1, name: "Acme late")
    }
    try await world.sync()
    #expect(try await world.names() == world.expected())
    #expect(try await world.sync().written == 0)
  }

  /// Values of an org that are easily corrupted.
  private static func odd(_ number: Int) -> JSONObject {
    [
      "Name": .string("Acme Åse / \"Søn\" \\ 👩‍👩‍👧 \u{2028} \(number)"),
      "Description": number == 0 ? .null : .string("a\r\n\tb\u{7f}é e\u{301}"),
      "AnnualRevenue": .number("1234567"), "BillingCity": "Zürich",
      "BillingStreet": .string("Bahnhofstraße 1\nc/o"),
    ]
  }

  @Test(arguments: DownKind.allCases)
  func `every store gets the same bytes: international text, null, numbers, nested objects`(
    _ kind: DownKind
  ) async throws {
    var fields = ["Name", "Description", "AnnualRevenue", "BillingAddress", "Owner.Name"]
    // A retrieve and a search have no fields of other records.
    if kind == .briefcase || kind == .sosl { fields.removeLast() }
    let target = try kind.target(fields)
    let first = try await DownWorld(kind, .store, target: target)
    for number in 0..<3 { try first.org.make("Account", Self.odd(number)) }
    var worlds = [
      first, try await DownWorld(kind, .store, target: target, org: first.org, .android),
    ]
    if kind != .custom {
      worlds.append(try await DownWorld(kind, .snapshot, target: target, org: first.org))
    }
    for round in 0..<2 {
      var all: [[String]] = []
      for world in worlds {
        try await world.sync()
        all += try await world.texts()
      }
      let expected = try #require(all.first)
      #expect(expected.count == 3)
      for (place, texts) in all.enumerated() {
        #expect(texts == expected, "store \(place) in round \(round)")
      }
      let sent = Self.odd(2)
      let name = try #require(sent["Name"]?.text.dropLast(3))
      #expect(expected.contains { $0.contains("\"AnnualRevenue\":1234567") })
      #expect(expected.contains { $0.contains("\"Description\":null") })
      #expect(expected.contains { $0.contains(name) } || kind == .custom)
      for id in try first.expected().keys {
        try first.org.update("Account", id, ["BillingCity": .string("Genève \(round)")])
      }
    }
  }

  @Test(
    arguments: [
      SyncTarget.layout(LayoutTarget(sobjectType: "Account", layoutType: .full)),
      .metadata(MetadataTarget(sobjectType: "Account")),
    ], DownSink.allCases)
  func `a response of the org is one element, written if it differs and never a ghost`(
    _ target: SyncTarget, _ sink: DownSink
  ) async throws {
    let world = try await DownWorld(.soql, sink, target: target)
    for kind in [RequestKind.layout, .describe] {
      world.org.server.faults.add(.kind(kind), .status(400, code: "MALFORMED_QUERY"))
    }
    await #expect(throws: SyncError.self) { try await world.sync() }
    #expect(try await world.sync().written == 1)
    let texts = try await world.texts()
    #expect(texts.allSatisfy { $0.count == 1 })
    #expect(try await world.sync(listing: true).written == 0)
    #expect(try await world.sync(listing: true).ghosts == 0)
    #expect(try await world.texts() == texts)
  }
}
