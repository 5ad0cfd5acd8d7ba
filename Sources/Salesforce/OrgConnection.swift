import HTTP
import System

/// The connection to an org: sends and repeats calls, counts them, and enforces the budget.
package final class OrgConnection: Sendable {
  private struct State {
    var counts: [RequestCount.Key: Int] = [:]
    var made = 0
    var bytes = 0
    var repeats = 0
    var usage: APIUsage?
    var serverDate: Int64?
    var clockOffset: Int64 = 0
    /// The uptime of this machine at that response, in nanoseconds.
    var dated: UInt64 = 0
    /// The monotonic clock when that response was recorded.
    var noted: UInt64 = 0
    var replacedHalves = 0
  }

  let client: HTTPClient
  let policy: RetryPolicy
  let pause: RetryPause
  let timeoutSeconds: Int
  private let budget: APIBudget
  private let events: @Sendable (OrgEvent) -> Void
  private let state = Locked(State())

  package init(
    client: HTTPClient, policy: RetryPolicy, pause: RetryPause, timeoutSeconds: Int,
    budget: APIBudget, events: @escaping @Sendable (OrgEvent) -> Void
  ) {
    self.client = client
    self.policy = policy
    self.pause = pause
    self.timeoutSeconds = timeoutSeconds
    self.budget = budget
    self.events = events
  }

  /// Sends a call, with repeats, until it succeeds or finally fails.
  func perform(
    _ call: OrgCall, base: String, token: SessionToken?, identity: String
  ) async throws(OrgError) -> HTTPResponse {
    do throws(OrgError) {
      return try await repeated(call, base: base, token: token, identity: identity)
    } catch {
      throw error.sent(to: token?.current.instanceURL ?? base)
    }
  }

  private func repeated(
    _ call: OrgCall, base: String, token: SessionToken?, identity: String
  ) async throws(OrgError) -> HTTPResponse {
    let policy = policy.allowing(retries: call.mostRetries)
    var attempt = 0
    var hasRefreshed = false
    while true {
      try admit(call.kind, call.name, identity)
      let current = token?.current
      let exchange = await self.exchange(
        call.request(
          base: current?.instanceURL ?? base, token: current?.text, timeoutSeconds: timeoutSeconds),
        call, identity, token: current?.text)
      note(exchange)
      let decision = policy.decide(
        exchange.outcome(of: call), isRead: call.isRead, attempt: attempt,
        hasRefreshed: hasRefreshed)
      switch decision {
      case .accept:
        if let response = exchange.response { return response }
      case .refresh:
        guard let token, let current else { throw exchange.error(exchange.reasonToRenew, call) }
        try await token.renew(current, because: exchange.error(exchange.reasonToRenew, call))
        hasRefreshed = true
      case .retry, .retryAfter:
        attempt += 1
        try await wait(decision, exchange, call, identity, attempt: attempt, policy)
      case .fail(let kind, let isAmbiguous):
        if call.returnsRefusals, kind.isRefusal, let response = exchange.response {
          return response
        }
        throw exchange.error(kind, call, isAmbiguous: isAmbiguous)
      }
    }
  }

  /// Sends a call once, and records the response's date and usage.
  private func exchange(
    _ request: HTTPRequest, _ call: OrgCall, _ identity: String, token: String?
  ) async -> OrgExchange {
    let start = Clock.monotonicNanoseconds()
    do throws(HTTPError) {
      let response = try await client.send(request)
      note(response, call.kind, call.name, identity, since: start)
      return OrgExchange(.success(call.shown(response, token: token)))
    } catch {
      events(
        .failed(
          kind: call.kind, request: call.name, reason: error.message,
          milliseconds: Int((Clock.monotonicNanoseconds() - start) / 1_000_000),
          identity: identity))
      return OrgExchange(.failure(error))
    }
  }

  /// Counts a request before it is sent; throws if the budget does not allow it.
  func admit(_ kind: RequestKind, _ name: String, _ identity: String) throws(OrgError) {
    let refusal = state.withLock { state -> (code: String, reason: String)? in
      // Logins do not count against an org's limit, and a run must be able to finish properly.
      let counts = kind != .token && kind != .versions
      if counts, let refusal = budget.refusal(made: state.made, usage: state.usage) {
        return (budget.code(made: state.made), refusal)
      }
      if counts { state.made += 1 }
      state.counts[RequestCount.Key(kind: kind, identity: identity), default: 0] += 1
      return nil
    }
    if let refusal {
      throw OrgError(.limit, code: refusal.code, message: refusal.reason, request: name)
    }
  }

  /// Records a response: the org's clock, its request count, an event.
  ///
  /// Responses to concurrent requests arrive in any order. The latest of their dates is kept, so
  /// that the org's clock is never before the date of a received response. `asked` is the time when
  /// a request was sent that left before the caller waited for it; `start` is the time from which
  /// it waits.
  package func note(
    _ response: HTTPResponse, _ kind: RequestKind, _ name: String, _ identity: String,
    since start: UInt64, asked: UInt64? = nil
  ) {
    let usage = APIUsage(header: response.headers["Sforce-Limit-Info"])
    let date = response.headers["Date"].flatMap { Dates.milliseconds(http: $0) }
    let now = Clock.wallMilliseconds()
    state.withLock { state in
      state.bytes += response.body.count
      if let usage { state.usage = usage }
      let isLater = asked ?? start >= state.noted
      if let date, isLater || date >= state.serverDate ?? date {
        state.serverDate = date
        state.clockOffset = date - now
        state.dated = Clock.sinceStartNanoseconds()
        state.noted = Clock.monotonicNanoseconds()
      }
    }
    let elapsed = Int((Clock.monotonicNanoseconds() - start) / 1_000_000)
    events(
      .answered(
        kind: kind, request: name, status: response.status, milliseconds: elapsed,
        bytes: response.body.count, identity: identity))
  }

  /// Records the replacements in a response.
  func note(_ exchange: OrgExchange) {
    guard exchange.replacedHalves > 0 else { return }
    state.withLock { $0.replacedHalves += exchange.replacedHalves }
  }

  /// The number of unpaired surrogates from the org that were replaced with U+FFFD.
  var replacedHalves: Int { state.withLock { $0.replacedHalves } }

  /// Sends an event to the listener.
  func report(_ event: OrgEvent) { events(event) }

  /// Waits before a repeat; throws if there are too many repeats in proportion to all requests.
  func wait(
    _ decision: RetryPolicy.Decision, _ exchange: OrgExchange, _ call: OrgCall,
    _ identity: String, attempt: Int, _ policy: RetryPolicy
  ) async throws(OrgError) {
    let mayRepeat = state.withLock { state in
      guard policy.mayRepeat(after: state.repeats, among: state.made) else { return false }
      state.repeats += 1
      return true
    }
    guard mayRepeat else {
      throw exchange.error(.unreachable, call, isAmbiguous: false)
    }
    let milliseconds =
      switch decision {
      case .retry(let bound): pause.random(bound)
      case .retryAfter(let exactly): exactly
      case .accept, .refresh, .fail: 0
      }
    events(
      .retrying(
        request: call.name, reason: exchange.reason, attempt: attempt,
        of: policy.mostRetries(of: exchange.outcome(of: call)), milliseconds: milliseconds,
        identity: identity))
    try await rest(milliseconds: milliseconds, call.name)
  }

  /// Waits; `request` is the request that follows.
  func rest(milliseconds: Int, _ request: String) async throws(OrgError) {
    do {
      try await pause.sleep(milliseconds)
    } catch {
      throw OrgError(.cancelled, message: "the request was cancelled", request: request)
    }
  }

  /// The size of all responses so far, in bytes.
  var bytesReceived: Int { state.withLock { $0.bytes } }

  /// The org's clock in milliseconds, from its last response.
  package var serverDate: Int64? { state.withLock { $0.serverDate } }

  /// The org's latest count of its daily requests.
  var usage: APIUsage? { state.withLock { $0.usage } }

  /// The number of requests that the budget allows; nil if no limit is known.
  var requestsLeft: Int? { state.withLock { budget.left(made: $0.made, usage: $0.usage) } }

  /// The difference of the org's clock to this machine's in milliseconds, from the last response;
  /// positive if the org is ahead.
  var clockOffset: Int64 { state.withLock { $0.clockOffset } }

  /// The estimated current time of the org: its clock at the last response plus the time since,
  /// which changes of this machine's clock do not affect.
  ///
  /// Without a response, this machine's clock.
  var estimatedServerNow: Int64 {
    state.withLock { state in
      guard let date = state.serverDate else { return Clock.wallMilliseconds() }
      return date + Int64((Clock.sinceStartNanoseconds() - state.dated) / 1_000_000)
    }
  }

  /// The number of requests so far, by kind and user.
  var counts: [RequestCount] {
    state.withLock { $0.counts }
      .map { RequestCount(kind: $0.key.kind, identity: $0.key.identity, count: $0.value) }
      .sorted { ($0.identity, $0.kind.rawValue) < ($1.identity, $1.kind.rawValue) }
  }
}

extension RequestCount {
  struct Key: Hashable {
    let kind: RequestKind
    let identity: String
  }
}
