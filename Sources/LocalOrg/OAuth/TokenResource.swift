import Crypto
import HTTP
import JSON
import System

/// `POST /services/oauth2/token`.
struct TokenResource: Sendable {
  let org: Org
  let sessions: Sessions
  let refreshTokens: RefreshTokens
  let apps: [String: Certificate]
  let clients: [String: OrgServer.Client]
  let passwords: PasswordLogins

  /// An error of a token request, in OAuth's terms.
  struct Refusal: Error {
    let error: String
    let description: String

    init(_ error: String, _ description: String) {
      self.error = error
      self.description = description
    }
  }

  func answer(_ request: ServerRequest, origin: String) -> APIResponse {
    do throws(Refusal) {
      guard request.method == "POST" else {
        throw Refusal("invalid_request", "must use HTTP POST")
      }
      let form = HTTPQuery.decode(form: String(decoding: request.body, as: UTF8.self))
      func value(_ name: String) -> String? { form.first { $0.0 == name }?.1 }
      let (user, clientID): (OrgUser, String)
      var next: String?
      switch value("grant_type") {
      case "urn:ietf:params:oauth:grant-type:jwt-bearer":
        (user, clientID) = try bearer(value("assertion"))
      case "client_credentials":
        (user, clientID) = try clientCredentials(
          request, clientID: value("client_id"), secret: value("client_secret"))
      case "refresh_token":
        (user, clientID, next) = try refresh(value("refresh_token"), clientID: value("client_id"))
      case "password":
        clientID = try knownClient(
          request, clientID: value("client_id"), secret: value("client_secret")
        ).id
        guard let found = passwords.user(value("username") ?? "", value("password") ?? "", in: org)
        else { throw Refusal("invalid_grant", "authentication failure") }
        user = found
      case nil: throw Refusal("invalid_request", "missing required parameter: grant_type")
      default: throw Refusal("unsupported_grant_type", "grant type not supported")
      }
      var answer = grant(user, clientID, origin)
      if let next { answer["refresh_token"] = .string(next) }
      return .json(.object(answer))
    } catch {
      return .json(
        ["error": .string(error.error), "error_description": .string(error.description)],
        status: 400)
    }
  }

  private func bearer(_ text: String?) throws(Refusal) -> (OrgUser, String) {
    guard let text, let assertion = JWTAssertion(text) else {
      throw Refusal("invalid_grant", "invalid assertion")
    }
    guard let certificate = apps[assertion.issuer] else {
      throw Refusal("invalid_client_id", "client identifier invalid")
    }
    guard assertion.isSigned(by: certificate) else {
      throw Refusal("invalid_grant", "invalid assertion")
    }
    // The org's clock may be set to any date. A client's first login uses the wall clock, later
    // ones the `Date` of the org's responses; both are accepted.
    guard !assertion.isExpired(now: min(Clock.wallMilliseconds(), org.now())) else {
      throw Refusal("invalid_grant", "assertion expired")
    }
    return (try activeUser(assertion.subject), assertion.issuer)
  }

  private func clientCredentials(
    _ request: ServerRequest, clientID: String?, secret: String?
  ) throws(Refusal) -> (OrgUser, String) {
    let known = try knownClient(request, clientID: clientID, secret: secret)
    return (try activeUser(known.client.username), known.id)
  }

  /// Returns the client whose secret is in the form or in a Basic header.
  private func knownClient(
    _ request: ServerRequest, clientID: String?, secret: String?
  ) throws(Refusal) -> (id: String, client: OrgServer.Client) {
    let basic = Self.basic(request.headers["Authorization"])
    guard let id = basic?.id ?? clientID else {
      throw Refusal("invalid_client_id", "client identifier invalid")
    }
    guard let client = clients[id] else {
      throw Refusal("invalid_client_id", "client identifier invalid")
    }
    let given = Digest.sha256(Array((basic?.secret ?? secret ?? "").utf8))
    guard given == Digest.sha256(Array(client.secret.utf8)) else {
      throw Refusal("invalid_client", "invalid client credentials")
    }
    return (id, client)
  }

  private func refresh(
    _ token: String?, clientID: String?
  ) throws(Refusal) -> (OrgUser, String, next: String?) {
    guard let token, let clientID, let used = refreshTokens.use(token, clientID: clientID) else {
      throw Refusal("invalid_grant", "expired access/refresh token")
    }
    return (try activeUser(used.grant.username), clientID, used.next)
  }

  private func activeUser(_ username: String) throws(Refusal) -> OrgUser {
    guard let user = org.user(named: username) else {
      throw Refusal("invalid_grant", "user hasn't approved this consumer")
    }
    guard user.isActive else { throw Refusal("inactive_user", "user is inactive") }
    return user
  }

  private func grant(_ user: OrgUser, _ clientID: String, _ origin: String) -> JSONObject {
    let token = sessions.issue(
      to: user, clientID: clientID, organizationID: org.organizationID)
    let identity = "\(origin)/id/\(org.organizationID)/\(user.id)"
    let issued = String(Clock.wallMilliseconds())
    // Signed with the client's secret; an app with only a certificate could not verify it.
    let signature = HMAC.sha256(
      key: clients[clientID].map { Array($0.secret.utf8) } ?? RandomBytes.make(32),
      Array((identity + issued).utf8))
    return [
      "access_token": .string(token), "instance_url": .string(origin), "id": .string(identity),
      "token_type": "Bearer", "issued_at": .string(issued),
      "signature": .string(Base64.encode(signature)), "scope": "api",
    ]
  }

  private static func basic(_ header: String?) -> (id: String, secret: String)? {
    guard let header, header.lowercased().hasPrefix("basic "),
      let bytes = Base64.decode(String(header.dropFirst(6)))
    else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self)
      .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }
}
