import HTTP
import JSON
import System

/// The pages of a query as the org's bytes, in order.
///
/// The next page is requested while the previous one arrives, unless that is disabled. If a page
/// was truncated or its session expired, it is requested again with its locator. If the org dropped
/// the cursor, the error is `locatorExpired`: the caller knows the last key and restarts from
/// there. Only one task may read.
package final class QueryPages: Sendable {
  private struct State {
    /// The first page, if another request has already brought it.
    var given: GivenPage?
    /// The path of the next page; nil after the last.
    var address: String?
    var seen: Set<String> = []
    var totalSize: Int?
    var pages = 0
    /// Whether the last page was empty and named itself as the next one.
    var isIdle = false
    var chain: PageChain?
    var attempt = 0
    var hasRefreshed = false
  }

  private let session: Session
  private let first: OrgCall
  private let isAhead: Bool
  private let state: Locked<State>
  private let issued = IssuedTokens()

  /// An org rejects a request line and header of 16,384 bytes; this leaves room for the header.
  private static let longestPath = 12_000

  init(_ session: Session, _ first: OrgCall, ahead: Bool = true, given: GivenPage? = nil) {
    self.session = session
    self.first = first
    isAhead = ahead
    askedAt = given.map(\.askedAt)
    state = Locked(State(given: given, address: first.path))
  }

  /// The org's time before the first page was requested, if another request brought it.
  package let askedAt: Int64??

  /// The number of all records, known after the first page.
  package var totalSize: Int? { state.withLock { $0.totalSize } }

  /// The next page; nil after the last.
  ///
  /// Its buffer may be returned with `recycle`.
  package func next() async throws(OrgError) -> [UInt8]? {
    if let given = state.withLock({ $0.given.take() }) {
      try advance(past: given.bytes, first)
      return given.bytes
    }
    while let address = state.withLock({ $0.address }) {
      if address == first.path, address.utf8.count > Self.longestPath { return try await wrapped() }
      let start = Clock.monotonicNanoseconds()
      let chain = try chain(from: address)
      guard let exchange = await exchange(chain, address) else {
        // The chain could not find the address by itself, or the budget stopped it.
        try admit(address)
        chain.append(request(address))
        continue
      }
      if let response = exchange.response {
        let call = call(address)
        session.connection.note(
          response, call.kind, call.name, session.identity.username, since: start,
          asked: issued.asked(address))
      }
      if let body = try await settle(exchange, address) { return body }
      try admit(address)
      chain.append(request(address))
    }
    return nil
  }

  /// The result of the chain's next page; nil if the chain has none.
  private func exchange(_ chain: PageChain, _ address: String) async -> OrgExchange? {
    do throws(HTTPError) {
      let token = session.token.current.text
      return try await chain.next().map {
        OrgExchange(.success(call(address).shown($0, token: token)))
      }
    } catch {
      return OrgExchange(.failure(error))
    }
  }

  /// Returns a page's buffer for reuse by a later page.
  package func recycle(_ body: consuming [UInt8]) {
    state.withLock { $0.chain }?.recycle(body)
  }

  /// The page in an exchange; nil if it must be requested again.
  private func settle(
    _ exchange: OrgExchange, _ address: String
  ) async throws(OrgError) -> [UInt8]? {
    let call = call(address)
    session.connection.note(exchange)
    let (attempt, hasRefreshed) = state.withLock { ($0.attempt, $0.hasRefreshed) }
    let policy = session.connection.policy
    let decision = policy.decide(
      exchange.outcome(of: call), isRead: true, attempt: attempt, hasRefreshed: hasRefreshed)
    switch decision {
    case .accept:
      guard let response = exchange.response else { return nil }
      let body = response.body
      try advance(past: body, call)
      return body
    case .refresh:
      // A page requested ahead may have used an older token than the session has now.
      let failed = issued.take(address) ?? session.token.current
      try await session.token.renew(failed, because: exchange.error(exchange.reasonToRenew, call))
      state.withLock { $0.hasRefreshed = true }
    case .retry, .retryAfter:
      state.withLock { $0.attempt += 1 }
      try await session.connection.wait(
        decision, exchange, call, session.identity.username, attempt: attempt + 1, policy)
    case .fail(let kind, _):
      state.withLock { $0.address = nil }
      throw exchange.error(kind, call).sent(to: session.token.current.instanceURL)
    }
    return nil
  }

  /// A statement that is too long for an address is sent as part of a composite request.
  private func wrapped() async throws(OrgError) -> [UInt8] {
    let result = try await session.composite([
      CompositeRequest(method: "GET", url: first.path, referenceId: "query")
    ])
    guard let page = result.first, page.isSuccess else {
      let code = result.first?.errorCode
      throw OrgError(
        .refused(code ?? "UNKNOWN"), status: result.first?.status, code: code,
        message: result.first?.errorMessage ?? "the org rejected the query", request: first.name)
    }
    let body = page.body.bytes
    try advance(past: body, first)
    return body
  }

  static let noPage = "the response is not a page of records"
  static let noAddress = "there are more records, but no address in this org to read them from"

  /// Finds the next page's address in a page; throws if the body is not a page.
  private func advance(past body: [UInt8], _ call: OrgCall) throws(OrgError) {
    guard let head = QueryPageHead(body) else {
      throw Session.invalidResponse(Self.noPage, call)
    }
    _ = issued.take(call.path)
    let isIdle = head.nextRecordsURL == call.path && head.isEmpty(body)
    let problem = state.withLock { state -> String? in
      state.attempt = 0
      state.hasRefreshed = false
      // An org may have no records for a moment. Twice in a row means an endless loop.
      if isIdle, !state.isIdle {
        state.isIdle = true
        return nil
      }
      state.isIdle = false
      state.pages += 1
      if state.totalSize == nil { state.totalSize = head.totalSize }
      if head.isDone {
        state.address = nil
        return nil
      }
      guard let next = head.nextRecordsURL, QueryPageHead.isLocator(next) else {
        return Self.noAddress
      }
      // The number of records is finite, so either check stops an org that never ends.
      guard state.seen.insert(next).inserted, state.pages <= max(1, head.totalSize) else {
        return "the pages never end"
      }
      state.address = next
      return nil
    }
    if let problem { throw Session.invalidResponse(problem, call) }
  }

  private func call(_ address: String) -> OrgCall {
    if address == first.path { return first }
    var call = OrgCall(.queryMore, "GET", address)
    call.headers = first.headers
    return call
  }

  private func request(_ address: String) -> HTTPRequest {
    Self.request(call(address), session, issued)
  }

  private static func request(
    _ call: OrgCall, _ session: Session, _ issued: IssuedTokens
  ) -> HTTPRequest {
    let token = session.token.current
    issued.note(call.path, token)
    return call.request(
      base: token.instanceURL, token: token.text,
      timeoutSeconds: session.connection.timeoutSeconds)
  }

  private func admit(_ address: String) throws(OrgError) {
    let call = call(address)
    try session.connection.admit(call.kind, call.name, session.identity.username)
  }

  /// The chain, started at the first page that it can read.
  private func chain(from address: String) throws(OrgError) -> PageChain {
    if let chain = state.withLock({ $0.chain }) { return chain }
    try admit(address)
    let headers = first.headers
    let chain = session.connection.client.pages(first: request(address)) {
      [session, issued, isAhead] head in
      guard isAhead else { return .unknown }
      if JSONHead.stringMember("done", in: head) == .found("true") { return .end }
      guard case .found(let next) = JSONHead.stringMember("nextRecordsUrl", in: head),
        QueryPageHead.isLocator(next)
      else { return .unknown }
      var call = OrgCall(.queryMore, "GET", next)
      call.headers = headers
      // If the budget is exhausted, the reader gets the error when it reaches that page.
      guard
        (try? session.connection.admit(call.kind, call.name, session.identity.username)) != nil
      else { return .unknown }
      return .request(Self.request(call, session, issued))
    }
    state.withLock { $0.chain = chain }
    return chain
  }
}

/// The tokens and the times of sent requests, by path, until the responses arrive.
private final class IssuedTokens: Sendable {
  private struct Issue {
    let token: SessionToken.Value
    /// By the monotonic clock, in nanoseconds.
    let asked = Clock.monotonicNanoseconds()
  }

  private let issues = Locked<[String: Issue]>([:])

  func note(_ path: String, _ token: SessionToken.Value) {
    issues.withLock { $0[path] = Issue(token: token) }
  }

  func asked(_ path: String) -> UInt64? { issues.withLock { $0[path]?.asked } }

  func take(_ path: String) -> SessionToken.Value? {
    issues.withLock { $0.removeValue(forKey: path)?.token }
  }
}
