import Crypto
import HTTP
import JSON
import System

/// Processes requests: identifies the caller, applies the faults, writes the log.
final class RequestHandler: Sendable {
  let org: Org
  let sessions: Sessions
  let refreshTokens: RefreshTokens
  let server: OrgService
  private let log: RequestLog
  private let faults: Faults
  private let held = HeldRequests()
  private let tokens: TokenResource
  private let identities: IdentityResource
  private let soap: SOAPLogin
  private let undeletes: SOAPUndelete
  private let admin: AdminResource
  /// A response with what the log records about it.
  private struct Served {
    var response: ServerResponse
    var records: Int?
    var ids: Int?
    var calls = 0
  }

  // The maximum size of request line and header, as on the platform.
  private static let mostHeadBytes = 16_384
  // The maximum size of a bulk job's data.
  static let mostUploadBytes = 150_000_000

  init(org: Org, options: OrgServer.Options, log: RequestLog, faults: Faults) throws {
    self.org = org
    self.log = log
    self.faults = faults
    server = OrgService(options, startedAt: org.now())
    sessions = Sessions(
      lifetimeSeconds: options.tokenLifetimeSeconds, idleSeconds: options.sessionSeconds)
    refreshTokens = RefreshTokens(isRotating: options.rotatesRefreshTokens)
    var apps: [String: Certificate] = [:]
    for (clientID, pem) in options.apps { apps[clientID] = try Certificate(pem: pem) }
    tokens = TokenResource(
      org: org, sessions: sessions, refreshTokens: refreshTokens, apps: apps,
      clients: options.clients, passwords: PasswordLogins(password: options.password))
    soap = SOAPLogin(
      org: org, sessions: sessions, passwords: PasswordLogins(password: options.password))
    undeletes = SOAPUndelete(org: org, server: server)
    identities = IdentityResource(org: org, sessions: sessions)
    admin = AdminResource(
      org: org, sessions: sessions, refreshTokens: refreshTokens, log: log, faults: faults,
      secret: options.adminSecret)
  }

  /// Processes a request; the bodies of request and response may be compressed.
  func answer(_ request: ServerRequest, scheme: String) -> ServerResponse {
    guard let plain = Compressed.plain(request, limit: Self.mostUploadBytes) else {
      return Self.response(
        .failure([.unreadableBody("The body does not match its Content-Encoding")]))
    }
    let response = answered(plain, scheme: scheme)
    return server.options.compresses ? Compressed.answer(response, to: request) : response
  }

  private func answered(_ request: ServerRequest, scheme: String) -> ServerResponse {
    let start = Clock.monotonicNanoseconds()
    let target = Target(request)
    if target.segments.first == "attache" {
      // The administrator's own calls are not logged.
      if target.method == "POST", target.segments == ["attache", "deliver"],
        admin.isOpen(to: request)
      {
        deliverHeld()
        return Self.response(.empty(204))
      }
      return Self.response(admin.answer(request, target))
    }
    if held.count > 0 { deliver(held.take(now: org.now())) }
    let visit = RequestContext(request, target, kind: kind(of: target), scheme: scheme)
    let session = token(of: visit).flatMap { sessions.session($0, in: org) }
    let plan = faults.plan(
      for: RequestFacts(
        kind: visit.kind, method: target.method, path: request.path, isWrite: visit.isWrite,
        user: session?.user.username))
    var served = serve(visit, session, plan)
    served.response.headers["Date"] = Dates.http(org.now())
    if visit.kind.isMetered {
      served.response.headers["Sforce-Limit-Info"] =
        "api-usage=\(server.usage())/\(server.options.dailyLimit)"
    }
    note(visit, session, served, fault: plan.label, since: start)
    return served.response
  }

  private func note(
    _ visit: RequestContext, _ session: Session?, _ served: Served, fault: String?,
    since start: UInt64
  ) {
    log.append { sequence in
      RequestLog.Entry(
        sequence: sequence, kind: visit.kind, method: visit.target.method,
        path: visit.request.path,
        soql: [.query, .search].contains(visit.kind) ? visit.target.query("q") : nil,
        user: session?.user.username,
        app: session?.clientID, status: served.response.status, isWrite: visit.isWrite,
        calls: served.calls, records: served.records, ids: served.ids,
        bytes: served.response.body.count, fault: fault,
        milliseconds: Double(Clock.monotonicNanoseconds() - start) / 1_000_000)
    }
  }

  /// The number of requests in transit.
  var heldCount: Int { held.count }

  /// Delivers all requests in transit.
  func deliverHeld() { deliver(held.take(now: nil)) }

  private func deliver(_ requests: [HeldRequests.Held]) {
    for one in requests {
      let start = Clock.monotonicNanoseconds()
      let served = OrgClock.$lag.withValue(one.plan.lag) {
        work(one.visit, one.session, one.plan)
      }
      note(one.visit, one.session, served, fault: "arrived late", since: start)
    }
  }

  private func serve(_ visit: RequestContext, _ session: Session?, _ plan: FaultPlan) -> Served {
    do {
      try plan.strikeBefore(
        org, ReceivedRequest(visit.request, user: session?.user.username))
    } catch {
      let answer = APIResponse.failure([.storage(error)])
      return Served(response: Self.response(answer))
    }
    var session = session
    if plan.expiresSession, let token = session?.token {
      sessions.revoke(token)
      session = nil
    }
    if let milliseconds = plan.holdMilliseconds {
      held.hold(
        .init(
          visit: visit, session: session, plan: plan.onArrival, due: org.now() + milliseconds))
    }
    if let response = plan.answerBefore { return Served(response: plan.applyAfter(response)) }
    var served = OrgClock.$lag.withValue(plan.lag) { work(visit, session, plan) }
    served.response = plan.applyAfter(served.response)
    return served
  }

  private func work(_ visit: RequestContext, _ session: Session?, _ plan: FaultPlan) -> Served {
    let request = visit.request
    if request.rawTarget.utf8.count + Self.size(of: request.headers) > Self.mostHeadBytes {
      let error = OrgError(
        status: 414, code: "URI_TOO_LONG", message: "The URI and its headers are too long")
      return Served(response: Self.response(.failure([error])))
    }
    if request.body.count > server.options.mostBodyBytes, visit.kind != .bulkUpload {
      let error = OrgError.tooLarge(limit: server.options.mostBodyBytes)
      return Served(response: Self.response(.failure([error])))
    }
    switch visit.kind {
    case .token:
      return Served(response: Self.response(tokens.answer(request, origin: visit.origin)))
    case .soapLogin:
      return Served(response: soap.answer(request, visit.target, origin: visit.origin))
    case .soapUndelete:
      guard let call = visit.soap else {
        return Served(
          response: SOAPText.clientFault("The request is not an envelope with a call"))
      }
      let (response, records) = undeletes.answer(call, request, visit.target, session, plan)
      return Served(response: response, records: records, calls: 1)
    case .revoke: return Served(response: identities.revoke(request))
    case .userinfo: return Served(response: identities.userinfo(session, origin: visit.origin))
    case .identity:
      return Served(response: identities.identity(session, visit.target, origin: visit.origin))
    case .versions: return Served(response: Self.response(VersionResource.versions))
    default:
      let answer = data(visit, session, plan)
      return Served(
        response: Self.response(answer), records: answer.records, ids: answer.ids,
        calls: session == nil ? 0 : answer.calls)
    }
  }

  private func data(_ visit: RequestContext, _ session: Session?, _ plan: FaultPlan) -> APIResponse
  {
    let isAsync = visit.target.segments.starts(with: ["services", "async"])
    func refusal(_ error: OrgError) -> APIResponse {
      guard isAsync else { return .failure([error]) }
      let type = visit.request.headers["Content-Type"] ?? ""
      return AsyncResource.failure(error, type.lowercased().hasPrefix("application/json"))
    }
    guard let session else { return refusal(.invalidSession) }
    if server.exceedsLimit() { return refusal(.limitExceeded) }
    if isAsync { return async(visit, session, plan) }
    guard let (version, path) = visit.target.dataPath,
      visit.target.segments.starts(with: ["services", "data"])
    else { return .failure([.notFound]) }
    if let type = Self.unreadable(visit) {
      let error = OrgError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE",
        message: "Content-Type header specified in HTTP request is not supported: \(type)")
      return .failure([error])
    }
    return Router.answer(
      APIRequest(
        org: org, session: session, target: visit.target, version: version, path: path,
        headers: visit.request.headers, content: visit.content, server: server, faults: plan))
  }

  /// Returns the media type of a body that is not JSON, if only JSON is accepted.
  private static func unreadable(_ visit: RequestContext) -> String? {
    guard !visit.request.body.isEmpty, visit.kind != .bulkUpload,
      ["POST", "PATCH", "PUT"].contains(visit.request.method)
    else { return nil }
    let type = visit.request.headers["Content-Type"] ?? "none"
    let plain = type.prefix { $0 != ";" && $0 != " " }
    return plain.lowercased() == "application/json" ? nil : type
  }

  /// Processes a call of Bulk API 1, which writes the version without the letter.
  private func async(_ visit: RequestContext, _ session: Session, _ plan: FaultPlan)
    -> APIResponse
  {
    let segments = visit.target.segments.dropFirst(2)
    return AsyncResource.answer(
      APIRequest(
        org: org, session: session, target: visit.target, version: segments.first ?? "",
        path: Array(segments.dropFirst()), headers: visit.request.headers, content: visit.content,
        server: server, faults: plan))
  }

  private func kind(of target: Target) -> RequestKind {
    switch target.segments {
    case let segments where segments.starts(with: ["services", "async"]):
      AsyncResource.kind(target.method, Array(segments.dropFirst(3)))
    case ["services", "oauth2", "token"]: .token
    case ["services", "oauth2", "revoke"]: .revoke
    case ["services", "oauth2", "userinfo"]: .userinfo
    case _ where target.isSOAP: .soapLogin
    case ["services", "data"]: .versions
    case let segments where segments.first == "id": .identity
    case let segments where segments.starts(with: ["services", "data"]):
      Router.kind(of: target)
    default: .unknown
    }
  }

  private func token(of visit: RequestContext) -> String? {
    if visit.kind == .soapUndelete { return visit.soap?.sessionID }
    if let header = visit.request.headers["Authorization"] {
      for scheme in ["bearer ", "oauth "] where header.lowercased().hasPrefix(scheme) {
        return String(header.dropFirst(scheme.count))
      }
    }
    if let token = visit.request.headers["X-SFDC-Session"] { return token }
    return visit.kind == .identity ? visit.target.query("oauth_token") : nil
  }

  private static func size(of headers: HTTPHeaders) -> Int {
    headers.all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }

  private static func response(_ answer: APIResponse) -> ServerResponse {
    var response = ServerResponse(
      status: answer.status, headers: answer.headers, body: answer.body)
    response.stream = answer.stream
    if !answer.body.isEmpty, answer.headers["Content-Type"] == nil {
      response.headers["Content-Type"] = Wire.json["Content-Type"]
    }
    return response
  }
}
