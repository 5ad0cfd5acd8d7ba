import HTTP

/// What is sent again, how often and after which pause.
///
/// That goes for requests, rows that another writer held, queries whose cursor was dropped, and the closing of bulk
/// jobs. Pure, so that it can be tested as a table.
package struct RetryPolicy: Sendable {
  /// What came of a request.
  package enum Outcome: Sendable, Hashable {
    case answer(status: Int, code: String?, retryAfterSeconds: Int?)
    /// A success that is a page for people where data was asked for.
    case page
    case failure(HTTPError.Kind, HTTPError.Phase)
  }

  /// What to do.
  package enum Decision: Sendable, Hashable {
    case accept
    /// Again after a pause of at most so long, drawn at random.
    case retry(withinMilliseconds: Int)
    /// Again after a pause of exactly so long: the org named it.
    case retryAfter(milliseconds: Int)
    /// Get a new session and ask once more.
    case refresh
    case fail(OrgError.Kind, isAmbiguous: Bool)
  }

  /// How often a request is repeated at most.
  package var retries = 6
  /// How often a query is repeated that took the org too long: its next answer may come from what it has read.
  var retriesOfQueries = 1
  /// The first pause's upper bound; each further one is twice as long.
  var firstPauseMilliseconds = 500
  /// No pause of ours is longer.
  var longestPauseMilliseconds = 60_000
  /// How often a page for people is asked again: it is that of a pause for maintenance, or the wrong address.
  var retriesOfPages = 3
  /// No pause that the org names is obeyed beyond this.
  var longestRetryAfterSeconds = 900
  /// How many requests of a run are repeated whatever it asks, and among how many there is one more.
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
  /// How often a query is begun again after its cursor was dropped: the org closes the oldest one of a
  /// user who has ten open.
  static let cursorRestarts = 3
  /// How often a row that another writer held, or that the org has not looked at, is tried.
  package static let attemptsOfRow = 5
  /// How often the org is told that all rows of a bulk job are there.
  static let attemptsOfClosing = 3

  /// Decides; `attempt` counts the repeats so far, `hasRefreshed` says that the session is new.
  package func decide(
    _ outcome: Outcome, isRead: Bool, attempt: Int, hasRefreshed: Bool
  ) -> Decision {
    switch outcome {
    case .answer(let status, let code, let retryAfter):
      decide(
        status: status, code: code, retryAfter: retryAfter, isRead: isRead, attempt: attempt,
        hasRefreshed: hasRefreshed)
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
    case .answer(_, let code, _) where code == ErrorCodes.queryTimeout: retriesOfQueries
    case .answer, .failure: retries
    }
  }

  /// Whether one more of all requests of a run may be repeated, after so many repeats among so many requests.
  ///
  /// An org in trouble is not helped by a fifth more requests than there would be.
  func mayRepeat(after repeats: Int, among requests: Int) -> Bool {
    repeats < freeRepeats + requests / requestsPerRepeat
  }

  /// What `read` makes of a list, which is begun again where the org dropped its cursor.
  ///
  /// Pages that are stored as they come are no list: they go on after the last one that was.
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

  /// Whether a query is begun again after an error, and so many restarts before.
  package static func beginsAgain(_ error: OrgError?, after restarts: Int) -> Bool {
    error?.kind == .locatorExpired && restarts < cursorRestarts
  }

  /// Whether a refusal with a code is one of the moment: another writer has the row.
  package static func isMomentary(_ code: String?) -> Bool { code == ErrorCodes.locked }

  /// Whether a row may be sent again: the org has done nothing with it, and may do it a moment later.
  package static func repeats(_ answer: RowAnswer) -> Bool {
    switch answer {
    case .locked, .unprocessed: true
    case .done, .changed, .absent, .refused, .unknown: false
    }
  }

  /// The pause after so many attempts of rows.
  package static func pauseOfRows(after attempts: Int) -> Int64 {
    min(1000 << Int64(attempts - 1), 5000)
  }

  /// The pause after so many attempts to close a bulk job; nil if there were enough.
  package static func pauseOfClosing(after attempts: Int) -> Int? {
    attempts < attemptsOfClosing ? 1000 << attempts : nil
  }

  /// What an answer means where nothing is sent again: that of a part of a composite request.
  func kind(status: Int, code: String?) -> OrgError.Kind {
    let last = decide(
      status: status, code: code, retryAfter: nil, isRead: true, attempt: .max, hasRefreshed: true)
    guard case .fail(let kind, _) = last else { return .invalidResponse }
    return kind
  }

  private func decide(
    status: Int, code: String?, retryAfter: Int?, isRead: Bool, attempt: Int, hasRefreshed: Bool
  ) -> Decision {
    switch (status, code) {
    case (HTTPStatus.success, _), (304, _): return .accept
    case (401, ErrorCodes.session), (403, ErrorCodes.identitySession):
      return hasRefreshed ? .fail(.authentication, isAmbiguous: false) : .refresh
    case (301...303, _), (307...308, _):
      // Not followed, a token must not travel; but the login says where the org is now.
      // Of a write 307 and 308 say that it is to be made elsewhere, so nothing was done; after the others it may be.
      guard isRead, !hasRefreshed else {
        return .fail(.invalidResponse, isAmbiguous: !isRead && status <= 303)
      }
      return .refresh
    case (401, _): return .fail(.authentication, isAmbiguous: false)
    case (403, ErrorCodes.requestLimit): return .fail(.limit, isAmbiguous: false)
    case (403, ErrorCodes.concurrency):
      // Too many at this moment: turned away at the door, like the next but one.
      return pause(attempt, retryAfter) ?? .fail(.limit, isAmbiguous: false)
    case (403, _): return .fail(.permission, isAmbiguous: false)
    case (_, let code?) where ErrorCodes.cursor.contains(code):
      return .fail(.locatorExpired, isAmbiguous: false)
    case (400, ErrorCodes.queryTimeout) where isRead && attempt < retriesOfQueries:
      return pause(attempt, retryAfter)
        ?? .fail(.refused(ErrorCodes.queryTimeout), isAmbiguous: false)
    case (404, _): return .fail(.notFound, isAmbiguous: false)
    case (429, _):
      // Turned away at the door: nothing was done, so that a write may be sent again too.
      return pause(attempt, retryAfter) ?? .fail(.limit, isAmbiguous: false)
    case (420, _), (500...599, _):
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
    case .notAllowed, .authorities: return .fail(.configuration, isAmbiguous: false)
    case .tooLarge: return .fail(.tooLarge, isAmbiguous: isAmbiguous)
    case .unreachable, .truncated, .timeout, .other:
      let final = kind == .timeout ? OrgError.Kind.timeout : .unreachable
      guard !isAmbiguous else { return .fail(final, isAmbiguous: true) }
      return pause(attempt, nil) ?? .fail(final, isAmbiguous: false)
    }
  }

  /// The pause before the next repeat, nil if there were enough.
  private func pause(_ attempt: Int, _ retryAfterSeconds: Int?) -> Decision? {
    guard attempt < retries else { return nil }
    if let seconds = retryAfterSeconds, seconds >= 0 {
      return .retryAfter(milliseconds: min(seconds, longestRetryAfterSeconds) * 1000)
    }
    let bound = firstPauseMilliseconds << min(attempt, 16)
    return .retry(withinMilliseconds: min(bound, longestPauseMilliseconds))
  }
}
