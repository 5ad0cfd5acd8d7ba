import HTTP
import Salesforce
import System

/// A server that answers as a test specifies, with a token endpoint that counts its tokens.
final class ScriptedOrg: Sendable {
  static let organizationID = "00D000000000001EAA"
  static let userID = "005000000000001AAA"

  /// A session does not retain its server, so all are kept until the tests end.
  private static let alive = Kept<[ScriptedOrg]>([])
  private let requests = Locked<[ServerRequest]>([])
  private let tokens = Locked(0)
  private let address = Locked("")
  private let server = Locked<HTTPServer?>(nil)

  /// `handler` answers all requests except logins; nil is a 404.
  convenience init(
    _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse? = { _ in nil }
  ) throws {
    try self.init(token: { _ in nil }, handler)
  }

  /// `token` answers a login; nil is the usual grant.
  init(
    token: @escaping @Sendable (ServerRequest) -> ServerResponse?,
    _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse?
  ) throws {
    let server = try HTTPServer { [weak self] request in
      guard let self else { return ServerResponse(status: 500) }
      self.requests.withLock { $0.append(request) }
      switch request.path {
      case "/services/oauth2/token": return token(request) ?? self.grant()
      case "/services/data":
        return .json(200, #"[{"version":"65.0"},{"version":"66.0"},{"version":"67.0"}]"#)
      default:
        if let response = handler(request) { return response }
        if request.path == "/services/oauth2/userinfo" { return self.userInfo() }
        return .json(404, #"[{"errorCode":"NOT_FOUND","message":"nothing here"}]"#)
      }
    }
    address.withLock { $0 = server.url }
    self.server.withLock { $0 = server }
    let new = self
    Self.alive.change { $0.append(new) }
  }

  var url: String { address.withLock { $0 } }

  func grant() -> ServerResponse {
    let number = tokens.withLock {
      $0 += 1
      return $0
    }
    return .json(
      200,
      """
      {"access_token":"token-\(number)","instance_url":"\(url)",
       "id":"\(url)/id/\(Self.organizationID)/\(Self.userID)","token_type":"Bearer"}
      """)
  }

  private func userInfo() -> ServerResponse {
    .json(
      200,
      """
      {"user_id":"\(Self.userID)","organization_id":"\(Self.organizationID)",
       "preferred_username":"ada@example.com","name":"Ada"}
      """)
  }

  /// All requests so far, except for the logins, versions and user infos at the start of a session.
  var log: [ServerRequest] {
    requests.withLock { $0 }.filter {
      $0.path != "/services/oauth2/token" && $0.path != "/services/data"
        && $0.path != "/services/oauth2/userinfo"
    }
  }

  var tokenRequests: [ServerRequest] {
    requests.withLock { $0 }.filter { $0.path == "/services/oauth2/token" }
  }

  func org(
    _ credentials: Credentials? = nil, budget: APIBudget = APIBudget(), pause: RetryPause = .none,
    concurrency: Int = 8, events: @escaping @Sendable (OrgEvent) -> Void = { _ in }
  ) throws -> Org {
    try Org(
      url: url, credentials: credentials ?? .clientCredentials(clientID: "app", secret: "s3cret"),
      concurrency: concurrency, budget: budget, pause: pause, events: events)
  }

  func session() async throws -> Session { try await org().session() }
}

final class Kept<Value: Sendable>: Sendable {
  private let value: Locked<Value>
  init(_ value: Value) { self.value = Locked(value) }
  @discardableResult func change<T: Sendable>(_ body: @Sendable (inout Value) -> T) -> T {
    value.withLock { body(&$0) }
  }
  var now: Value { value.withLock { $0 } }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
