import Foundation
import HTTP
import Testing

@Suite struct HTTPClientTests {
  @Test func `a hundred concurrent requests are all answered`() async throws {
    let server = try HTTPServer { ServerResponse(status: 200, body: Array($0.path.utf8)) }
    var configuration = HTTPClient.Configuration()
    configuration.concurrency = 16
    let client = try HTTPClient(configuration)
    let url = server.url
    let bodies = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<100 {
        group.addTask {
          let response = try await client.send(HTTPRequest("GET", "\(url)/\(number)"))
          return String(decoding: response.body, as: UTF8.self)
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(bodies == Set((0..<100).map { "/\($0)" }))
  }

  static let answers: [(String, [UInt8])] = [
    (
      "length",
      Array("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 40\r\n\r\n".utf8)
        + [UInt8](repeating: 65, count: 40)
    ),
    (
      "chunked",
      Array(
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Y: z\r\n\r\n14\r\n"
          + String(repeating: "b", count: 20)
          + "\r\n14\r\n" + String(repeating: "c", count: 20) + "\r\n0\r\n\r\n").utf8)
    ),
    ("no content", Array("HTTP/1.1 204 No Content\r\nX-Y: z\r\n\r\n".utf8)),
    ("created", Array("HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-Y: z\r\n\r\n{}".utf8)),
    (
      "continue first",
      Array(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Y: z\r\n\r\n{}".utf8
      )
    ),
    (
      "gzip",
      Array(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 23\r\n\r\n".utf8)
        + [
          0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c, 0x4a, 6, 0, 0xc2, 0x41, 0x24, 0x35, 3, 0,
          0, 0,
        ]
    ),
  ]

  @Test(arguments: answers)
  func `a response cut at any byte is never accepted`(name: String, bytes: [UInt8]) async throws {
    let server = RawServer { connection, _ in Array(bytes[..<min(connection, bytes.count)]) }
    let client = try HTTPClient()
    // The last byte after the last chunk has no content: the body is complete without it.
    let end = name == "chunked" ? bytes.count - 1 : bytes.count
    for offset in 0..<end {
      let error = await #expect(throws: HTTPError.self, "\(name) cut at \(offset)") {
        try await client.send(HTTPRequest("GET", server.url))
      }
      #expect(error?.phase == .afterSend)
    }
    #expect(try await client.send(HTTPRequest("GET", server.url)).status < 300)
  }

  @Test func `a response that only the end of the connection delimits is rejected`() async throws {
    let server = RawServer { _, _ in Array("HTTP/1.1 200 OK\r\n\r\n{\"done\":true}".utf8) }
    let error = await #expect(throws: HTTPError.self) {
      try await HTTPClient().send(HTTPRequest("GET", server.url))
    }
    #expect(error?.kind == .truncated)
  }

  @Test func `a body above the limit is rejected, measured by its decoded bytes`() async throws {
    let server = try HTTPServer { request in
      ServerResponse(
        status: 200, body: [UInt8](repeating: 65, count: Int(request.path.dropFirst()) ?? 0))
    }
    // 100,000 times the same letter in 133 bytes.
    let bomb = [UInt8](
      try #require(
        Data(
          base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoGzrX8oaHkAB" + String(repeating: "A", count: 128)
            + "rwbXn4oFoIYBAA==")))
    let bombs = RawServer { _, _ in
      Array(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n".utf8)
        + bomb
    }
    var configuration = HTTPClient.Configuration()
    configuration.responseLimitBytes = 10_000
    let client = try HTTPClient(configuration)
    #expect(try await client.send(HTTPRequest("GET", server.url + "/10000")).body.count == 10_000)
    for url in [server.url + "/10001", bombs.url] {
      let error = await #expect(throws: HTTPError.self) {
        try await client.send(HTTPRequest("GET", url))
      }
      #expect(error?.kind == .tooLarge)
    }
    let roomy = try await HTTPClient().send(HTTPRequest("GET", bombs.url))
    #expect(roomy.body == [UInt8](repeating: 65, count: 100_000))
  }

  @Test(arguments: ["POST", "PATCH", "DELETE"])
  func `a dropped write on a reused connection arrives once`(method: String) async throws {
    let writes = Counter()
    let server = try HTTPServer { request in
      guard request.method != "GET" else { return ServerResponse(status: 200, body: [1]) }
      writes.increment()
      return ServerResponse(status: 200, fault: .dropBeforeHead)
    }
    let client = try HTTPClient()
    _ = try await client.send(HTTPRequest("GET", server.url))
    let error = await #expect(throws: HTTPError.self) {
      try await client.send(HTTPRequest(method, server.url, body: method == "DELETE" ? nil : [65]))
    }
    #expect(error?.phase == .afterSend)
    #expect(writes.count == 1)
  }

  @Test func `faults of the server are reported as broken responses`() async throws {
    let faults: [ServerResponse.Fault] = [.dropBeforeHead, .dropBeforeBody, .dropAfter(bytes: 5)]
    let number = Counter()
    let server = try HTTPServer { _ in
      ServerResponse(
        status: 200, body: [UInt8](repeating: 65, count: 10), fault: faults[number.increment() - 1])
    }
    for _ in faults {
      let error = await #expect(throws: HTTPError.self) {
        try await HTTPClient().send(HTTPRequest("POST", server.url, body: []))
      }
      #expect(error?.kind == .truncated)
      #expect(error?.phase == .afterSend)
    }
  }

  @Test func `a redirect is returned and not followed`() async throws {
    let requests = Counter()
    let server = try HTTPServer { _ in
      requests.increment()
      return ServerResponse(status: 302, headers: ["Location": "/elsewhere"])
    }
    #expect(try await HTTPClient().send(HTTPRequest("GET", server.url)).status == 302)
    #expect(requests.count == 1)
  }

  @Test(arguments: [
    "http://example.com/", "ftp://127.0.0.1/", "http://127.0.0.1.example.com/", "//x",
    "https://name:secret@example.com/", "http://127.0.0.1@example.com/", "https://a b/",
  ])
  func `an unsafe address is rejected before anything is sent`(url: String) async throws {
    let error = await #expect(throws: HTTPError.self) {
      try await HTTPClient().send(HTTPRequest("GET", url))
    }
    #expect(error?.kind == .notAllowed)
    #expect(error?.phase == .beforeSend)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `cancelling the task ends a stalled transfer`() async throws {
    let gate = Gate()
    let arrived = Gate()
    let server = try HTTPServer { _ in
      ServerResponse(
        status: 200, body: [UInt8](repeating: 65, count: 10),
        fault: .pause(
          afterBytes: 5,
          until: {
            arrived.open()
            gate.wait()
          }))
    }
    let client = try HTTPClient()
    let url = server.url
    let task = Task { try await client.send(HTTPRequest("GET", url)) }
    await arrived.opened()
    task.cancel()
    let error = await #expect(throws: HTTPError.self) { try await task.value }
    #expect(error?.kind == .cancelled)
    #expect(error?.phase == .afterSend)
    gate.open()
  }

  @Test func `a queued request can be cancelled and was not sent`() async throws {
    let gate = Gate()
    let arrived = Gate()
    let server = try HTTPServer { _ in
      arrived.open()
      gate.wait()
      return ServerResponse(status: 200)
    }
    var configuration = HTTPClient.Configuration()
    configuration.concurrency = 1
    let client = try HTTPClient(configuration)
    let url = server.url
    let first = Task { try await client.send(HTTPRequest("POST", url, body: [])) }
    await arrived.opened()
    let second = Task { try await client.send(HTTPRequest("POST", url, body: [])) }
    second.cancel()
    let error = await #expect(throws: HTTPError.self) { try await second.value }
    #expect(error?.kind == .cancelled)
    #expect(error?.phase == .beforeSend)
    gate.open()
    #expect(try await first.value.status == 200)
  }

  @Test func `the deadline ends an exchange`() async throws {
    let gate = Gate()
    let server = try HTTPServer { _ in
      gate.wait()
      return ServerResponse(status: 200)
    }
    let error = await #expect(throws: HTTPError.self) {
      try await HTTPClient().send(HTTPRequest("POST", server.url, body: [], timeoutSeconds: 1))
    }
    #expect(error?.kind == .timeout)
    #expect(error?.phase == .afterSend)
    gate.open()
  }

  @Test func `a request to a name that does not resolve was not sent`() async throws {
    let error = await #expect(throws: HTTPError.self) {
      try await HTTPClient().send(HTTPRequest("POST", "https://nowhere.invalid/", body: []))
    }
    #expect(error?.kind == .unreachable)
    #expect(error?.phase == .beforeSend)
  }

  @Test func `a missing file of authorities is reported at once`() {
    var configuration = HTTPClient.Configuration()
    configuration.caFile = "/nonexistent/ca.pem"
    #expect(throws: HTTPError.self) { _ = try HTTPClient(configuration) }
  }
}
