import Foundation
import HTTP
import Salesforce
import System
import Testing

private let expired = ServerResponse.json(
  401, #"[{"errorCode":"INVALID_SESSION_ID","message":"Session expired or invalid"}]"#)

@Suite struct SessionTests {
  @Test func `many requests that find the session expired renew it once`() async throws {
    let scripted = try ScriptedOrg { request in
      guard request.path.hasSuffix("/limits") else { return nil }
      return request.headers["Authorization"] == "Bearer token-1" ? expired : .json(200, "{}")
    }
    let session = try await scripted.session()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { _ = try await session.limits() } }
      try await group.waitForAll()
    }
    #expect(scripted.tokenRequests.count == 2)
  }

  @Test func `a request that fails late finds the session already renewed`() async throws {
    let late = DispatchSemaphore(value: 0)
    let (arrivals, arrived) = AsyncStream<Void>.makeStream()
    let number = Kept(0)
    let scripted = try ScriptedOrg { request in
      guard request.path.hasSuffix("/limits") else { return nil }
      guard request.headers["Authorization"] == "Bearer token-1" else { return .json(200, "{}") }
      let isFirst = number.change {
        $0 += 1
        return $0 == 1
      }
      if isFirst {
        arrived.yield()
        _ = late.wait(timeout: .now() + 10)
      }
      return expired
    }
    let session = try await scripted.session()
    let first = Task { try await session.limits() }
    for await _ in arrivals { break }
    _ = try await session.limits()
    late.signal()
    _ = try await first.value
    #expect(number.now == 2)
    #expect(scripted.tokenRequests.count == 2)
  }

  @Test func `a rejected renewed session is final`() async throws {
    let scripted = try ScriptedOrg { $0.path.hasPrefix("/services/data/") ? expired : nil }
    let session = try await scripted.session()
    let read = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(read?.kind == .authentication)
    #expect(scripted.tokenRequests.count == 2)
    let pages = session.query("SELECT Id FROM X")
    let page = await #expect(throws: OrgError.self) { try await pages.next() }
    #expect(page?.kind == .authentication)
    #expect(scripted.tokenRequests.count == 3)
  }

  @Test func `a write that found the session expired is sent again`() async throws {
    let scripted = try ScriptedOrg { request in
      request.headers["Authorization"] == "Bearer token-1"
        && request.path.hasSuffix("/composite/sobjects")
        ? expired
        : request.method == "POST" ? .json(200, #"[{"id":"x","success":true,"errors":[]}]"#) : nil
    }
    #expect(try await scripted.session().create([Array("{}".utf8)]).count == 1)
    #expect(scripted.log.count == 2)
  }

  @Test func `a read is repeated after failures, with growing pauses`() async throws {
    let answers = Kept([
      ServerResponse(status: 503),
      ServerResponse(status: 500, body: [1, 2], fault: .dropAfter(bytes: 1)),
      ServerResponse(status: 502, headers: ["Retry-After": "7"]),
      ServerResponse(status: 504, headers: ["Retry-After": "Sat, 1 Jan 2000 00:00:00 GMT"]),
      .json(200, #"{"DailyApiRequests":{"Max":10,"Remaining":4}}"#),
    ])
    let scripted = try ScriptedOrg { request in
      request.path.hasSuffix("/limits") ? answers.change { $0.removeFirst() } : nil
    }
    let pauses = Kept<[Int]>([])
    let retries = Kept(0)
    let org = try scripted.org(
      pause: RetryPause(
        sleep: { milliseconds in pauses.change { $0.append(milliseconds) } }, random: { $0 })
    ) { event in if case .retrying = event { retries.change { $0 += 1 } } }
    let limits = try await org.session().limits()
    #expect(limits["DailyApiRequests"] == Limit(maximum: 10, remaining: 4))
    #expect(pauses.now == [500, 1000, 7000, 4000])
    #expect(retries.now == 4)
  }

  @Test(arguments: [500, 502, 503, 504])
  func `a write that a failing server answered is unconfirmed, unrepeated`(status: Int) async throws
  {
    let scripted = try ScriptedOrg { request in
      request.method == "POST" ? ServerResponse(status: status) : nil
    }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) {
      try await session.create([Array("{}".utf8)])
    }
    #expect(error?.isAmbiguous == true)
    #expect(error?.status == status)
    #expect(scripted.log.count == 1)
  }

  /// The bodies of gateways, none in the form of an org's error.
  static let foreignBodies: [(type: String?, text: String)] = [
    ("text/html", "<html>slow down</html>"), ("text/plain", "Too Many Requests"), (nil, ""),
    ("text/plain", "Bad_OAuth_Token"), ("application/json", "{}"), ("application/json", "[]"),
    ("application/json", #"{"message":"API rate limit exceeded"}"#),
    ("application/json", #"{"errorCode":"INVALID_SESSION_ID","message":"expired"}"#),
    ("application/json", #"[{"errorCode":"","message":"m"}]"#),
    ("application/json", #"["errorCode"]"#),
    ("application/json", #"{"error":"invalid_request","error_description":"quota"}"#),
    ("text/xml", String(decoding: SOAPFaultTests.fault("soapenv:Client", "no"), as: UTF8.self)),
  ]

  @Test(arguments: [400, 401, 403, 404, 408, 412, 413, 425, 429, 503])
  func `a write that a gateway answered is unconfirmed and sent once`(status: Int) async throws {
    for (type, text) in Self.foreignBodies {
      let scripted = try ScriptedOrg { request in
        guard request.method != "GET" else { return nil }
        var response = ServerResponse(
          status: status, headers: ["Retry-After": "0"], body: Array(text.utf8))
        response.headers["Content-Type"] = type
        return response
      }
      let session = try await scripted.session()
      let rows = await #expect(throws: OrgError.self) { try await session.create([[0x7B, 0x7D]]) }
      let row = await #expect(throws: OrgError.self) {
        try await session.deleteRow("Account", id: "001000000000001AAA")
      }
      for error in [rows, row] {
        #expect(error?.isAmbiguous == true, "\(status) \(text)")
        #expect(error?.status == status)
      }
      #expect(scripted.log.count == 2)
      #expect(scripted.tokenRequests.count == 1)
    }
  }

  @Test func `the org's own refusal of a write is not ambiguous, and a busy org is asked again`()
    async throws
  {
    let number = Kept(0)
    let scripted = try ScriptedOrg { request in
      guard request.method == "POST" else { return nil }
      let turn = number.change {
        $0 += 1
        return $0
      }
      return turn == 1
        ? .json(429, #"[{"errorCode":"TOO_MANY_REQUESTS","message":"m"}]"#)
        : .json(403, #"[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"TotalRequests"}]"#)
    }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) { try await session.create([[0x7B, 0x7D]]) }
    #expect(error?.kind == .limit && error?.isAmbiguous == false)
    #expect(scripted.log.count == 2)
  }

  @Test func `a failed condition needs no body, unless there was no condition`() async throws {
    let scripted = try ScriptedOrg { $0.method == "PATCH" ? ServerResponse(status: 412) : nil }
    let session = try await scripted.session()
    let id = "001000000000001AAA"
    let changed = try await session.updateRow("Account", id: id, [0x7B, 0x7D], unmodifiedSince: 0)
    #expect(changed == .changed)
    let error = await #expect(throws: OrgError.self) {
      try await session.updateRow("Account", id: id, [0x7B, 0x7D])
    }
    #expect(error?.isAmbiguous == true)
  }

  @Test func `a write whose connection broke is unconfirmed and not repeated`() async throws {
    let faults: [ServerResponse.Fault] = [.dropBeforeHead, .dropBeforeBody, .dropAfter(bytes: 9)]
    for fault in faults {
      let scripted = try ScriptedOrg { request in
        guard request.method == "DELETE" else { return nil }
        var response = ServerResponse.json(200, #"[{"id":"x","success":true,"errors":[]}]"#)
        response.fault = fault
        return response
      }
      let session = try await scripted.session()
      let error = await #expect(throws: OrgError.self) { try await session.delete(["x"]) }
      #expect(error?.isAmbiguous == true)
      #expect(scripted.log.count == 1)
    }
  }

  @Test func `a login page with status 200 is not accepted`() async throws {
    let page = ServerResponse(
      status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>".utf8))
    let scripted = try ScriptedOrg { $0.path.hasPrefix("/services/data/") ? page : nil }
    let session = try await scripted.session()
    let read = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(read?.kind == .invalidResponse)
    #expect(read?.isAmbiguous == false)
    #expect(read?.request == "GET /services/data/v66.0/limits")
    let write = await #expect(throws: OrgError.self) { try await session.create([[0x7B, 0x7D]]) }
    #expect(write?.kind == .invalidResponse)
    #expect(write?.isAmbiguous == true)
  }

  @Test func `a response with another content type is rejected, even if it is JSON`() async throws {
    let page = ServerResponse(
      status: 200, headers: ["Content-Type": "text/html"], body: Array("{}".utf8))
    let scripted = try ScriptedOrg { $0.path.hasPrefix("/services/data/") ? page : nil }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(error?.kind == .invalidResponse)
  }

  @Test func `an org in trouble is not retried for every request`() async throws {
    let scripted = try ScriptedOrg {
      $0.path.hasSuffix("/limits") ? ServerResponse(status: 503) : nil
    }
    let session = try await scripted.session()
    for _ in 0..<20 {
      let error = await #expect(throws: OrgError.self) { try await session.limits() }
      #expect(error?.kind == .unreachable)
    }
    // Twenty repeats plus a fifth of all requests. Without that limit there would be 140.
    #expect(scripted.log.count < 60)
  }

  @Test func `a token is not sent to a redirect's target`() async throws {
    let elsewhere = Kept(0)
    let thief = try HTTPServer { _ in
      elsewhere.change { $0 += 1 }
      return ServerResponse(status: 200)
    }
    let url = thief.url
    let scripted = try ScriptedOrg { request in
      request.path.hasSuffix("/limits")
        ? ServerResponse(status: 302, headers: ["Location": url]) : nil
    }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) { try await session.limits() }
    #expect(error?.kind == .invalidResponse)
    #expect(
      error?.message == "the org redirects to \(url.dropFirst(7)), but no token is sent there")
    #expect(elsewhere.now == 0)
    // One further login, with the same response.
    #expect(scripted.tokenRequests.count == 2)
    #expect(scripted.log.count == 2)
  }

  @Test func `an org that has moved is found by another login`() async throws {
    let limits = #"{"DailyApiRequests":{"Max":10,"Remaining":9}}"#
    let new = try ScriptedOrg { $0.path.hasSuffix("/limits") ? .json(200, limits) : nil }
    let logins = Kept(0)
    let newURL = new.url
    let old = try ScriptedOrg(token: { _ in
      let number = logins.change {
        $0 += 1
        return $0
      }
      guard number > 1 else { return nil }
      return .json(
        200,
        """
        {"access_token":"moved","instance_url":"\(newURL)","token_type":"Bearer",
         "id":"\(newURL)/id/\(ScriptedOrg.organizationID)/\(ScriptedOrg.userID)"}
        """)
    }) { request in
      request.path.hasSuffix("/limits")
        ? ServerResponse(status: 302, headers: ["Location": newURL + request.path]) : nil
    }
    let session = try await old.session()
    #expect(try await session.limits()["DailyApiRequests"]?.remaining == 9)
    #expect(session.instanceURL == newURL)
    _ = try await session.limits()
    #expect(old.log.count == 1)
    #expect(new.log.count == 2)
    #expect(new.log.allSatisfy { $0.headers["Authorization"] == "Bearer moved" })
  }

  @Test func `the org's message and fields reach the caller, its query does not`() async throws {
    let scripted = try ScriptedOrg { request in
      request.path.hasSuffix("/query")
        ? .json(
          400, #"[{"errorCode":"INVALID_FIELD","message":"No such column","fields":["X__c"]}]"#)
        : nil
    }
    let session = try await scripted.session()
    let pages = session.query("SELECT X__c FROM Account WHERE Name = 'canary'")
    let error = await #expect(throws: OrgError.self) { try await pages.next() }
    #expect(error?.kind == .refused("INVALID_FIELD"))
    #expect(error?.fields == ["X__c"])
    #expect(error?.description.contains("canary") == false)
    #expect(
      error?.description
        == "GET /services/data/v66.0/query (400 INVALID_FIELD): No such column; correct what the org reports"
    )
  }

  @Test func `an older org is used with its own version`() async throws {
    let old = try HTTPServer { request in
      switch request.path {
      case "/services/data":
        .json(200, #"[{"version":"55.0"},{"version":"59.0"},{"version":"58.0"}]"#)
      case "/services/oauth2/userinfo":
        .json(
          200,
          """
          {"user_id":"\(ScriptedOrg.userID)","organization_id":"\(ScriptedOrg.organizationID)",
           "preferred_username":"ada@example.com"}
          """)
      default: ServerResponse(status: 500)
      }
    }
    let org = try Org(url: old.url + "/", credentials: .accessToken("x"), concurrency: 1)
    #expect(try await org.session().apiVersion == "59.0")
    let fixed = try Org(url: old.url, credentials: .accessToken("x"), apiVersion: "55.0")
    #expect(try await fixed.session().apiVersion == "55.0")
    #expect(org.serverDate != nil)
  }

  @Test func `an unreadable certificate authority is reported at once`() {
    #expect(throws: OrgError.self) {
      _ = try Org(
        url: "https://x.example.com", credentials: .accessToken("x"), caFile: "/nonexistent",
        concurrency: 1)
    }
  }
}
