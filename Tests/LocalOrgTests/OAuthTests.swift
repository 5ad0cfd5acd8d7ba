import Crypto
import Foundation
import HTTP
import JSON
import LocalOrg
import TestSupport
import Testing

private struct AppKeys {
  static let shared = try? AppKeys()
  let key: PrivateKey
  let certificate: [UInt8]
  init() throws {
    key = try PrivateKey.generateRSA()
    certificate = try key.selfSignedCertificate(commonName: "field-app", days: 30)
  }

  /// An assertion; claims that are nil are omitted.
  func assertion(_ changes: [String: JSONValue?] = [:], algorithm: String = "RS256") throws
    -> String
  {
    var claims: JSONObject = [
      "iss": "field-app", "sub": "ada@example.com", "aud": "https://login.example.com",
      "exp": JSONValue(Int64(Date().timeIntervalSince1970) + 120),
    ]
    for (name, value) in changes { claims[name] = value }
    let head: JSONValue = ["alg": .string(algorithm)]
    let text = Base64.encodeURL(head.bytes) + "." + Base64.encodeURL(JSONValue.object(claims).bytes)
    return text + "." + Base64.encodeURL(try key.signRS256(Array(text.utf8)))
  }
}

private let bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

@Suite struct OAuthTests {
  private let keys: AppKeys
  private let served: ServedOrg
  init() throws {
    let keys = try #require(AppKeys.shared)
    self.keys = keys
    served = try ServedOrg {
      $0.apps = ["field-app": keys.certificate]
      $0.clients = ["nightly": OrgServer.Client(secret: "s3cret+&", username: "ada@example.com")]
    }
  }

  @Test func `a signed assertion returns a token of its user`() async throws {
    let response = try await served.login([
      ("grant_type", bearer), ("assertion", try keys.assertion()),
    ])
    #expect(response.status == 200)
    let token = try #require(response.json["access_token"]?.string)
    #expect(token.wholeMatch(of: /00D\w{12}![.\w]+/) != nil)
    #expect(response.json["instance_url"]?.string == served.server.url)
    #expect(response.json["token_type"]?.string == "Bearer")
    let info = try await served.send("GET", "/services/oauth2/userinfo", token: token)
    #expect(info.json["preferred_username"]?.string == "ada@example.com")
    let identity = try #require(response.json["id"]?.string)
    let path = String(identity.dropFirst(served.server.url.count))
    let who = try await served.send("GET", path, token: token)
    #expect(who.json["username"]?.string == "ada@example.com")
    #expect(who.json["organization_id"]?.string == served.org.organizationID)
  }

  @Test func `a client verifies the response with its secret`() async throws {
    let response = try await served.login([
      ("grant_type", "client_credentials"), ("client_id", "nightly"), ("client_secret", "s3cret+&"),
    ])
    let identity = try #require(response.json["id"]?.string)
    let issued = try #require(response.json["issued_at"]?.string)
    let seal = HMAC.sha256(key: Array("s3cret+&".utf8), Array((identity + issued).utf8))
    #expect(response.json["signature"]?.string == Base64.encode(seal))
  }

  @Test func `an expiry is read in all formats of clients`() async throws {
    let expiries: [@Sendable (Int64) -> JSONValue] = [
      { JSONValue($0) }, { JSONValue($0 - 60) }, { .string(String($0 + 100)) },
      { JSONValue($0 * 1000 + 300_000) }, { JSONValue(Double($0) + 100.5) },
    ]
    for expiry in expiries {
      // The current time: the test may be slow.
      let value = expiry(Int64(Date().timeIntervalSince1970))
      let response = try await served.login([
        ("grant_type", bearer), ("assertion", try keys.assertion(["exp": value])),
      ])
      #expect(response.status == 200, "\(value.text)")
    }
  }

  @Test func `an invalid assertion is refused with the org's code`() async throws {
    try served.org.addUser("gone@example.com", lastName: "Gone", profile: "Field Technician")
    try served.org.setActive("gone@example.com", false)
    let stranger = try AppKeys()
    let good = try keys.assertion()
    let tampered = good.replacingOccurrences(of: ".", with: ".e30")
    let past = Int64(Date().timeIntervalSince1970) - 200
    let table: [(assertion: String, error: String)] = [
      (try keys.assertion(["iss": "someone"]), "invalid_client_id"),
      (try stranger.assertion(), "invalid_grant"), (tampered, "invalid_grant"),
      ("nonsense", "invalid_grant"),
      (try keys.assertion(["exp": JSONValue(past)]), "invalid_grant"),
      (try keys.assertion(["exp": .some(.null)]), "invalid_grant"),
      (try keys.assertion(algorithm: "none"), "invalid_grant"),
      (try keys.assertion(algorithm: "HS256"), "invalid_grant"),
      (try keys.assertion(["sub": "nobody@example.com"]), "invalid_grant"),
      (try keys.assertion(["sub": "gone@example.com"]), "inactive_user"),
    ]
    for row in table {
      let response = try await served.login([("grant_type", bearer), ("assertion", row.assertion)])
      #expect(response.status == 400)
      #expect(response.json["error"]?.string == row.error, "\(response.text)")
    }
  }

  @Test func `client credentials are in a form or a header`() async throws {
    let form = try await served.login([
      ("grant_type", "client_credentials"), ("client_id", "nightly"), ("client_secret", "s3cret+&"),
    ])
    #expect(form.status == 200)
    let basic = Base64.encode(Array("nightly:s3cret+&".utf8))
    let header = try await served.login(
      [("grant_type", "client_credentials")], headers: ["Authorization": "Basic \(basic)"])
    #expect(header.status == 200)
    let wrong = try await served.login([
      ("grant_type", "client_credentials"), ("client_id", "nightly"), ("client_secret", "x"),
    ])
    #expect(wrong.json["error"]?.string == "invalid_client")
    let unknown = try await served.login([
      ("grant_type", "client_credentials"), ("client_id", "x"), ("client_secret", "x"),
    ])
    #expect(unknown.json["error"]?.string == "invalid_client_id")
    let other = try await served.login([("grant_type", "authorization_code")])
    #expect(other.json["error"]?.string == "unsupported_grant_type")
  }

  @Test func `an assertion may use the time of an org in another year`() async throws {
    let directory = TemporaryDirectory("org")
    let start: Int64 = 1_500_000_000_000
    let org = try Org(directory: directory.file("org"), options: .init(clockStart: start))
    try org.addUser("ada@example.com", lastName: "Adams", profile: "Integration")
    var options = OrgServer.Options()
    options.apps = ["field-app": keys.certificate]
    let server = try OrgServer(org: org, options: options)
    defer { server.stop() }
    // By the wall clock, by the org's own date, and too late by both.
    for (expires, status) in [(nil, 200), (org.now() / 1000 + 120, 200), (start / 1000 - 600, 400)]
    {
      let claims = expires.map { ["exp": JSONValue($0)] } ?? [:]
      var request = HTTPRequest("POST", server.url + "/services/oauth2/token")
      request.headers["Content-Type"] = "application/x-www-form-urlencoded"
      let form = [("grant_type", bearer), ("assertion", try keys.assertion(claims))]
      request.body = Array(HTTPQuery.string(form).utf8)
      #expect(try await served.client.send(request).status == status)
    }
  }

  @Test func `a token ends when it is revoked, expired, or its user deactivated`() async throws {
    let revoked = try served.server.token(for: "ada@example.com")
    var request = HTTPRequest("POST", served.server.url + "/services/oauth2/revoke")
    request.body = Array(HTTPQuery.string([("token", revoked)]).utf8)
    #expect(try await served.client.send(request).status == 200)
    #expect(try await served.client.send(request).text.hasPrefix("error=invalid_token"))
    #expect(
      try await served.send("GET", "/limits", token: revoked).outcome == "401 INVALID_SESSION_ID")
    let info = try await served.send("GET", "/services/oauth2/userinfo", token: revoked)
    #expect(info.status == 403)
    #expect(info.text == "Bad_OAuth_Token")

    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    #expect(try await served.send("GET", "/limits", token: ben).status == 200)
    try served.org.setActive("ben@example.com", false)
    #expect(try await served.send("GET", "/limits", token: ben).outcome == "401 INVALID_SESSION_ID")

    served.server.expireSessions()
    #expect(try await served.send("GET", "/limits").outcome == "401 INVALID_SESSION_ID")
  }
}
