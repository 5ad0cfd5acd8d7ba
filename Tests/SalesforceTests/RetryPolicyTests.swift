import HTTP
import Salesforce
import Testing

@Suite struct RetryPolicyTests {
  struct Case: Sendable {
    var status: Int
    var code: String?
    var read: RetryPolicy.Decision
    var write: RetryPolicy.Decision
  }

  static let pause = RetryPolicy.Decision.retry(withinMilliseconds: 500)
  static func both(_ status: Int, _ code: String?, _ decision: RetryPolicy.Decision) -> Case {
    Case(status: status, code: code, read: decision, write: decision)
  }

  static func moved(_ status: Int) -> Case {
    Case(
      status: status, code: nil, read: .refresh, write: .fail(.invalidResponse, isAmbiguous: true))
  }

  static func inDoubt(_ status: Int) -> Case {
    Case(status: status, code: nil, read: pause, write: .fail(.unreachable, isAmbiguous: true))
  }

  @Test(arguments: [
    both(200, nil, .accept), both(201, nil, .accept), both(204, nil, .accept),
    both(304, nil, .accept), both(300, nil, .fail(.refused("HTTP_300"), isAmbiguous: false)),
    both(400, "MALFORMED_QUERY", .fail(.refused("MALFORMED_QUERY"), isAmbiguous: false)),
    Case(
      status: 400, code: "QUERY_TIMEOUT", read: pause,
      write: .fail(.refused("QUERY_TIMEOUT"), isAmbiguous: false)),
    both(403, ErrorCodes.concurrency, pause),
    both(400, "INVALID_QUERY_LOCATOR", .fail(.locatorExpired, isAmbiguous: false)),
    both(404, "QUERY_LOCATOR_EXPIRED", .fail(.locatorExpired, isAmbiguous: false)),
    both(400, "UNABLE_TO_LOCK_ROW", .fail(.refused("UNABLE_TO_LOCK_ROW"), isAmbiguous: false)),
    both(401, "INVALID_SESSION_ID", .refresh), both(403, "Bad_OAuth_Token", .refresh),
    both(401, "INVALID_AUTH_HEADER", .fail(.authentication, isAmbiguous: false)),
    both(401, nil, .fail(.authentication, isAmbiguous: false)),
    both(403, "REQUEST_LIMIT_EXCEEDED", .fail(.limit, isAmbiguous: false)),
    both(403, "INSUFFICIENT_ACCESS", .fail(.permission, isAmbiguous: false)),
    both(404, "NOT_FOUND", .fail(.notFound, isAmbiguous: false)),
    both(412, nil, .fail(.refused("HTTP_412"), isAmbiguous: false)),
    both(429, nil, pause),
    inDoubt(420), inDoubt(500), inDoubt(502), inDoubt(503), inDoubt(504),
    moved(301), moved(302), moved(303), moved(307), moved(308),
  ])
  func `a response is decided by status, code and whether it was a write`(row: Case) {
    let outcome = RetryPolicy.Outcome.answer(
      status: row.status, code: row.code, retryAfterSeconds: nil)
    let policy = RetryPolicy()
    #expect(policy.decide(outcome, isRead: true, attempt: 0, hasRefreshed: false) == row.read)
    #expect(policy.decide(outcome, isRead: false, attempt: 0, hasRefreshed: false) == row.write)
  }

  @Test(arguments: [400, 401, 403, 404, 408, 409, 412, 413, 420, 425, 429, 500, 502, 503, 504, 599])
  func `an error that is not in the org's form leaves a write unconfirmed`(status: Int) {
    let policy = RetryPolicy()
    for code in [nil, ErrorCodes.session, ErrorCodes.requestLimit, ErrorCodes.concurrency] {
      for attempt in [0, 6] {
        func decide(_ outcome: RetryPolicy.Outcome, isRead: Bool) -> RetryPolicy.Decision {
          policy.decide(outcome, isRead: isRead, attempt: attempt, hasRefreshed: false)
        }
        let foreign = RetryPolicy.Outcome.foreign(status: status, code: code, retryAfterSeconds: 1)
        let kind = status == 420 || status >= 500 ? OrgError.Kind.unreachable : .invalidResponse
        #expect(decide(foreign, isRead: false) == .fail(kind, isAmbiguous: true))
        // A read is decided as before: it proves nothing and may be repeated.
        #expect(
          decide(foreign, isRead: true)
            == decide(.answer(status: status, code: code, retryAfterSeconds: 1), isRead: true))
      }
    }
  }

  static let kinds: [HTTPError.Kind] = [
    .unreachable, .timeout, .truncated, .other, .tls, .tooLarge, .cancelled, .notAllowed,
  ]

  @Test(arguments: kinds)
  func `a write that may have arrived is never repeated`(kind: HTTPError.Kind) {
    let decision = RetryPolicy().decide(
      .failure(kind, .afterSend), isRead: false, attempt: 0, hasRefreshed: false)
    guard case .fail(_, let isAmbiguous) = decision else {
      Issue.record("\(decision)")
      return
    }
    #expect(isAmbiguous == (kind != .notAllowed))
  }

  @Test func `a failure before the send is repeated for reads and writes`() {
    for kind in [HTTPError.Kind.unreachable, .timeout, .truncated, .other] {
      for isRead in [true, false] {
        let decision = RetryPolicy().decide(
          .failure(kind, .beforeSend), isRead: isRead, attempt: 0, hasRefreshed: false)
        #expect(decision == Self.pause)
      }
    }
  }

  @Test func `a bad certificate and a cancelled task are never repeated`() {
    let policy = RetryPolicy()
    #expect(
      policy.decide(.failure(.tls, .beforeSend), isRead: true, attempt: 0, hasRefreshed: false)
        == .fail(.certificate, isAmbiguous: false))
    #expect(
      policy.decide(
        .failure(.cancelled, .beforeSend), isRead: false, attempt: 0, hasRefreshed: false)
        == .fail(.cancelled, isAmbiguous: false))
  }

  @Test func `pauses double up to a minute and end after six`() {
    let bounds = (0...6).map { attempt in
      RetryPolicy().decide(
        .answer(status: 503, code: nil, retryAfterSeconds: nil), isRead: true, attempt: attempt,
        hasRefreshed: false)
    }
    #expect(
      bounds == [500, 1000, 2000, 4000, 8000, 16000].map { .retry(withinMilliseconds: $0) }
        + [.fail(.unreachable, isAmbiguous: false)])
    var patient = RetryPolicy()
    patient.retries = 100
    #expect(
      patient.decide(.failure(.timeout, .afterSend), isRead: true, attempt: 90, hasRefreshed: false)
        == .retry(withinMilliseconds: 60_000))
  }

  @Test func `the org's own pause is obeyed up to a quarter of an hour`() {
    let policy = RetryPolicy()
    for (seconds, expected) in [(0, 0), (7, 7000), (900, 900_000), (99_999_999, 900_000)] {
      #expect(
        policy.decide(
          .answer(status: 503, code: nil, retryAfterSeconds: seconds), isRead: true, attempt: 3,
          hasRefreshed: false) == .retryAfter(milliseconds: expected))
    }
  }

  @Test func `an HTML page is requested again a few times, and a slow query once`() {
    let policy = RetryPolicy()
    func decide(
      _ outcome: RetryPolicy.Outcome, isRead: Bool = true, _ attempt: Int
    ) -> RetryPolicy.Decision {
      policy.decide(outcome, isRead: isRead, attempt: attempt, hasRefreshed: false)
    }
    #expect(decide(.page, 2) == .retry(withinMilliseconds: 2000))
    #expect(decide(.page, 3) == .fail(.invalidResponse, isAmbiguous: false))
    #expect(decide(.page, isRead: false, 0) == .fail(.invalidResponse, isAmbiguous: true))
    let slow = RetryPolicy.Outcome.answer(
      status: 400, code: ErrorCodes.queryTimeout, retryAfterSeconds: nil)
    #expect(decide(slow, 1) == .fail(.refused("QUERY_TIMEOUT"), isAmbiguous: false))
  }

  @Test func `an org's two request limits are distinguished by its message`() {
    func meaning(_ words: String) -> String? {
      OrgFault(Array(#"[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"\#(words)"}]"#.utf8))
        .meaning
    }
    #expect(meaning("TotalRequests Limit exceeded.") == ErrorCodes.requestLimit)
    #expect(meaning("ConcurrentPerOrgLongTxn Limit exceeded.") == ErrorCodes.concurrency)
    #expect(
      meaning("ConcurrentRequests (Concurrent API Requests) Limit exceeded.")
        == ErrorCodes.concurrency)
  }

  @Test func `a rejected new session is final`() {
    #expect(
      RetryPolicy().decide(
        .answer(status: 401, code: "INVALID_SESSION_ID", retryAfterSeconds: nil), isRead: true,
        attempt: 0, hasRefreshed: true) == .fail(.authentication, isAmbiguous: false))
  }

  @Test("a dropped cursor is restarted three times, and no other error is") func restarts() {
    let dropped = OrgError(.locatorExpired, message: "", request: "")
    #expect((0..<3).allSatisfy { RetryPolicy.beginsAgain(dropped, after: $0) })
    #expect(!RetryPolicy.beginsAgain(dropped, after: 3))
    #expect(!RetryPolicy.beginsAgain(OrgError(.unreachable, message: "", request: ""), after: 0))
    #expect(!RetryPolicy.beginsAgain(nil, after: 0))
  }

  @Test("rows that were locked or not processed are tried five times with longer pauses")
  func rows() {
    let refusal = RowRefusal(code: nil, message: "")
    #expect(RetryPolicy.repeats(.locked(refusal)) && RetryPolicy.repeats(.unprocessed(refusal)))
    let ends: [RowAnswer] = [
      .done(id: nil, created: nil), .changed, .absent(refusal), .refused(refusal), .unknown(""),
    ]
    #expect(!ends.contains(where: RetryPolicy.repeats))
    #expect(RetryPolicy.isMomentary("UNABLE_TO_LOCK_ROW"))
    #expect(!RetryPolicy.isMomentary("DUPLICATE_VALUE") && !RetryPolicy.isMomentary(nil))
    #expect(RetryPolicy.attemptsOfRow == 5)
    #expect((1...4).map(RetryPolicy.pauseOfRows) == [1000, 2000, 4000, 5000])
  }

  @Test("a bulk job is closed three times at most")
  func closing() { #expect((1...3).map(RetryPolicy.pauseOfClosing) == [2000, 4000, nil]) }
}
