import Crypto
import HTTP
import JSON
import System

/// Obtains tokens with each kind of credentials.
final class Login: Sendable {
  private let credentials: Credentials
  private let loginURL: String
  private let connection: OrgConnection
  /// The signing key of the credentials, parsed at the first login for the later ones.
  private let signer = Locked<RSASigner?>(nil)

  static let path = "/services/oauth2/token"

  init(_ credentials: Credentials, loginURL: String, connection: OrgConnection) {
    self.credentials = credentials
    self.loginURL = loginURL
    self.connection = connection
  }

  /// Returns a new token; `username` names the user if the credentials leave it open.
  func grant(for username: String?) async throws(OrgError) -> Grant {
    switch credentials.method {
    case .jwt(let clientID, let key, let audience):
      guard let username else {
        throw refusal("a JWT login needs the name of a user: set `org.login.integrationUser`")
      }
      return try await sign(as: username, clientID, key, audience: audience ?? loginURL)
    case .clientCredentials(let clientID, let secret):
      return try await post([
        ("grant_type", "client_credentials"), ("client_id", clientID),
        ("client_secret", try text(secret, "client secret")),
      ])
    case .refreshToken(let clientID, let secret, let token):
      return try await renew(clientID, secret, token, identity: "")
    case .refreshTokens(let clientID, let secret, let tokens):
      guard let username else {
        throw refusal("a refresh token belongs to a user: set `org.login.integrationUser`")
      }
      guard let token = tokens[username.lowercased()] else {
        throw OrgError(
          .authentication, message: "no refresh token is configured", request: "POST " + Self.path)
      }
      return try await renew(clientID, secret, token, identity: username)
    case .accessToken(let token):
      return Grant(token: try text(token, "access token"), instanceURL: loginURL)
    case .sf(let alias):
      return try await SalesforceCLI(alias: alias).grant()
    }
  }

  /// Exchanges an assertion for a token.
  ///
  /// If the org rejects it and the response's date shows that the clocks differ, a second assertion
  /// is made with the org's clock.
  private func sign(
    as username: String, _ clientID: String, _ key: Secret, audience: String
  ) async throws(OrgError) -> Grant {
    let offset = connection.clockOffset
    let signer = try self.signer(key)
    func attempt() async throws(OrgError) -> Grant {
      let assertion = JWTAssertion(
        issuer: clientID, subject: username, audience: audience,
        expires: connection.estimatedServerNow / 1000 + JWTAssertion.lifetimeSeconds)
      return try await post(
        [
          ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
          ("assertion", try assertion.signed(with: signer)),
        ], identity: username)
    }
    do throws(OrgError) {
      return try await attempt()
    } catch {
      let isSkewed = abs(connection.clockOffset - offset) > JWTAssertion.slackMilliseconds
      guard error.kind == .authentication, error.code == "invalid_grant", isSkewed else {
        throw error
      }
      return try await attempt()
    }
  }

  private func signer(_ key: Secret) throws(OrgError) -> RSASigner {
    try signer.withLock { (known) throws(OrgError) in
      if let known { return known }
      let made = try JWTAssertion.signer(key)
      known = made
      return made
    }
  }

  private func renew(
    _ clientID: String, _ secret: Secret?, _ token: Secret, identity: String
  ) async throws(OrgError) -> Grant {
    var form = [("grant_type", "refresh_token"), ("client_id", clientID)]
    if let secret { form.append(("client_secret", try text(secret, "client secret"))) }
    let newest = try await credentials.keeper.begin(token)
    let grant: Grant
    do throws(OrgError) {
      form.append(("refresh_token", try text(newest, "refresh token")))
      grant = try await post(form, identity: identity)
    } catch {
      try credentials.keeper.end(token, replacement: nil)
      throw error
    }
    try credentials.keeper.end(token, replacement: grant.refreshToken.map { Secret($0) })
    return grant
  }

  private static let secretNames: Set<String> = ["assertion", "client_secret", "refresh_token"]

  private func post(
    _ form: [(String, String)], identity: String = ""
  ) async throws(OrgError) -> Grant {
    // A login has no side effects that matter, so it may be repeated.
    var call = OrgCall(
      .token, "POST", Self.path,
      headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Array(HTTPQuery.string(form).utf8), isRead: true)
    call.secrets = form.filter { Self.secretNames.contains($0.0) }.map(\.1)
    let response: HTTPResponse
    do throws(OrgError) {
      response = try await connection.perform(
        call, base: loginURL, token: nil, identity: identity)
    } catch {
      throw explained(error)
    }
    guard let answer = try? JSONValue(parsing: response.body), let grant = Grant(answer) else {
      throw OrgError(
        .invalidResponse, status: response.status,
        message: "the login's response has no access_token or instance_url", request: call.name)
    }
    return grant
  }

  /// The error of a login.
  ///
  /// Every rejection is reported as an authentication error, regardless of its status. It shows the
  /// audience, as a wrong one is the most common cause.
  private func explained(_ error: OrgError) -> OrgError {
    let isRefusal =
      switch error.kind {
      case .refused, .permission, .notFound: true
      default: false
      }
    guard isRefusal else { return error }
    var message = error.message
    if case .jwt(_, _, let audience) = credentials.method, message.contains("audience") {
      message += " (audience \(audience ?? loginURL), login host \(loginURL))"
    }
    return OrgError(
      .authentication, status: error.status, code: error.code, message: message,
      request: error.request
    ).sent(to: error.address)
  }

  private func text(_ secret: Secret, _ name: String) throws(OrgError) -> String {
    guard let text = secret.text, !text.isEmpty else { throw refusal("the \(name) is empty") }
    return text
  }

  private func refusal(_ message: String) -> OrgError {
    OrgError(.configuration, message: message, request: "POST " + Self.path)
  }
}
