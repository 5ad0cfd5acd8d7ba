import LocalOrg
import MobileSync
import Testing

/// What follows if a call with several parts fails, by queries and by briefcases.
@Suite struct WideFailureTests {
  enum Kind: Sendable { case query, retrieve }

  /// A fault of calls, how often it strikes, and the calls and separate requests that follow.
  struct Failure: Sendable, CustomTestStringConvertible {
    let kind: Kind
    let testDescription: String
    let action: Faults.Action
    let times: Int
    let composites: Int
    let separate: Int

    init(
      _ kind: Kind, _ description: String, _ action: Faults.Action, times: Int = 1,
      composites: Int, separate: Int
    ) {
      self.kind = kind
      testDescription = "\(kind): \(description)"
      self.action = action
      self.times = times
      self.composites = composites
      self.separate = separate
    }
  }

  private static let refused = Faults.Action.refusePart(1, code: "QUERY_TIMEOUT")
  private static let failing = Faults.Action.status(500, code: "UNKNOWN_EXCEPTION")

  static let failures: [Failure] = [
    .init(.query, "a part is refused", refused, composites: 1, separate: 1),
    .init(
      .query, "the org fails", .status(503, code: "SERVER_UNAVAILABLE"), composites: 2,
      separate: 1),
    .init(.query, "the org fails each time", failing, times: 1000, composites: 2, separate: 3),
    .init(.query, "the answer is cut", .truncate(bytes: 500), composites: 2, separate: 1),
    .init(
      .query, "the org stops after a part", .interrupt(afterParts: 1), composites: 2, separate: 1),
    .init(.retrieve, "a part is refused", refused, composites: 1, separate: 1),
    .init(.retrieve, "the org fails", failing, composites: 3, separate: 0),
    .init(.retrieve, "the org fails each time", failing, times: 1000, composites: 2, separate: 4),
    .init(
      .retrieve, "calls are refused", .status(400, code: "API_DISABLED_FOR_ORG"), times: 1000,
      composites: 2, separate: 4),
    .init(
      .retrieve, "the request is too large", .status(413, code: "REQUEST_TOO_LARGE"),
      composites: 3, separate: 0),
    .init(.retrieve, "the answer is cut", .truncate(bytes: 500), composites: 3, separate: 0),
    .init(
      .retrieve, "the org stops after two parts", .interrupt(afterParts: 2), composites: 3,
      separate: 0),
    .init(
      .retrieve, "the answer has no parts", .respond(.json(#"{"compositeResponse":[]}"#)),
      composites: 3, separate: 0),
  ]

  @Test(arguments: failures)
  func `whatever happens to a call, the rows are the same`(_ failure: Failure) async throws {
    let isQuery = failure.kind == .query
    let (scene, wide, direct) =
      isQuery ? try await WideScene.learned(4000) : try await WideScene.retrieved(6100)
    scene.org.server.faults.add(.kind(.composite), times: failure.times, failure.action)
    let snapshot = isQuery ? scene.soql(wide) : scene.briefcase(wide)
    let requests = try await scene.requests { try await snapshot.prime() }
    #expect(requests[.composite] == failure.composites)
    #expect(requests[isQuery ? .query : .retrieve, default: 0] == failure.separate)
    #expect(try snapshot.rows() == direct.rows())
    #expect(snapshot.cursors == direct.cursors)
    #expect(try await !snapshot.prime().changed)
  }
}
