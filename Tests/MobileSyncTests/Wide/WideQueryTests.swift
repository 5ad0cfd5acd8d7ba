import JSON
import LocalOrg
import MobileSync
import Testing

/// The records of queries in calls with several ranges of IDs.
@Suite struct WideQueryTests {
  private static let count = 4000

  /// A scene whose ranges have been learned by one prime, which is the direct way's result.
  private func learned() async throws -> (WideScene, WideCalls, direct: Snapshot) {
    let scene = try WideScene(accounts: Self.count)
    let wide = WideCalls()
    let direct = scene.soql(wide)
    let requests = try await scene.requests { try await direct.prime() }
    #expect(requests[.query] == 1)
    #expect(requests[.queryMore] == 1)
    #expect(requests[.composite] == nil)
    return (scene, wide, direct)
  }

  @Test func `the next user's records come in one call, with the same rows and cursor`()
    async throws
  {
    let (scene, wide, direct) = try await learned()
    #expect(wide.ranges(WideScene.ranges)?.records == Self.count)
    let snapshot = scene.soql(WideCalls(stored: wide.stored))
    let requests = try await scene.requests {
      let outcome = try await snapshot.prime()
      #expect(outcome.soups.map(\.fetched) == [Self.count])
    }
    #expect(requests == [.composite: 1])
    #expect(try snapshot.rows() == direct.rows())
    #expect(snapshot.cursors == direct.cursors)
    #expect(snapshot.wide?.ranges(WideScene.ranges)?.records == Self.count)
    // The next run requests only changes, as without ranges.
    let quiet = try await scene.requests {
      let outcome = try await snapshot.prime()
      #expect(!outcome.changed)
    }
    #expect(quiet == [.query: 1])
  }

  static let failures: [WideScene.Failure] = [
    .init("a part is refused", .refusePart(1, code: "QUERY_TIMEOUT"), composites: 1, separate: 1),
    .init("the org fails", .status(503, code: "SERVER_UNAVAILABLE"), composites: 2, separate: 1),
    .init(
      "the org fails each time", .status(500, code: "UNKNOWN_EXCEPTION"), times: 1000,
      composites: 2, separate: 3),
    .init("the answer is cut", .truncate(bytes: 500), composites: 2, separate: 1),
    .init("the org stops after a part", .interrupt(afterParts: 1), composites: 2, separate: 1),
  ]

  @Test(arguments: failures)
  func `whatever happens to a call, the rows are the same`(_ failure: WideScene.Failure)
    async throws
  {
    let (scene, wide, direct) = try await learned()
    scene.org.server.faults.add(.kind(.composite), times: failure.times, failure.action)
    let snapshot = scene.soql(wide)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests[.composite] == failure.composites)
    #expect(requests[.query, default: 0] == failure.separate)
    #expect(try snapshot.rows() == direct.rows())
    #expect(snapshot.cursors == direct.cursors)
  }

  @Test func `a refused query is reported as without ranges`() async throws {
    let (scene, wide, _) = try await learned()
    let snapshot = Snapshot(
      scene.org, soups: [.sample("accounts", "Name")],
      syncs: [.soql("down", "SELECT Id, Name, Region__c FROM Account", into: "accounts")])
    snapshot.wide = wide
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.cause?.code == "INVALID_FIELD")
    #expect(snapshot.files.isEmpty)
  }

  @Test func `if the org refuses ranges, the records are read without them`() async throws {
    let (scene, wide, direct) = try await learned()
    for kind in [RequestKind.composite, .query] {
      scene.org.server.faults.add(.kind(kind), .status(400, code: "INVALID_QUERY_FILTER_OPERATOR"))
    }
    // The second call, with fewer parts, has a range that is refused too.
    scene.org.server.faults.add(
      .kind(.composite), nth: 2, .status(400, code: "INVALID_QUERY_FILTER_OPERATOR"))
    let snapshot = scene.soql(wide)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests == [.composite: 2, .query: 2, .queryMore: 1])
    #expect(try snapshot.rows() == direct.rows())
  }

  /// Ranges of 1,000 and 3,000 records, of which the second does not fit on a page.
  private func uneven() async throws -> (WideScene, WideCalls, direct: Snapshot) {
    let (scene, _, direct) = try await learned()
    let ids = try direct.column("Id", of: "accounts")
    let wide = WideScene.known()
    wide.learn(
      try #require(IDRanges(records: Self.count, cuts: [ids[999]])), of: WideScene.ranges)
    return (scene, wide, direct)
  }

  @Test func `a range with more than a page is followed alone`() async throws {
    let (scene, wide, direct) = try await uneven()
    let snapshot = scene.soql(wide)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests == [.composite: 1, .queryMore: 1])
    #expect(try snapshot.rows() == direct.rows())
  }

  @Test func `a locator that is dropped inside a part loses nothing`() async throws {
    let (scene, wide, direct) = try await uneven()
    scene.org.server.faults.add(.kind(.queryMore), .expireCursors)
    let snapshot = scene.soql(wide)
    let requests = try await scene.requests {
      let outcome = try await snapshot.prime()
      #expect(outcome.soups.map(\.total) == [Self.count])
    }
    #expect(requests[.composite] == 1)
    #expect(requests[.query] == 1)
    #expect(try snapshot.rows() == direct.rows())
  }

  @Test func `pages shorter than requested lose nothing`() async throws {
    let (scene, wide, direct) = try await learned()
    scene.org.server.faults.add(.kind(.composite), .shortPage(records: 700))
    let snapshot = try await scene.soql(wide).primed()
    #expect(try snapshot.rows() == direct.rows())
  }

  @Test func `records that change or are created during the read are complete in the next run`()
    async throws
  {
    let (scene, wide, direct) = try await uneven()
    let ids = try direct.column("Id", of: "accounts")
    scene.org.server.faults.add(
      .kind(.queryMore),
      .mutate { org in
        guard let admin = org.user(named: "admin@example.com") else { return }
        try org.moveClock(by: 5000)
        _ = org.create("Account", ["Name": "later"], as: admin)
        _ = org.update("Account", id: ids[3], ["Name": "moved"], as: admin)
        _ = org.update("Account", id: ids[3999], ["Name": "moved"], as: admin)
      })
    let snapshot = try await scene.soql(wide).primed()
    try await snapshot.prime()
    try await direct.prime()
    #expect(try snapshot.rows() == direct.rows())
    #expect(try snapshot.column("Name", of: "accounts").count { $0 == "moved" } == 2)
    #expect(try snapshot.column("Name", of: "accounts").contains("later"))
  }

  @Test func `all ids are listed in one call, and ghosts are removed`() async throws {
    let (scene, wide, direct) = try await learned()
    let ids = try direct.column("Id", of: "accounts")
    wide.width(WideScene.sync, .ids).note(bytes: 1000)
    try scene.org.delete(ids[7])
    let requests = try await scene.requests {
      let outcome = try await direct.prime(listing: WideScene.sync)
      #expect(outcome.soups.map(\.ghosts) == [1])
      #expect(outcome.listed == [WideScene.sync])
    }
    #expect(requests == [.query: 1, .composite: 1])
    #expect(try direct.column("Id", of: "accounts").count == Self.count - 1)
  }

  @Test func `an incomplete list removes nothing`() async throws {
    let (scene, wide, direct) = try await learned()
    wide.width(WideScene.sync, .ids).note(bytes: 1000)
    let page = #"{"totalSize":1500,"done":true,"records":[]}"#
    let parts = (0..<3).map {
      #"{"body":\#(page),"httpHeaders":{},"httpStatusCode":200,"referenceId":"part\#($0)"}"#
    }
    scene.org.server.faults.add(
      .kind(.composite),
      .respond(.json(#"{"compositeResponse":[\#(parts.joined(separator: ","))]}"#)))
    let error = await #expect(throws: SyncError.self) {
      try await direct.prime(listing: WideScene.sync)
    }
    #expect(error?.code == .incomplete)
    #expect(try direct.column("Id", of: "accounts").count == Self.count)
  }

  @Test func `a sync with a smaller page size keeps it`() async throws {
    let (scene, wide, _) = try await learned()
    let snapshot = scene.soql(wide)
    snapshot.stores[0].syncs = [
      .down(
        "down", .soql(SoqlTarget(query: "SELECT Id, Name FROM Account", maxBatchSize: 1000)),
        into: "accounts")
    ]
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests == [.query: 1, .queryMore: 3])
  }
}
