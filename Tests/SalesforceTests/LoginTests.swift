import Crypto
import Foundation
import HTTP
import JSON
import Salesforce
import System
import TestSupport
import Testing

@Suite struct LoginTests {
  private func form(_ request: ServerRequest?) -> [String: String] {
    let pairs = HTTPQuery.decode(form: text(request?.body ?? []))
    return Dictionary(pairs) { first, _ in first }
  }

  @Test func `a JWT names its user and is signed with the app's key`() async throws {
    let key = try PrivateKey.generateRSA()
    let certificate = try Certificate(
      pem: key.selfSignedCertificate(commonName: "app", days: 1, dnsNames: [], ipAddresses: []))
    let scripted = try ScriptedOrg()
    let org = try scripted.org(.jwt(clientID: "the-app", key: text(key.pem)))
    let session = try await org.session(username: "Ada@example.com")
    #expect(session.identity.username == "Ada@example.com")
    #expect(session.identity.userID == ScriptedOrg.userID)
    #expect(session.identity.organizationID == ScriptedOrg.organizationID)
    let sent = form(scripted.tokenRequests.first)
    #expect(sent["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
    let parts = try #require(sent["assertion"]).split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let claims = try JSONValue(parsing: try #require(Base64.decodeURL(parts[1])))
    #expect(claims["iss"]?.string == "the-app")
    #expect(claims["sub"]?.string == "Ada@example.com")
    #expect(claims["aud"]?.string == scripted.url)
    let expires = try #require(claims["exp"]?.int)
    #expect(abs(expires - 120 - Clock.wallMilliseconds() / 1000) < 30)
    #expect(
      certificate.verifyRS256(
        signature: try #require(Base64.decodeURL(parts[2])),
        message: Array((parts[0] + "." + parts[1]).utf8)))
  }

  @Test func `each user has one session, with one login for any number of requests`() async throws {
    let key = try PrivateKey.generateRSA()
    let scripted = try ScriptedOrg()
    let org = try scripted.org(.jwt(clientID: "app", key: text(key.pem)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          let name = number % 2 == 0 ? "ada@example.com" : "bob@example.com"
          let session = try await org.session(username: name)
          #expect(session.identity.username == name)
        }
      }
      try await group.waitForAll()
    }
    #expect(scripted.tokenRequests.count == 2)
  }

  @Test func `a JWT without a user and an invalid key are configuration errors`() async throws {
    let scripted = try ScriptedOrg()
    let key = try PrivateKey.generateRSA()
    let nobody = try scripted.org(.jwt(clientID: "app", key: text(key.pem)))
    let noKey = try scripted.org(.jwt(clientID: "app", key: "not a key: hunter2"))
    for (org, user) in [(nobody, nil), (noKey, "ada@example.com")] {
      let error = await #expect(throws: OrgError.self) { try await org.session(username: user) }
      #expect(error?.kind == .configuration)
      #expect(error?.description.contains("hunter2") == false)
    }
    #expect(scripted.tokenRequests.isEmpty)
  }

  @Test func `client credentials are for one user and no other`() async throws {
    let scripted = try ScriptedOrg()
    let org = try scripted.org(.clientCredentials(clientID: "app", secret: "s3cret"))
    #expect(try await org.session().identity.username == "ada@example.com")
    #expect(
      try await org.session(username: "ADA@example.com").identity.username == "ada@example.com")
    let error = await #expect(throws: OrgError.self) {
      try await org.session(username: "bob@example.com")
    }
    #expect(error?.kind == .configuration)
    let sent = form(scripted.tokenRequests.first)
    #expect(sent["grant_type"] == "client_credentials")
    #expect(sent["client_secret"] == "s3cret")
    #expect(scripted.tokenRequests.count == 1)
  }

  @Test func `a rejected login does not reveal the secret, and may be retried`() async throws {
    let tries = Kept(0)
    let scripted = try ScriptedOrg(
      token: { _ in
        let number = tries.change {
          $0 += 1
          return $0
        }
        guard number == 1 else { return nil }
        return .json(400, #"{"error":"invalid_grant","error_description":"audience is invalid"}"#)
      }, { _ in nil })
    let key = try PrivateKey.generateRSA()
    let org = try scripted.org(
      .jwt(clientID: "app", key: text(key.pem), audience: "https://wrong.example.com"))
    let error = await #expect(throws: OrgError.self) {
      try await org.session(username: "ada@example.com")
    }
    #expect(error?.kind == .authentication)
    #expect(error?.code == "invalid_grant")
    #expect(error?.message.contains("audience https://wrong.example.com") == true)
    #expect(
      try await org.session(username: "ada@example.com").identity.username == "ada@example.com")
    #expect(tries.now == 2)
  }

  @Test func `an access token is used unchanged and cannot be renewed`() async throws {
    let scripted = try ScriptedOrg { request in
      request.path.hasSuffix("/limits")
        ? .json(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"Session expired"}]"#) : nil
    }
    let session = try await scripted.org(.accessToken("t0ken")).session()
    #expect(session.identity.username == "ada@example.com")
    let error = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(error?.kind == .authentication)
    #expect(scripted.tokenRequests.isEmpty)
    #expect(scripted.log.allSatisfy { $0.headers["Authorization"] == "Bearer t0ken" })
  }

  @Test func `a rotated refresh token is replaced and reported`() async throws {
    let made = Kept<ScriptedOrg?>(nil)
    let scripted = try ScriptedOrg(
      token: { request in
        let old = HTTPQuery.decode(form: text(request.body)).first { $0.0 == "refresh_token" }?.1
        return .json(
          200,
          """
          {"access_token":"a","instance_url":"\(made.now?.url ?? "")","refresh_token":"\(old ?? "")+"}
          """)
      },
      { request in
        request.path.hasSuffix("/limits")
          ? .json(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"Session expired"}]"#) : nil
      })
    made.change { $0 = scripted }
    defer { made.change { $0 = nil } }
    let session = try await scripted.org(.refreshToken(clientID: "app", token: "r")).session()
    await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(scripted.tokenRequests.map { form($0)["refresh_token"] } == ["r", "r+"])
  }

  @Test func `the sf command supplies its token`() async throws {
    let directory = TemporaryDirectory()
    let script = """
      #!/bin/sh
      case "$*" in
      *show-access-token*) echo '{"status":0,"result":{"accessToken":"00D!abc"}}';;
      *) echo '{"status":0,"result":{"accessToken":"[REDACTED] use…","instanceUrl":"https://x.example.com/"}}';;
      esac
      """
    try script.write(toFile: directory.file("sf"), atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: directory.file("sf"))
    let grant = try await SalesforceCLI(alias: "mine", searchPath: "/nonexistent:\(directory.path)")
      .grant()
    #expect(grant.token == "00D!abc")
    #expect(grant.instanceURL == "https://x.example.com")
    let error = await #expect(throws: OrgError.self) {
      try await SalesforceCLI(alias: "mine", searchPath: "/nonexistent").grant()
    }
    // Nothing was sent, so this is not a rejected login.
    #expect(error?.kind == .configuration)
    #expect(error?.message.contains("PATH") == true)
  }

  @Test func `credentials do not print their secrets`() {
    let all: [Credentials] = [
      .jwt(clientID: "app", key: "hunter2"), .clientCredentials(clientID: "app", secret: "hunter2"),
      .accessToken("hunter2"), .refreshToken(clientID: "app", secret: "hunter2", token: "hunter2"),
    ]
    for credentials in all {
      var dumped = ""
      dump(credentials, to: &dumped)
      #expect(!"\(credentials) \(String(reflecting: credentials)) \(dumped)".contains("hunter2"))
    }
  }
}
