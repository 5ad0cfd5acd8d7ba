import HTTP
import Salesforce
import Testing

@Suite struct NextPageTests {
  @Test(arguments: [
    "http://HOST/services/data/v66.0/query/01g-3", "//HOST/services/data/v66.0/query/01g-3",
    "@HOST/services/data/", ".HOST/services/data/", ":80@HOST/", "services/data/v66.0/query/01g-3",
    "/elsewhere/services/data/v66.0/query/01g-3", "/services/data/v66.0/query/01g@HOST",
    "/services/data/v66.0/query/01g 3", "",
  ])
  func `no token is sent to another host or path that a page names`(address: String) async throws {
    let heard = Kept(0)
    let other = try HTTPServer { _ in
      heard.change { $0 += 1 }
      return .json(200, #"{"totalSize":6,"done":true,"records":[{"Id":"x"}]}"#)
    }
    let next = address.replacing("HOST", with: "127.0.0.1:\(other.port)")
    for isAhead in [true, false] {
      let scripted = try ScriptedOrg { request in
        if request.path.hasSuffix("/userinfo") { return nil }
        guard request.path.hasPrefix("/services/data/v66.0/query") else {
          return .json(200, #"{"totalSize":6,"done":true,"records":[]}"#)
        }
        return .json(
          200, #"{"totalSize":6,"done":false,"nextRecordsUrl":"\#(next)","records":[{"Id":"1"}]}"#)
      }
      let pages = try await scripted.session().query("SELECT Id FROM X", ahead: isAhead)
      let error = await #expect(throws: OrgError.self) { while try await pages.next() != nil {} }
      #expect(error?.kind == .invalidResponse)
      #expect(scripted.log.count == 1, "\(scripted.log.map(\.rawTarget))")
    }
    #expect(heard.now == 0)
    other.stop()
  }

  @Test(.timeLimit(.minutes(10)))
  func `a page requested with an old token does not renew the new one`() async throws {
    let asked = AsyncStream.makeStream(of: Void.self)
    let continuation = asked.continuation
    let scripted = try ScriptedOrg { request in
      if request.path.hasSuffix("/userinfo") { return nil }
      let isOld = request.headers["Authorization"] == "Bearer token-1"
      if request.path.hasSuffix("-3") {
        defer { continuation.finish() }
        if isOld { return .json(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"expired"}]"#) }
        return .json(200, #"{"totalSize":2,"done":true,"records":[{"Id":"2"}]}"#)
      }
      if request.path.hasSuffix("/limits") {
        return isOld
          ? .json(401, #"[{"errorCode":"INVALID_SESSION_ID","message":"expired"}]"#)
          : .json(200, "{}")
      }
      return .json(
        200,
        #"{"totalSize":2,"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-3","#
          + #""records":[{"Id":"1"}]}"#)
    }
    let session = try await scripted.session()
    let pages = session.query("SELECT Id FROM X")
    #expect(try await pages.next() != nil)
    for await _ in asked.stream {}
    // Another request finds that the token has expired, and renews it.
    _ = try await session.send(OrgCall(.limits, "GET", session.path("limits")))
    #expect(scripted.tokenRequests.count == 2)
    #expect(try await pages.next() != nil)
    #expect(try await pages.next() == nil)
    #expect(scripted.tokenRequests.count == 2, "the new token was renewed because of an old one")
    #expect(session.instanceURL == scripted.url)
  }
}
