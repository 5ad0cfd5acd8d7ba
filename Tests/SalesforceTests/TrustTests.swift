import Crypto
import Foundation
import HTTP
import Salesforce
import System
import TestSupport
import Testing

@Suite struct TrustTests {
  let directory = TemporaryDirectory("trust")

  /// A server with such a certificate, and the file of the authority that signed it.
  private func server(days: Int = 1, address: String = "127.0.0.1") throws -> (HTTPServer, String) {
    let authorityKey = try PrivateKey.generateRSA()
    let authority = try authorityKey.selfSignedCertificate(
      commonName: "Test authority", days: 1, isAuthority: true)
    let key = try PrivateKey.generateRSA()
    let certificate = try authorityKey.signCertificate(
      for: key, issuer: Certificate(pem: authority),
      PrivateKey.CertificateRequest(
        commonName: "server", days: days, dnsNames: [], ipAddresses: [address]))
    let caFile = directory.file("ca-\(UUID().uuidString).pem")
    try DurableFile.write(authority, to: caFile)
    var configuration = HTTPServer.Configuration()
    configuration.identity = (text(certificate), text(key.pem))
    let server = try HTTPServer(configuration) { _ in
      .json(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"no"}]"#)
    }
    return (server, caFile)
  }

  private func failure(_ url: String, caFile: String?) async -> OrgError? {
    do {
      let org = try Org(
        url: url, credentials: .clientCredentials(clientID: "app", secret: "s3cret"),
        caFile: caFile, concurrency: 1, pause: .none)
      _ = try await org.session()
      return nil
    } catch { return error }
  }

  @Test func `an untrusted certificate is not reported as a rejected login`() async throws {
    let (old, oldAuthority) = try server(days: -1)
    let (other, otherAuthority) = try server(address: "127.0.0.2")
    let (unknown, _) = try server()
    let cases = [
      (old, oldAuthority, "expired"), (other, otherAuthority, "match"),
      (unknown, otherAuthority, "certificate"),
    ]
    for (server, caFile, words) in cases {
      let error = await failure(server.url, caFile: caFile)
      #expect(error?.kind == .certificate, "\(String(describing: error))")
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      #expect(error?.isAmbiguous == false)
    }
    // A trusted server receives the login and rejects it.
    let (good, goodAuthority) = try server()
    #expect(await failure(good.url, caFile: goodAuthority)?.kind == .authentication)
  }

  @Test func `an invalid file of authorities is a configuration error`() async throws {
    let (server, _) = try server()
    let garbage = directory.file("garbage.pem")
    try DurableFile.write(Array("no certificate\n".utf8), to: garbage)
    let empty = directory.file("empty.pem")
    try DurableFile.write([], to: empty)
    let key = directory.file("key.pem")
    try DurableFile.write(try PrivateKey.generateRSA().pem, to: key)
    for file in [garbage, empty, key, directory.path, directory.file("none.pem")] {
      let error = await failure(server.url, caFile: file)
      #expect(error?.kind == .configuration, "\(file): \(String(describing: error))")
    }
  }
}

@Suite struct MaskTests {
  /// The message of an org that repeats everything it received.
  private func echo(_ request: ServerRequest) -> String {
    let sent = (request.headers["Authorization"] ?? "") + " " + text(request.body)
    return sent.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }

  private func secret(in words: String) -> Bool {
    ["token-1", "cl13nt!s3cret", "cl13nt%21s3cret", "r3fresh/token", "r3fresh%2Ftoken"].contains {
      words.contains($0)
    }
  }

  @Test func `a token in the org's message is masked`() async throws {
    let echo = self.echo
    let server = try ScriptedOrg { request in
      if request.path.hasSuffix("/userinfo") { return nil }
      if request.method == "POST" {
        return .json(201, #"{"id":null,"success":false,"errors":["\#(echo(request))"]}"#)
      }
      return .json(400, #"[{"errorCode":"ODD","message":"you sent \#(echo(request))"}]"#)
    }
    let session = try await server.session()
    let read = await #expect(throws: OrgError.self) {
      try await session.send(OrgCall(.other, "GET", session.path("limits")))
    }
    #expect(read?.message == "you sent Bearer ••• ")
    let write = try await session.send(
      OrgCall(.create, "POST", session.path("sobjects/Account"), body: Array("{}".utf8)))
    #expect(!secret(in: text(write.body)) && text(write.body).contains("Bearer •••"))
    let pages = session.query("SELECT Id FROM Account")
    let page = await #expect(throws: OrgError.self) { try await pages.next() }
    #expect(page?.message == "you sent Bearer ••• ")
  }

  @Test func `tokens in records and responses are masked`() async throws {
    let echo = self.echo
    let server = try ScriptedOrg { request in
      if request.path.hasSuffix("/userinfo") { return nil }
      return .json(
        200,
        #"""
        {"totalSize":1,"done":true,"DailyApiRequests":{"Max":10,"Remaining":4},
         "records":[{"Id":"001000000000001AAA","Name":"\#(echo(request))"}]}
        """#)
    }
    let session = try await server.session()
    for path in ["limits", "query?q=x", "sobjects/Account/001000000000001AAA"] {
      let read = try await session.send(OrgCall(.other, "GET", session.path(path)))
      #expect(!secret(in: text(read.body)) && text(read.body).contains("Bearer •••"))
    }
    let pages = session.query("SELECT Id, Name FROM Account")
    let page = try #require(try await pages.next())
    #expect(!secret(in: text(page)) && text(page).contains("Bearer •••"))
  }

  @Test func `the next page of a job list must be the org's`() async throws {
    let paths = Kept<[String]>([])
    let server = try ScriptedOrg { request in
      guard request.path.contains("/jobs/ingest") else { return nil }
      paths.change { $0.append(request.path) }
      return .json(
        200, #"{"done":false,"records":[],"nextRecordsUrl":"@evil.example.com/services/data/x"}"#)
    }
    let session = try await server.session()
    let error = await #expect(throws: OrgError.self) {
      try await BulkIngestJob.left(by: .insert, "Account", since: 0, session)
    }
    #expect(error?.kind == .invalidResponse && paths.now.count == 1)
  }

  @Test func `a rejected login shows neither secret, refresh token nor assertion`() async throws {
    let key = try PrivateKey.generateRSA()
    let echo = self.echo
    let seen = Kept("")
    let server = try ScriptedOrg(
      token: { request in
        seen.change { $0 = text(request.body) }
        return .json(400, #"{"error":"invalid_grant","error_description":"\#(echo(request))"}"#)
      }, { _ in nil })
    let logins: [Credentials] = [
      .clientCredentials(clientID: "app", secret: "cl13nt!s3cret"),
      .refreshToken(clientID: "app", secret: "cl13nt!s3cret", token: "r3fresh/token"),
      .jwt(clientID: "app", key: text(key.pem)),
    ]
    for login in logins {
      let error = await #expect(throws: OrgError.self) {
        try await server.org(login).session(username: "ada@example.com")
      }
      let words = try #require(error?.description)
      #expect(words.contains("•••"), "\(words)")
      #expect(!secret(in: words), "\(words)")
      let assertion = seen.now.split(separator: "assertion=").dropFirst().first
      if let assertion { #expect(!words.contains(assertion)) }
    }
  }
}
