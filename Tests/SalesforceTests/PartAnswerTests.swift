import HTTP
import Salesforce
import System
import Testing

@Suite struct PartAnswerTests {
  private static let requests = ["a", "b"].map {
    CompositeRequest(method: "GET", url: "/services/data/v66.0/query?q=\($0)", referenceId: $0)
  }

  private func org(_ body: String, status: Int = 200) throws -> ScriptedOrg {
    try ScriptedOrg { request in
      request.path == "/services/data/v66.0/composite" ? .json(status, body) : nil
    }
  }

  @Test func `the parts come in the order of the requests, as the org's bytes`() async throws {
    let scripted = try org(
      """
      {"compositeResponse":[
        {"body":[{"errorCode":"MALFORMED_QUERY","message":"no"}],"httpHeaders":{},
         "httpStatusCode":400,"referenceId":"b"},
        {"body":{"totalSize":1, "done":true,"records":[{"Id":"1"}]},"httpHeaders":{},
         "httpStatusCode":200,"referenceId":"a"}]}
      """)
    let parts = try await scripted.session().parts(Self.requests)
    #expect(parts.map(\.name) == ["a", "b"])
    #expect(parts.map(\.status) == [200, 400])
    #expect(parts.map(\.isSuccess) == [true, false])
    #expect(text(parts[0].body) == #"{"totalSize":1, "done":true,"records":[{"Id":"1"}]}"#)
    #expect(GivenPage(parts[0], askedAt: nil)?.totalSize == 1)
    #expect(GivenPage(parts[0], askedAt: nil)?.isLast == true)
    #expect(GivenPage(parts[1], askedAt: nil) == nil)
  }

  @Test(arguments: [
    "{}", "[]", #"{"compositeResponse":[]}"#,
    #"{"compositeResponse":[{"referenceId":"a","httpStatusCode":200,"body":{}}]}"#,
    """
    {"compositeResponse":[{"referenceId":"a","httpStatusCode":200,"body":{}},
    {"referenceId":"a","httpStatusCode":200,"body":{}}]}
    """,
  ])
  func `a response that lacks a part is invalid`(_ body: String) async throws {
    let session = try await org(body).session()
    let error = await #expect(throws: OrgError.self) { try await session.parts(Self.requests) }
    #expect(error?.kind == .invalidResponse)
    #expect(error?.isAmbiguous == false)
    #expect(error?.mayFareBetter == true)
  }

  @Test(arguments: [(500, 1), (503, 1), (400, 1), (429, 7)])
  func `a failed call is not repeated, except where there were too many requests`(
    _ status: Int, _ sent: Int
  ) async throws {
    let scripted = try org(
      #"[{"errorCode":"UNKNOWN_EXCEPTION","message":"no"}]"#, status: status)
    let session = try await scripted.session()
    await #expect(throws: OrgError.self) { try await session.parts(Self.requests) }
    #expect(scripted.log.count == sent)
  }

  @Test func `a page that another request brought is not requested, and the next one is`()
    async throws
  {
    let next = "/services/data/v66.0/query/01g-1"
    let scripted = try ScriptedOrg { request in
      if request.path == next {
        return .json(200, #"{"totalSize":2,"done":true,"records":[{"Id":"2"}]}"#)
      }
      guard request.path == "/services/data/v66.0/composite" else { return nil }
      let page = #"{"totalSize":2,"done":false,"nextRecordsUrl":"\#(next)","records":[{"Id":"1"}]}"#
      let parts = ["a", "b"].map {
        #"{"referenceId":"\#($0)","httpStatusCode":200,"body":\#(page)}"#
      }
      return .json(200, #"{"compositeResponse":[\#(parts.joined(separator: ","))]}"#)
    }
    let session = try await scripted.session()
    let part = try #require(try await session.parts(Self.requests).first)
    let page = try #require(GivenPage(part, askedAt: 5))
    #expect(!page.isLast)
    let (pages, totalSize) = try await session.allPages("SELECT Id FROM X", given: page)
    #expect(totalSize == 2)
    #expect(pages.count == 2)
    #expect(pages.first == page.bytes)
    #expect(scripted.log.map(\.path) == ["/services/data/v66.0/composite", next])
    #expect(session.query("SELECT Id FROM X", given: page).askedAt == .some(5))
    #expect(session.query("SELECT Id FROM X").askedAt == nil)
  }
}
