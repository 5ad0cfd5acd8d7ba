import HTTP
import System
import Testing

/// Pages `/0`, `/1`, … of `count`; the first line of a page is the address of the next.
private func page(_ number: Int, of count: Int, url: String, padding: Int = 100) -> [UInt8] {
  let head = number + 1 < count ? "\(url)/\(number + 1)\n" : "end\n"
  return Array((head + String(repeating: "x", count: padding)).utf8)
}

@Sendable private func readHead(_ head: UnsafeRawBufferPointer) -> PageChain.Next {
  guard let end = head.firstIndex(of: UInt8(ascii: "\n")) else { return .unknown }
  let line = String(decoding: head[..<end], as: UTF8.self)
  return line == "end" ? .end : .request(HTTPRequest("GET", line))
}

@Suite struct PageChainTests {
  private let servers = Locked<[HTTPServer]>([])

  /// Serves the pages that `respond` makes of a number and the server's address; returns the address.
  private func serve(
    _ respond: @escaping @Sendable (_ number: Int, _ url: String) -> ServerResponse
  ) throws -> String {
    let address = Locked("")
    let server = try HTTPServer { request in
      respond(Int(request.path.dropFirst()) ?? 0, address.withLock { $0 })
    }
    servers.withLock { $0.append(server) }
    address.withLock { $0 = server.url }
    return server.url
  }

  @Test func `the next page is requested while a page still arrives`() async throws {
    // Page 0 stops after its head until page 1 is requested, and page 1 until page 2 is.
    let asked = (0..<3).map { _ in Gate() }
    let late = Counter()
    let url = try serve { number, url in
      asked[number].open()
      let body = page(number, of: 3, url: url, padding: 200_000)
      guard number < 2 else { return ServerResponse(status: 200, body: body) }
      return ServerResponse(
        status: 200, body: body, fault: .pause(afterBytes: 100, until: { asked[number + 1].wait() })
      )
    }
    let chain = try HTTPClient().pages(first: HTTPRequest("GET", url + "/0"), next: readHead)
    for number in 0..<3 {
      let body = try #require(try await chain.next()).body
      #expect(body == page(number, of: 3, url: url, padding: 200_000))
      chain.recycle(body)
    }
    #expect(try await chain.next() == nil)
    #expect(late.count == 0)
  }

  @Test func `at most the window is in flight or unread`() async throws {
    let requests = Counter()
    let third = Gate()
    let url = try serve { number, url in
      if requests.increment() == 3 { third.open() }
      return ServerResponse(status: 200, body: page(number, of: 20, url: url))
    }
    let client = try HTTPClient()
    let chain = client.pages(first: HTTPRequest("GET", url + "/0"), window: 3, next: readHead)
    await third.opened()
    // A separate request through the same loop: any page requested beyond the chain's window would
    // be requested before this one is answered.
    for _ in 0..<3 { _ = try await client.send(HTTPRequest("GET", url + "/19")) }
    #expect(requests.count == 6)
    var read = 0
    while let response = try await chain.next() {
      #expect(response.body == page(read, of: 20, url: url))
      read += 1
    }
    #expect(read == 20)
    #expect(requests.count == 23)
  }

  @Test func `only two large pages are in flight or unread`() async throws {
    let requests = Counter()
    let isRead = Gate()
    let third = Gate()
    let url = try serve { number, url in
      if requests.increment() == 3 { third.open() }
      let body = page(number, of: 5, url: url, padding: 3_000_000)
      guard number == 1 else { return ServerResponse(status: 200, body: body) }
      // The size of the pages is known once the first is complete.
      return ServerResponse(
        status: 200, body: body, fault: .pause(afterBytes: 0, until: { isRead.wait() }))
    }
    let client = try HTTPClient()
    let chain = client.pages(first: HTTPRequest("GET", url + "/0"), window: 3, next: readHead)
    _ = try await chain.next()
    isRead.open()
    await third.opened()
    for _ in 0..<3 { _ = try await client.send(HTTPRequest("GET", url + "/4")) }
    #expect(requests.count == 6)
    for number in 1..<5 {
      #expect(
        try await chain.next()?.body.count
          == page(number, of: 5, url: url, padding: 3_000_000).count)
    }
    #expect(try await chain.next() == nil)
    #expect(requests.count == 8)
  }

  @Test func `a returned buffer is reused for a later page`() async throws {
    let url = try serve { number, url in
      let padding = number == 0 ? 1_000_000 : 10
      return ServerResponse(
        status: 200, body: page(number, of: 10, url: url, padding: padding))
    }
    let chain = try HTTPClient().pages(first: HTTPRequest("GET", url + "/0"), next: readHead)
    var large = 0
    while let body = try await chain.next()?.body {
      if body.capacity >= 1_000_000 { large += 1 }
      chain.recycle(body)
    }
    #expect(large > 1)
  }

  @Test func `an error page ends the chain, and append continues it`() async throws {
    let requests = Counter()
    let url = try serve { number, url in
      if number == 2 && requests.increment() == 1 { return ServerResponse(status: 401, body: [1]) }
      return ServerResponse(status: 200, body: page(number, of: 5, url: url))
    }
    let chain = try HTTPClient().pages(first: HTTPRequest("GET", url + "/0"), next: readHead)
    #expect(try await chain.next()?.status == 200)
    #expect(try await chain.next()?.status == 200)
    #expect(try await chain.next()?.status == 401)
    #expect(try await chain.next() == nil)
    chain.append(HTTPRequest("GET", url + "/2"))
    for number in 2..<5 { #expect(try await chain.next()?.body == page(number, of: 5, url: url)) }
    #expect(try await chain.next() == nil)
  }

  @Test func `a truncated page is an error, pages requested ahead are discarded`() async throws {
    let url = try serve { number, url in
      return ServerResponse(
        status: 200, body: page(number, of: 5, url: url),
        fault: number == 1 ? .dropAfter(bytes: 50) : nil)
    }
    let chain = try HTTPClient().pages(first: HTTPRequest("GET", url + "/0"), next: readHead)
    _ = try await chain.next()
    let error = await #expect(throws: HTTPError.self) { try await chain.next() }
    #expect(error?.kind == .truncated)
    #expect(try await chain.next() == nil)
  }

  @Test func `cancelling the reader ends the chain`() async throws {
    let gate = Gate()
    let arrived = Gate()
    let server = try HTTPServer { _ in
      ServerResponse(
        status: 200, body: [1, 2, 3],
        fault: .pause(
          afterBytes: 1,
          until: {
            arrived.open()
            gate.wait()
          }))
    }
    let client = try HTTPClient()
    let url = server.url
    let task = Task {
      let chain = client.pages(first: HTTPRequest("GET", url)) { _ in .unknown }
      return try await chain.next()?.status
    }
    await arrived.opened()
    task.cancel()
    let error = await #expect(throws: HTTPError.self) { _ = try await task.value }
    #expect(error?.kind == .cancelled)
    gate.open()
  }

  @Test func `a discarded page does not request its successor`() async throws {
    let requests = Counter()
    let url = try serve { number, url in
      let isFirst = requests.increment() == 1
      let body = page(number, of: 3, url: url)
      return ServerResponse(
        status: 200, body: body, fault: isFirst ? .dropAfter(bytes: body.count - 1) : nil)
    }
    let (arrived, dropped) = (Gate(), Gate())
    let isHeld = Locked(false)
    let chain = try HTTPClient().pages(first: HTTPRequest("GET", url + "/0")) { head in
      let next = readHead(head)
      // Page 1 was requested ahead and arrives while page 0, which is truncated, ends the chain. If
      // it arrives before the end of page 0, this thread must read that end first.
      if case .request(let request) = next, request.url.hasSuffix("/2"),
        !isHeld.withLock({ held in
          defer { held = true }
          return held
        })
      {
        arrived.open()
        dropped.wait(seconds: 2)
      }
      return next
    }
    await arrived.opened()
    await #expect(throws: HTTPError.self) { try await chain.next() }
    dropped.open()
    chain.append(HTTPRequest("GET", url + "/0"))
    for number in 0..<3 { #expect(try await chain.next()?.body == page(number, of: 3, url: url)) }
    #expect(try await chain.next() == nil)
  }
}
