import LocalOrg
import MobileSync
import Testing

/// The records of briefcases in calls with several retrieves.
@Suite struct WideRetrieveTests {
  /// Four retrieves.
  private static let count = 6100

  @Test func `the first retrieve is alone, the others are one call; the next user's are one call`()
    async throws
  {
    let scene = try WideScene(accounts: Self.count)
    let direct = scene.briefcase(nil, perRetrieve: 1999)
    let plain = try await scene.requests { try await direct.prime() }
    #expect(plain[.retrieve] == 4)
    #expect(plain[.composite] == nil)
    let wide = WideCalls()
    let first = scene.briefcase(wide)
    let learning = try await scene.requests { try await first.prime() }
    #expect(learning[.retrieve] == 1)
    #expect(learning[.composite] == 1)
    let second = scene.briefcase(WideCalls(stored: wide.stored))
    let known = try await scene.requests { try await second.prime() }
    #expect(known[.retrieve] == nil)
    #expect(known[.composite] == 1)
    let rows = try direct.rows()
    #expect(rows.map(\.count) == [Self.count, Self.count])
    // The size of a retrieve is part of the sync, but not of a record.
    #expect(try first.rows() == rows)
    #expect(try second.rows() == rows)
    #expect(first.cursors == direct.cursors)
    #expect(second.cursors == direct.cursors)
    #expect(second.stamps == direct.stamps)
  }

  static let failures: [WideScene.Failure] = [
    .init("a part is refused", .refusePart(1, code: "QUERY_TIMEOUT"), composites: 1, separate: 1),
    .init("the org fails", .status(500, code: "UNKNOWN_EXCEPTION"), composites: 3, separate: 0),
    .init(
      "the org fails each time", .status(500, code: "UNKNOWN_EXCEPTION"), times: 1000,
      composites: 2, separate: 4),
    .init(
      "calls are refused", .status(400, code: "API_DISABLED_FOR_ORG"), times: 1000, composites: 2,
      separate: 4),
    .init(
      "the request is too large", .status(413, code: "REQUEST_TOO_LARGE"), composites: 3,
      separate: 0),
    .init("the answer is cut", .truncate(bytes: 500), composites: 3, separate: 0),
    .init("the org stops after two parts", .interrupt(afterParts: 2), composites: 3, separate: 0),
    .init(
      "the answer has no parts", .respond(.json(#"{"compositeResponse":[]}"#)), composites: 3,
      separate: 0),
  ]

  @Test(arguments: failures)
  func `whatever happens to a call, the snapshot has all records`(_ failure: WideScene.Failure)
    async throws
  {
    let scene = try WideScene(accounts: Self.count)
    scene.org.server.faults.add(.kind(.composite), times: failure.times, failure.action)
    let snapshot = scene.briefcase(WideScene.known())
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests[.composite] == failure.composites)
    #expect(requests[.retrieve, default: 0] == failure.separate)
    #expect(try snapshot.rows().map(\.count) == [Self.count, Self.count])
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a connection that ends during a call loses nothing`() async throws {
    let scene = try WideScene(accounts: Self.count)
    scene.org.server.faults.add(.kind(.composite), .drop(afterCommit: true))
    let snapshot = scene.briefcase(WideScene.known())
    #expect(try await snapshot.prime().soups.map(\.total) == [Self.count])
  }

  @Test func `an answer above the limit is requested in smaller calls`() async throws {
    let scene = try WideScene(accounts: Self.count)
    let direct = try await scene.briefcase(nil, perRetrieve: 1999).primed()
    let calls = scene.org.server.log.entries.filter { $0.kind == .retrieve }.map(\.bytes)
    scene.org.answerLimit = 3 * (calls.max() ?? 0)
    let wide = WideScene.known()
    let snapshot = scene.briefcase(wide)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests[.composite, default: 0] >= 2)
    #expect(try snapshot.rows() == direct.rows())
  }

  @Test func `the end of the org's requests is not met with more requests`() async throws {
    let scene = try WideScene(accounts: Self.count)
    scene.org.server.faults.add(.kind(.composite), .limitExceeded)
    let snapshot = scene.briefcase(WideScene.known())
    let requests = try await scene.requests {
      let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
      #expect(error?.cause?.kind == .limit)
    }
    #expect(requests[.composite] == 1)
    #expect(requests[.retrieve] == nil)
    #expect(snapshot.files.isEmpty)
  }

  @Test func `a slow call makes the next run's calls shorter`() async throws {
    let scene = try WideScene(accounts: Self.count)
    let wide = WideScene.known(PacedClock(seconds: 13).read)
    try await scene.briefcase(wide).prime()
    let next = WideCalls(stored: wide.stored)
    #expect(next.width(WideScene.sync, .records).known.parts == 3)
    let snapshot = scene.briefcase(next)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests[.composite] == 1)
    #expect(requests[.retrieve] == 1)
  }

  @Test func `a record that is hidden between the list and the call is unreadable`() async throws {
    let scene = try WideScene(accounts: Self.count)
    let direct = try await scene.briefcase(nil, perRetrieve: 1999).primed()
    let id = try #require(direct.column("Id", of: "accounts").last)
    scene.org.server.faults.add(.kind(.composite), .nullEntry(id: id))
    let snapshot = scene.briefcase(WideScene.known())
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.unreadable) == [[id]])
    #expect(outcome.isIncomplete)
    // The next run requests it again.
    #expect(try await snapshot.prime().soups.map(\.written) == [1])
    #expect(try snapshot.rows() == direct.rows())
  }

  @Test func `a record that changes between the list and the call has its new values`()
    async throws
  {
    let scene = try WideScene(accounts: Self.count)
    let direct = try await scene.briefcase(nil, perRetrieve: 1999).primed()
    let id = try #require(direct.column("Id", of: "accounts").last)
    scene.org.server.faults.add(.kind(.composite), .update(id, ["Name": "moved"], after: 5000))
    let snapshot = try await scene.briefcase(WideScene.known()).primed()
    #expect(try snapshot.column("Name", of: "accounts").count { $0 == "moved" } == 1)
    try await snapshot.prime()
    try await direct.prime()
    #expect(try snapshot.rows() == direct.rows())
  }
}
