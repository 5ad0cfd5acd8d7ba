import HTTP

extension Session {

  /// What a SOSL search finds, as the org's bytes: `{"searchRecords": […]}`.
  ///
  /// A search has no pages. What lies beyond its limit is left out without a word.
  package func search(_ sosl: String) async throws(OrgError) -> [UInt8] {
    let call = OrgCall(.search, "GET", path("search") + "?" + HTTPQuery.string([("q", sosl)]))
    let body = try await send(call).body
    guard Self.firstByte(body) == UInt8(ascii: "{"), Self.lastByte(body) == UInt8(ascii: "}") else {
      throw Self.invalidResponse("the answer is not what a search finds", call)
    }
    return body
  }
}
