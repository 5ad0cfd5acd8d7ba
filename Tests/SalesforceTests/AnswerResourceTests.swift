import Salesforce
import Testing

@Suite struct AnswerResourceTests {
  private func answering(_ status: Int, _ body: String) throws -> ScriptedOrg {
    try ScriptedOrg { $0.path.hasPrefix("/services/data/") ? .json(status, body) : nil }
  }

  @Test func `a search sends its text encoded and returns the org's bytes`() async throws {
    let text = #"{"searchRecords":[{"attributes":{"type":"Account"},"Id":"001"}]}"#
    let scripted = try answering(200, text)
    let session = try await scripted.session()
    let body = try await session.search("FIND {A+b} RETURNING Account(Id)")
    #expect(String(decoding: body, as: UTF8.self) == text)
    #expect(
      scripted.log.map(\.rawTarget)
        == ["/services/data/v66.0/search?q=FIND%20%7BA%2Bb%7D%20RETURNING%20Account%28Id%29"])
  }

  @Test func `an older org's bare array is not accepted as a search result`() async throws {
    let session = try await answering(200, "[]").session()
    let error = await #expect(throws: OrgError.self) { try await session.search("FIND {a}") }
    #expect(error?.kind == .invalidResponse)
  }

  @Test func `recent items are the IDs from an object's resource`() async throws {
    let scripted = try answering(
      200,
      """
      {"objectDescribe":{"name":"Account"},"recentItems":[
        {"attributes":{"type":"Account"},"Id":"001S000001QEDnz","Name":"A"},
        {"attributes":{"type":"Account"},"Id":"001S000001QEDnyIAH","Name":null}]}
      """)
    let session = try await scripted.session()
    let ids = try await session.recentItems("Account")
    #expect(ids == ["001S000001QEDnzIAH", "001S000001QEDnyIAH"])
    #expect(scripted.log.map(\.rawTarget) == ["/services/data/v66.0/sobjects/Account"])
  }

  @Test(arguments: [
    "{}", #"{"recentItems":{}}"#, #"{"recentItems":[{"Name":"A"}]}"#,
    #"{"recentItems":[{"Id":"x"}]}"#,
  ])
  func `recent items with a fault are rejected completely`(body: String) async throws {
    let session = try await answering(200, body).session()
    let error = await #expect(throws: OrgError.self) { try await session.recentItems("Account") }
    #expect(error?.kind == .invalidResponse)
  }

  @Test func `a layout is requested with the given parameters`() async throws {
    let scripted = try answering(200, #"{"layoutType":"Full"}"#)
    let session = try await scripted.session()
    _ = try await session.layout("Account")
    _ = try await session.layout("Account", formFactor: "", layoutType: "Full", mode: "Edit")
    let body = try await session.layout("A b", layoutType: "Compact", recordTypeID: "012")
    #expect(String(decoding: body, as: UTF8.self) == #"{"layoutType":"Full"}"#)
    #expect(
      scripted.log.map(\.rawTarget)
        == [
          "Account", "Account?layoutType=Full&mode=Edit",
          "A%20b?layoutType=Compact&recordTypeId=012",
        ].map { "/services/data/v66.0/ui-api/layout/" + $0 })
  }

  @Test
  func `a response that is not an object is neither a layout nor a description`() async throws {
    let session = try await answering(200, "[1]").session()
    let layout = await #expect(throws: OrgError.self) { try await session.layout("Account") }
    #expect(layout?.kind == .invalidResponse)
    let describe = await #expect(throws: OrgError.self) {
      try await session.describeAnswer("Account")
    }
    #expect(describe?.kind == .invalidResponse)
  }

  @Test func `an org without such a layout returns not found`() async throws {
    let session = try await answering(404, #"[{"errorCode":"NOT_FOUND","message":"no layout"}]"#)
      .session()
    let error = await #expect(throws: OrgError.self) { try await session.layout("Account") }
    #expect(error?.kind == .notFound)
  }
}
