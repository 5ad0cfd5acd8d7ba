import HTTP
import Salesforce
import Testing
import XML

@Suite struct UndeleteTests {
  private static let ids = ["003000000000001AAA", "003000000000002AAA", "003000000000003AAA"]
  private static let path = "/services/Soap/u/66.0"

  private static func results(_ results: String...) -> ServerResponse {
    xml(
      """
      <?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" \
      xmlns="urn:partner.soap.sforce.com"><s:Header><LimitInfoHeader/></s:Header><s:Body>\
      <undeleteResponse>\(results.joined())</undeleteResponse></s:Body></s:Envelope>
      """)
  }

  private static func xml(_ text: String, status: Int = 200) -> ServerResponse {
    ServerResponse(
      status: status, headers: ["Content-Type": "text/xml; charset=utf-8"], body: Array(text.utf8))
  }

  private static func done(_ id: String) -> String {
    "<result><id>\(id)</id><success>true</success></result>"
  }

  private static func refused(_ id: String, _ code: String, _ message: String) -> String {
    "<result><errors><message>\(message)</message><statusCode>\(code)</statusCode></errors>"
      + "<id>\(id)</id><success>false</success></result>"
  }

  private static func fault(_ code: String, _ words: String) -> ServerResponse {
    xml(String(decoding: SOAPFaultTests.fault(code, words), as: UTF8.self), status: 500)
  }

  private func org(_ answer: @escaping @Sendable (Int) -> ServerResponse) throws -> ScriptedOrg {
    let calls = Kept(0)
    return try ScriptedOrg { request in
      guard request.path == Self.path else { return nil }
      return answer(
        calls.change {
          $0 += 1
          return $0
        })
    }
  }

  @Test func `each record has its answer, and the session is only in the body`() async throws {
    let ids = Self.ids
    let scripted = try org { _ in
      Self.results(
        Self.done(ids[0]), Self.refused(ids[1], "UNDELETE_FAILED", "not &lt;there&gt;"),
        Self.refused(ids[2], "INSUFFICIENT_ACCESS_OR_READONLY", "no"))
    }
    let events = Kept<[String]>([])
    let org = try scripted.org { event in events.change { $0.append("\(event)") } }
    let session = try await org.session()
    let answers = try await session.undelete(ids)
    #expect(answers[0] == .done(id: ids[0], created: nil))
    guard case .absent(let gone) = answers[1], case .refused(let refused) = answers[2] else {
      Issue.record("\(answers)")
      return
    }
    #expect(gone.message == "not <there>")
    #expect(refused.code == "INSUFFICIENT_ACCESS_OR_READONLY")
    let request = try #require(scripted.log.last)
    #expect(request.headers["Authorization"] == nil)
    #expect(request.headers["SOAPAction"] == "\"\"")
    #expect(request.headers["Content-Type"] == "text/xml; charset=UTF-8")
    let envelope = try #require(XMLElement(parsing: request.body))
    #expect(envelope.child("Header")?.child("SessionHeader")?.child("sessionId")?.text == "token-1")
    #expect(try #require(envelope.child("Body")?.child("undelete")).children.map(\.text) == ids)
    #expect(!events.now.contains { $0.contains("token-1") })
    #expect(org.requestsMade.contains { $0.kind == .undelete && $0.count == 1 })
  }

  @Test func `an expired session is renewed once, and the call repeated with it`() async throws {
    let scripted = try org { number in
      number == 1
        ? Self.fault("sf:INVALID_SESSION_ID", "INVALID_SESSION_ID: gone")
        : Self.results(Self.done(Self.ids[0]))
    }
    let session = try await scripted.session()
    #expect(try await session.undelete([Self.ids[0]]) == [.done(id: Self.ids[0], created: nil)])
    #expect(scripted.tokenRequests.count == 2)
    let last = try #require(scripted.log.last)
    #expect(text(last.body).contains("<sessionId>token-2</sessionId>"))
  }

  @Test func `a session that only SOAP rejects is a permission error`() async throws {
    let scripted = try org { _ in Self.fault("sf:INVALID_SESSION_ID", "INVALID_SESSION_ID: no") }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) { try await session.undelete(Self.ids) }
    #expect(error?.kind == .permission)
    #expect(error?.message == "SOAP does not accept the session: no")
    #expect(scripted.tokenRequests.count == 2)
  }

  @Test(arguments: [
    ("sf:REQUEST_LIMIT_EXCEEDED", OrgError.Kind.limit, false, 1),
    ("sf:API_DISABLED_FOR_ORG", .permission, false, 1),
    ("sf:EXCEEDED_ID_LIMIT", .refused("EXCEEDED_ID_LIMIT"), false, 1),
    ("soapenv:Client", .refused("Client"), false, 1),
    ("sf:UNKNOWN_EXCEPTION", .unreachable, true, 1),
    ("sf:SERVER_UNAVAILABLE", .unreachable, true, 1),
  ])
  func `a fault is decided by its code, and a possibly executed call is never repeated`(
    _ code: String, _ kind: OrgError.Kind, _ isAmbiguous: Bool, _ calls: Int
  ) async throws {
    let scripted = try org { _ in Self.fault(code, "words") }
    let session = try await scripted.session()
    let error = await #expect(throws: OrgError.self) { try await session.undelete(Self.ids) }
    #expect(error?.kind == kind)
    #expect(error?.isAmbiguous == isAmbiguous)
    #expect(error?.message == "words")
    #expect(scripted.log.count == calls)
  }

  @Test func `an org without SOAP is reported, and another response is rejected`() async throws {
    let none = try ScriptedOrg()
    let missing = await #expect(throws: OrgError.self) {
      try await none.session().undelete(Self.ids)
    }
    #expect(missing?.kind == .notFound && missing?.isAmbiguous == false)
    for answer in [
      Self.results(Self.done(Self.ids[0])), Self.xml("<html></html>"), Self.xml("<a>"),
      Self.results("<result/>", "<result/>", "<result/>"), .json(200, "[]"),
    ] {
      let scripted = try org { _ in answer }
      let error = await #expect(throws: OrgError.self) {
        try await scripted.session().undelete(Self.ids)
      }
      #expect(error?.kind == .invalidResponse && error?.isAmbiguous == true)
    }
    let named = try org { _ in Self.results(Self.done(Self.ids[1])) }
    let answers = try await named.session().undelete([Self.ids[0]])
    #expect(answers == [.unknown("the org reported success for another record")])
  }

  @Test func `nothing is sent for no records, nor for more than a call accepts`() async throws {
    let scripted = try ScriptedOrg()
    let session = try await scripted.session()
    #expect(try await session.undelete([]) == [])
    let many = (0..<201).map { "0030000000\(10_000 + $0)" }
    let error = await #expect(throws: OrgError.self) { try await session.undelete(many) }
    #expect(error?.kind == .configuration)
    #expect(scripted.log.isEmpty)
  }
}
