import HTTP
import System
import Testing

@Suite struct HTTPServerTests {
  @Test func `method, target, headers and body arrive, and the response returns`() async throws {
    let server = try HTTPServer { request in
      let query = request.query.map { "\($0.0)=\($0.1)" }.joined(separator: ";")
      let text =
        "\(request.method) \(request.path) \(query) \(request.headers["x-thing"] ?? "") "
        + "\(request.remote) \(request.rawTarget) " + String(decoding: request.body, as: UTF8.self)
      return ServerResponse(status: 201, headers: ["X-Back": "yes"], body: Array(text.utf8))
    }
    let client = try HTTPClient()
    for method in ["GET", "POST", "PATCH", "DELETE", "PUT"] {
      let body: [UInt8]? = method == "GET" || method == "DELETE" ? nil : Array("böd".utf8)
      let response = try await client.send(
        HTTPRequest(
          method, server.url + "/a%20b/c?q=1%2B2&r=+x", headers: ["X-Thing": "t"], body: body))
      #expect(response.status == 201)
      #expect(response.headers["x-back"] == "yes")
      #expect(
        String(decoding: response.body, as: UTF8.self)
          == "\(method) /a b/c q=1+2;r= x t 127.0.0.1 /a%20b/c?q=1%2B2&r=+x \(body == nil ? "" : "böd")"
      )
    }
  }

  @Test func `a streamed body arrives completely, or is recognized as truncated`() async throws {
    let pieces = Locked(0)
    let server = try HTTPServer { request in
      pieces.withLock { $0 = 0 }
      var response = ServerResponse(status: 200)
      response.stream = {
        let number = pieces.withLock { count in
          count += 1
          return count
        }
        if number == 4, request.path == "/broken" { throw ArrivedTooLate() }
        return number > 5 ? nil : [UInt8](repeating: UInt8(number), count: 100_000)
      }
      if request.path == "/cut" { response.fault = .dropAfter(bytes: 150_000) }
      return response
    }
    let client = try HTTPClient()
    let whole = try await client.send(HTTPRequest("GET", server.url))
    #expect(whole.body == (1...5).flatMap { [UInt8](repeating: $0, count: 100_000) })
    for path in ["/broken", "/cut"] {
      await #expect(throws: HTTPError.self) {
        try await client.send(HTTPRequest("GET", server.url + path))
      }
    }
  }

  private struct ArrivedTooLate: Error {}

  @Test func `a response to HEAD has the length and no body`() async throws {
    let server = try HTTPServer { _ in ServerResponse(status: 200, body: [1, 2, 3]) }
    let client = try HTTPClient()
    let response = try await client.send(HTTPRequest("HEAD", server.url))
    #expect(response.status == 200 && response.body.isEmpty)
    #expect(response.headers["Content-Length"] == "3")
  }

  @Test func `a chunked upload is reassembled and the connection is kept`() throws {
    let server = try HTTPServer { ServerResponse(status: 200, body: $0.body) }
    let upload =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n3\r\nefg\r\n0\r\n\r\n"
    let last = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    let answer = RawServer.exchange(port: server.port, upload + last)
    #expect(answer.contains("\r\n\r\nabcdefg"))
    #expect(answer.split(separator: "HTTP/1.1 200").count == 2)
  }

  @Test func `a body above the limit is answered with 413`() async throws {
    var configuration = HTTPServer.Configuration()
    configuration.bodyLimitBytes = 1000
    let server = try HTTPServer(configuration) { _ in ServerResponse(status: 200) }
    let client = try HTTPClient()
    for size in [1000, 1001, 1500] {
      let request = HTTPRequest("POST", server.url, body: [UInt8](repeating: 65, count: size))
      #expect(try await client.send(request).status == (size > 1000 ? 413 : 200))
    }
    let chunk = String(repeating: "a", count: 0x600)
    let answer = RawServer.exchange(
      port: server.port,
      "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n600\r\n\(chunk)\r\n0\r\n\r\n"
    )
    #expect(answer.hasPrefix("HTTP/1.1 413"))
  }

  @Test func `a long target and a large body are accepted`() async throws {
    let server = try HTTPServer { request in
      ServerResponse(
        status: 200, body: Array("\(request.rawTarget.utf8.count) \(request.body.count)".utf8))
    }
    let client = try HTTPClient()
    let target = "/" + String(repeating: "x", count: 59_999)
    let response = try await client.send(
      HTTPRequest("POST", server.url + target, body: [UInt8](repeating: 7, count: 3_000_000)))
    #expect(String(decoding: response.body, as: UTF8.self) == "60000 3000000")
  }

  @Test func `a used port and a host name as address are errors`() throws {
    let server = try HTTPServer { _ in ServerResponse(status: 200) }
    var configuration = HTTPServer.Configuration()
    configuration.port = UInt16(server.port)
    #expect(throws: HTTPError.self) {
      _ = try HTTPServer(configuration) { _ in ServerResponse(status: 200) }
    }
    configuration.address = "localhost"
    #expect(throws: HTTPError.self) {
      _ = try HTTPServer(configuration) { _ in ServerResponse(status: 200) }
    }
  }

  @Test func `a stopped server refuses connections; stopping it twice is harmless`() async throws {
    let server = try HTTPServer { _ in ServerResponse(status: 200) }
    let client = try HTTPClient()
    #expect(try await client.send(HTTPRequest("GET", server.url)).status == 200)
    server.stop()
    server.stop()
    // A client without an earlier connection: a reused one may end in the middle of a request.
    let stranger = try HTTPClient()
    let error = await #expect(throws: HTTPError.self) {
      try await stranger.send(HTTPRequest("POST", server.url, body: []))
    }
    #expect(error?.kind == .unreachable)
    #expect(error?.phase == .beforeSend)
  }
}
