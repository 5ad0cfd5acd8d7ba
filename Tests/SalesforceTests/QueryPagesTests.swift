import Foundation
import HTTP
import JSON
import Salesforce
import Testing

/// A query of `count` records, three per page; the locators are offsets.
private func page(_ offset: Int, of count: Int) -> ServerResponse {
  let end = min(offset + 3, count)
  let records = (offset..<end).map { #"{"Id":"\#($0)"}"# }.joined(separator: ",")
  let next = end < count ? #","nextRecordsUrl":"/services/data/v66.0/query/01g-\#(end)""# : ""
  return .json(
    200, #"{"totalSize":\#(count),"done":\#(end == count)\#(next),"records":[\#(records)]}"#)
}

private func offset(_ request: ServerRequest) -> Int? {
  guard request.path.hasPrefix("/services/data/v66.0/query") else { return nil }
  return request.path.split(separator: "-").last.flatMap { Int($0) } ?? 0
}

private let ids = (0..<20).map { "\($0)" }

@Suite struct QueryPagesTests {
  private func read(_ session: Session) async throws -> [String] {
    try await session.queryAllRecords("SELECT Id FROM X").compactMap { $0["Id"]?.string }
  }

  @Test func `the pages come in order and add up`() async throws {
    let scripted = try ScriptedOrg { offset($0).map { page($0, of: 20) } }
    let org = try scripted.org()
    let session = try await org.session()
    let pages = session.query("SELECT Id FROM X WHERE A > 2024-01-31T00:00:00+00:00", batchSize: 5)
    var count = 0
    while let body = try await pages.next() {
      count += try JSONValue(parsing: body)["records"]?.array?.count ?? 0
      pages.recycle(body)
    }
    #expect(count == 20)
    #expect(pages.totalSize == 20)
    #expect(scripted.log.count == 7)
    #expect(scripted.log[0].query("q") == "SELECT Id FROM X WHERE A > 2024-01-31T00:00:00+00:00")
    #expect(scripted.log.allSatisfy { $0.headers["Sforce-Query-Options"] == "batchSize=200" })
    let counts = org.requestsMade.filter { $0.identity != "" }
    #expect(counts.map { "\($0.kind) \($0.count)" } == ["query 1", "queryMore 6"])
    #expect(try await pages.next() == nil)
  }

  @Test(arguments: 0..<7)
  func `a session expiring in a query is renewed, and the page reread`(number: Int) async throws {
    let hasExpired = Kept(false)
    let scripted = try ScriptedOrg { request in
      guard let offset = offset(request) else { return nil }
      if offset >= number * 3 { hasExpired.change { $0 = true } }
      if hasExpired.now, request.headers["Authorization"] == "Bearer token-1" {
        return .json(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"expired"}]"#)
      }
      return page(offset, of: 20)
    }
    #expect(try await read(scripted.session()) == ids)
    #expect(scripted.tokenRequests.count == 2)
  }

  @Test(arguments: 0..<7) func `a truncated page is read again`(number: Int) async throws {
    let broken = Kept(0)
    let scripted = try ScriptedOrg { request in
      guard let offset = offset(request) else { return nil }
      var response = page(offset, of: 20)
      if offset == number * 3 {
        let turn = broken.change {
          $0 += 1
          return $0
        }
        if turn == 1 { response.fault = .dropAfter(bytes: response.body.count - 1) }
        if turn == 2 { response = ServerResponse(status: 503) }
      }
      return response
    }
    #expect(try await read(scripted.session()) == ids)
    #expect(broken.now >= 3)
  }

  @Test func `a cursor that the org dropped is a separate error`() async throws {
    let gone = ServerResponse.json(
      400, #"[{"errorCode":"INVALID_QUERY_LOCATOR","message":"invalid query locator"}]"#)
    let left = Kept(1)
    let scripted = try ScriptedOrg { request in
      guard let offset = offset(request) else { return nil }
      if offset == 6,
        left.change({
          $0 -= 1; return $0
        }) >= 0
      {
        return gone
      }
      return page(offset, of: 20)
    }
    let session = try await scripted.session()
    let pages = session.query("SELECT Id FROM X")
    _ = try await pages.next()
    _ = try await pages.next()
    let error = await #expect(throws: OrgError.self) { try await pages.next() }
    #expect(error?.kind == .locatorExpired)
    #expect(try await pages.next() == nil)
    left.change { $0 = 1 }
    #expect(try await read(session) == ids)
  }

  static let bad: [(String, String)] = [
    ("no done", #"{"totalSize":1,"records":[{}]}"#), ("no total", #"{"done":true,"records":[{}]}"#),
    ("no records", #"{"totalSize":"x","done":true}"#),
    ("no next", #"{"totalSize":9,"done":false,"records":[{}]}"#),
    (
      "foreign next",
      #"{"totalSize":9,"done":false,"nextRecordsUrl":"https://evil.example.com/services/data/","records":[{}]}"#
    ),
    (
      "foreign path",
      #"{"totalSize":9,"done":false,"nextRecordsUrl":"@evil.example.com/services/data/","records":[{}]}"#
    ),
    (
      "endless",
      #"{"totalSize":9,"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-3","records":[{}]}"#
    ),
    ("too few", #"{"totalSize":9,"done":true,"records":[{}]}"#),
    ("too many", #"{"totalSize":0,"done":true,"records":[{}]}"#),
    ("an array", #"[{"totalSize":0,"done":true,"records":[]}]"#),
    ("cut", #"{"totalSize":1,"done":true,"records":[{}]"#), ("nothing", ""),
  ]

  @Test(arguments: bad) func `a response that is not a page of a query is rejected`(
    name: String, body: String
  ) async throws {
    let scripted = try ScriptedOrg { offset($0) == nil ? nil : .json(200, body) }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self, "\(name)") {
      try await session.queryAllRecords("SELECT Id FROM X")
    }
    #expect(error?.kind == .invalidResponse, "\(name)")
    #expect(scripted.log.allSatisfy { $0.path.hasPrefix("/services/data/") })
  }

  /// Endless pages that return to one address, or never to any.
  @Test(arguments: [(total: 1000, isCircle: true, most: 3), (9, false, 12)])
  func `endless pages are detected`(total: Int, isCircle: Bool, most: Int) async throws {
    let scripted = try ScriptedOrg { request in
      guard let offset = offset(request) else { return nil }
      let next = isCircle ? 1 : offset + 1
      return .json(
        200,
        """
        {"totalSize":\(total),"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-\(next)",
         "records":[]}
        """)
    }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) {
      try await session.queryAllRecords("SELECT Id FROM X")
    }
    #expect(error?.kind == .invalidResponse)
    #expect(scripted.log.count <= most + 3, "\(scripted.log.count)")
  }

  @Test func `members in another order are found too`() async throws {
    let scripted = try ScriptedOrg { request in
      guard let offset = offset(request) else { return nil }
      let next = offset == 0 ? #","nextRecordsUrl":"/services/data/v66.0/query/x-1""# : ""
      return .json(
        200, #"{"records":[{"Id":"\#(offset)"}],"done":\#(offset == 1),"totalSize":2\#(next)}"#)
    }
    #expect(try await read(scripted.session()) == ["0", "1"])
  }

  @Test func `a statement too long for an address is sent in a body`() async throws {
    let scripted = try ScriptedOrg { request in
      if request.path.hasSuffix("/composite") {
        return .json(
          200,
          #"{"compositeResponse":[{"referenceId":"query","httpStatusCode":200,"httpHeaders":{},"body":"#
            + text(page(0, of: 20).body) + "}]}")
      }
      return offset(request).map { page($0, of: 20) }
    }
    let session = try await scripted.session()
    let list = (0..<2000).map { "'00100000000\($0)AAA'" }.joined(separator: ", ")
    let records = try await session.queryAllRecords("SELECT Id FROM X WHERE Id IN (\(list))")
    #expect(records.compactMap { $0["Id"]?.string } == ids)
    #expect(scripted.log[0].path == "/services/data/v66.0/composite")
    #expect(scripted.log.count == 7)
  }

  @Test func `the budget ends a query at the page where it is exhausted`() async throws {
    let scripted = try ScriptedOrg { offset($0).map { page($0, of: 20) } }
    let session = try await scripted.org(budget: APIBudget(perRun: 4)).session()
    let pages = session.query("SELECT Id FROM X")
    for _ in 0..<3 { #expect(try await pages.next() != nil) }
    let error = await #expect(throws: OrgError.self) { try await pages.next() }
    #expect(error?.kind == .limit)
    #expect(scripted.log.count == 3)
  }

  @Test func `a count is the total of an empty page`() async throws {
    let scripted = try ScriptedOrg { request in
      offset(request) == nil ? nil : .json(200, #"{"totalSize":42,"done":true,"records":[]}"#)
    }
    #expect(try await scripted.session().count("SELECT COUNT() FROM X") == 42)
  }

  @Test func `cancelling the task ends a query`() async throws {
    let scripted = try ScriptedOrg { offset($0).map { page($0, of: 20) } }
    let session = try await scripted.session()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await session.query("SELECT Id FROM X").next()
    }
    let error = await #expect(throws: OrgError.self) { try await task.value }
    #expect(error?.kind == .cancelled)
  }
}
