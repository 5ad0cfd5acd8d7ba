import HTTP

/// The rules for repeats: what is sent again, how often and after which pause.
///
/// They apply to requests, rows that another writer has locked, queries whose cursor was dropped,
/// and the closing of bulk jobs. The functions are pure, so that they can be tested as a table.
package struct RetryPolicy: Sendable {
  /// The outcome of a request.
  package enum Outcome: Sendable, Hashable {
    /// A success, a redirect, or an error in the org's own form.
    case answer(status: Int, code: String?, retryAfterSeconds: Int?)
    /// An error that is not in the org's own form, such as a gateway's page.
    ///
    /// The gateway may forward the request later, so the status proves nothing about a write.
    case foreign(status: Int, code: String?, retryAfterSeconds: Int?)
    /// A successful response with an HTML page instead of data.
    case page
    case failure(HTTPError.Kind, HTTPError.Phase)
  }

  /// The decision after a request.
  package enum Decision: Sendable, Hashable {
    case accept
    /// Repeat after a random pause up to this bound.
    case retry(withinMilliseconds: Int)
    /// Repeat after exactly this pause, which the org requested.
    case retryAfter(milliseconds: Int)
    /// Get a new session and repeat once.
    case refresh
    case fail(OrgError.Kind, isAmbiguous: Bool)
  }

  /// The maximum number of repeats of a request.
  package var retries = 6
  /// The maximum number of repeats of a query that took too long.
  ///
  /// The repeat may benefit from data that the org has cached.
  var retriesOfQueries = 1
  /// The upper bound of the first pause; it doubles with each further pause.
  var firstPauseMilliseconds = 500
  /// The maximum length of attache's own pauses.
  var longestPauseMilliseconds = 60_000
  /// The maximum number of repeats after an HTML page: either the org is in maintenance, or the
  /// address is wrong.
  var retriesOfPages = 3
  /// The maximum pause that is accepted from the org.
  var longestRetryAfterSeconds = 900
  /// The number of repeats that a run may always make, and the number of requests that allow one
  /// more.
  var freeRepeats = 20
  var requestsPerRepeat = 5

  package init(
    retries: Int = 6, retriesOfQueries: Int = 1, firstPauseMilliseconds: Int = 500,
    longestPauseMilliseconds: Int = 60_000, retriesOfPages: Int = 3,
    longestRetryAfterSeconds: Int = 900, freeRepeats: Int = 20, requestsPerRepeat: Int = 5
  ) {
    self.retries = retries
    self.retriesOfQueries = retriesOfQueries
    self.firstPauseMilliseconds = firstPauseMilliseconds
    self.longestPauseMilliseconds = longestPauseMilliseconds
    self.retriesOfPages = retriesOfPages
    self.longestRetryAfterSeconds = longestRetryAfterSeconds
    self.freeRepeats = freeRepeats
    self.requestsPerRepeat = requestsPerRepeat
  }

  /// The maximum number of repeats of a request that the org rejected because there were too many
  /// at the moment; nil for that of any request.
  private var retriesOfRejected: Int?

  /// The policy with at most this number of repeats of a request that failed; nil changes nothing.
  ///
  /// A request that was rejected because there were too many is repeated as before.
  func allowing(retries most: Int?) -> RetryPolicy {
    guard let most else { return self }
    var policy = self
    policy.retriesOfRejected = retries
    policy.retries = min(retries, most)
    policy.retriesOfQueries = min(retriesOfQueries, most)
    policy.retriesOfPages = min(retriesOfPages, most)
    return policy
  }

  /// The number of times a query is restarted after its cursor was dropped.
  ///
  /// An org closes the oldest of a user's ten open cursors.
  static let cursorRestarts = 3
  /// The number of attempts for a row that another writer has locked, or that the org has not
  /// processed.
  package static let attemptsOfRow = 5
  /// The number of attempts to tell the org that all rows of a bulk job are uploaded.
  static let attemptsOfClosing = 3

  /// Decides what to do; `attempt` is the number of repeats so far, `hasRefreshed` whether the
  /// session is new.
  package func decide(
    _ outcome: Outcome, isRead: Bool, attempt: Int, hasRefreshed: Bool
  ) -> Decision {
    switch outcome {
    case .answer(let status, let code, let retryAfter):
      decide(
        status: status, code: code, retryAfter: retryAfter, isRead: isRead, attempt: attempt,
        hasRefreshed: hasRefreshed)
    case .foreign(let status, let code, let retryAfter) where isRead:
      decide(
        status: status, code: code, retryAfter: retryAfter, isRead: isRead, attempt: attempt,
        hasRefreshed: hasRefreshed)
    case .foreign(let status, _, _):
      .fail(Self.isFailure(status) ? .unreachable : .invalidResponse, isAmbiguous: true)
    case .page:
      isRead && attempt < retriesOfPages
        ? pause(attempt, nil) ?? .fail(.invalidResponse, isAmbiguous: false)
        : .fail(.invalidResponse, isAmbiguous: !isRead)
    case .failure(let kind, let phase):
      decide(kind, phase, isRead: isRead, attempt: attempt)
    }
  }

  /// How often a request with this outcome is repeated at most.
  func mostRetries(of outcome: Outcome) -> Int {
    switch outcome {
    case .page: retriesOfPages
    case .answer(_, ErrorCodes.queryTimeout, _), .foreign(_, ErrorCodes.queryTimeout, _):
      retriesOfQueries
    case .answer(429, _, _), .foreign(429, _, _), .answer(403, ErrorCodes.concurrency, _),
      .foreign(403, ErrorCodes.concurrency, _):
      retriesOfRejected ?? retries
    case .answer, .foreign, .failure: retries
    }
  }

  /// Whether a run may repeat another request, given the numbers of its repeats and requests.
  ///
  /// A fifth more requests would not help an org in trouble.
  func mayRepeat(after repeats: Int, among requests: Int) -> Bool {
    repeats < freeRepeats + requests / requestsPerRepeat
  }

  /// Returns the result of `read`, which is restarted if the org dropped the cursor of the list.
  ///
  /// This does not apply to pages that are stored as they arrive: they continue after the last
  /// stored one.
  package nonisolated(nonsending) static func readingList<List, Failure: Error>(
    cause: (Failure) -> OrgError?,
    _ read: nonisolated(nonsending) () async throws(Failure) -> List
  ) async throws(Failure) -> List {
    var restarts = 0
    while true {
      do throws(Failure) {
        return try await read()
      } catch {
        guard beginsAgain(cause(error), after: restarts) else { throw error }
        restarts += 1
      }
    }
  }

  /// Whether a query is restarted after an error and a number of earlier restarts.
  package static func beginsAgain(_ error: OrgError?, after restarts: Int) -> Bool {
    error?.kind == .locatorExpired && restarts < cursorRestarts
  }

  /// Whether a rejection with this code is temporary: another writer has locked the row.
  package static func isMomentary(_ code: String?) -> Bool { code == ErrorCodes.locked }

  /// Whether a row may be sent again: the org has not processed it, and may do so a moment later.
  package static func repeats(_ answer: RowAnswer) -> Bool {
    switch answer {
    case .locked, .unprocessed: true
    case .done, .changed, .absent, .refused, .unknown: false
    }
  }

  /// The pause after a number of attempts for rows.
  package static func pauseOfRows(after attempts: Int) -> Int64 {
    min(1000 << Int64(attempts - 1), 5000)
  }

  /// The pause after a number of attempts to close a bulk job; nil if no further one is allowed.
  package static func pauseOfClosing(after attempts: Int) -> Int? {
    attempts < attemptsOfClosing ? 1000 << attempts : nil
  }

  /// The meaning of a response that is not repeated: that of a part of a composite request.
  func kind(status: Int, code: String?) -> OrgError.Kind {
    let last = decide(
      status: status, code: code, retryAfter: nil, isRead: true, attempt: .max, hasRefreshed: true)
    guard case .fail(let kind, _) = last else { return .invalidResponse }
    return kind
  }

  /// Whether a server with this status reports that it failed itself.
  private static func isFailure(_ status: Int) -> Bool {
    status == 420 || (500...599).contains(status)
  }

  private func decide(
    status: Int, code: String?, retryAfter: Int?, isRead: Bool, attempt: Int, hasRefreshed: Bool
  ) -> Decision {
    switch (status, code) {
    case (HTTPStatus.success, _), (304, _): return .accept
    case (401, ErrorCodes.session), (403, ErrorCodes.identitySession):
      return hasRefreshed ? .fail(.authentication, isAmbiguous: false) : .refresh
    case (301...303, _), (307...308, _):
      // A redirect is not followed, as a token must not be sent to another host. A new login tells
      // where the org is now. A write may have been executed: a redirect is not an org's error.
      guard isRead, !hasRefreshed else {
        return .fail(.invalidResponse, isAmbiguous: !isRead)
      }
      return .refresh
    case (401, _): return .fail(.authentication, isAmbiguous: false)
    case (403, ErrorCodes.requestLimit): return .fail(.limit, isAmbiguous: false)
    case (403, ErrorCodes.concurrency):
      // Too many requests at the moment. Rejected before processing, as in the case after the next.
      return pause(attempt, retryAfter, most: retriesOfRejected)
        ?? .fail(.limit, isAmbiguous: false)
    case (403, _): return .fail(.permission, isAmbiguous: false)
    case (_, let code?) where ErrorCodes.cursor.contains(code):
      return .fail(.locatorExpired, isAmbiguous: false)
    case (400, ErrorCodes.queryTimeout) where isRead && attempt < retriesOfQueries:
      return pause(attempt, retryAfter)
        ?? .fail(.refused(ErrorCodes.queryTimeout), isAmbiguous: false)
    case (404, _): return .fail(.notFound, isAmbiguous: false)
    case (429, _):
      // Rejected before processing: nothing was executed, so a write may be repeated too.
      return pause(attempt, retryAfter, most: retriesOfRejected)
        ?? .fail(.limit, isAmbiguous: false)
    case _ where Self.isFailure(status):
      guard isRead else { return .fail(.unreachable, isAmbiguous: true) }
      return pause(attempt, retryAfter) ?? .fail(.unreachable, isAmbiguous: false)
    case (300, _), (400..<500, _):
      return .fail(.refused(code ?? "HTTP_\(status)"), isAmbiguous: false)
    default: return .fail(.invalidResponse, isAmbiguous: !isRead)
    }
  }

  private func decide(
    _ kind: HTTPError.Kind, _ phase: HTTPError.Phase, isRead: Bool, attempt: Int
  ) -> Decision {
    let isAmbiguous = !isRead && phase == .afterSend
    switch kind {
    case .cancelled: return .fail(.cancelled, isAmbiguous: isAmbiguous)
    case .tls: return .fail(.certificate, isAmbiguous: isAmbiguous)
    case .notAllowed, .authorities, .file: return .fail(.configuration, isAmbiguous: false)
    case .tooLarge: return .fail(.tooLarge, isAmbiguous: isAmbiguous)
    case .unreachable, .truncated, .timeout, .other:
      let final = kind == .timeout ? OrgError.Kind.timeout : .unreachable
      guard !isAmbiguous else { return .fail(final, isAmbiguous: true) }
      return pause(attempt, nil) ?? .fail(final, isAmbiguous: false)
    }
  }

  /// The pause before the next repeat; nil if no further one is allowed.
  private func pause(
    _ attempt: Int, _ retryAfterSeconds: Int?, most: Int? = nil
  ) -> Decision? {
    guard attempt < most ?? retries else { return nil }
    if let seconds = retryAfterSeconds, seconds >= 0 {
      return .retryAfter(milliseconds: min(seconds, longestRetryAfterSeconds) * 1000)
    }
    let bound = firstPauseMilliseconds << min(attempt, 16)
    return .retry(withinMilliseconds: min(bound, longestPauseMilliseconds))
  }
}
