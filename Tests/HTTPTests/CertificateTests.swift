import Crypto
import Foundation
import HTTP
import TestSupport
import Testing

@Suite struct CertificateTests {
  private let directory = TemporaryDirectory()

  /// A server whose certificate is signed by a new authority, and the file of that authority.
  private func server(
    days: Int = 1, dnsNames: [String] = ["localhost"], ipAddresses: [String] = ["127.0.0.1"],
    seen: Counter
  ) throws -> (server: HTTPServer, caFile: String) {
    let authorityKey = try PrivateKey.generateRSA()
    let authority = try authorityKey.selfSignedCertificate(
      commonName: "Test authority", days: 1, isAuthority: true)
    let key = try PrivateKey.generateRSA()
    let certificate = try authorityKey.signCertificate(
      for: key, issuer: Certificate(pem: authority),
      PrivateKey.CertificateRequest(
        commonName: "server", days: days, dnsNames: dnsNames, ipAddresses: ipAddresses))
    let caFile = directory.file("ca-\(UUID().uuidString).pem")
    try Data(authority).write(to: URL(fileURLWithPath: caFile))
    var configuration = HTTPServer.Configuration()
    configuration.identity = (
      String(decoding: certificate, as: UTF8.self), String(decoding: key.pem, as: UTF8.self)
    )
    let server = try HTTPServer(configuration) { request in
      seen.increment()
      return ServerResponse(status: 200, body: request.body)
    }
    return (server, caFile)
  }

  private func client(_ caFile: String?) throws -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.caFile = caFile
    return try HTTPClient(configuration)
  }

  @Test func `a server with a certificate of a trusted authority is accepted`() async throws {
    let seen = Counter()
    let (server, caFile) = try server(seen: seen)
    let client = try client(caFile)
    #expect(server.url == "https://127.0.0.1:\(server.port)")
    for host in ["127.0.0.1", "localhost"] {
      let request = HTTPRequest("POST", "https://\(host):\(server.port)/", body: [1, 2, 3])
      #expect(try await client.send(request).body == [1, 2, 3])
    }
    #expect(seen.count == 2)
  }

  @Test func `a server without a trusted certificate gets no byte of the request`() async throws {
    let seen = Counter()
    let trusted = try server(seen: seen)
    let other = try server(dnsNames: ["other.example.com"], ipAddresses: [], seen: seen)
    let old = try server(days: -1, seen: seen)
    for (server, caFile) in [
      (trusted.server, nil), (trusted.server, other.caFile), (other.server, other.caFile),
      (old.server, old.caFile),
    ] {
      let request = HTTPRequest(
        "POST", server.url, headers: ["Authorization": "Bearer secret"], body: [1])
      let error = await #expect(throws: HTTPError.self) { try await client(caFile).send(request) }
      #expect(error?.kind == .tls)
      #expect(error?.phase == .beforeSend)
    }
    #expect(seen.count == 0)
  }

  @Test func `an interrupted handshake is a network failure`() async throws {
    let server = RawServer(headBytes: 1) { _, _ in [] }
    let error = await #expect(throws: HTTPError.self) {
      try await client(nil).send(
        HTTPRequest("POST", "https://127.0.0.1:\(server.port)/", body: [1]))
    }
    #expect(error?.kind == .unreachable)
    #expect(error?.phase == .beforeSend)
  }

  @Test func `a server without TLS is rejected`() async throws {
    let server = try HTTPServer { _ in ServerResponse(status: 200) }
    let error = await #expect(throws: HTTPError.self) {
      try await client(nil).send(
        HTTPRequest("POST", "https://127.0.0.1:\(server.port)/", body: [1]))
    }
    #expect(error?.phase == .beforeSend)
  }
}
