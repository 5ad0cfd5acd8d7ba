import HTTP

extension Session {

  /// The result of a SOSL search as the org's bytes: `{"searchRecords": […]}`.
  ///
  /// A search has no pages. Results beyond its limit are silently omitted.
  package func search(_ sosl: String) async throws(OrgError) -> [UInt8] {
    let call = OrgCall(.search, "GET", path("search") + "?" + HTTPQuery.string([("q", sosl)]))
    let body = try await send(call).body
    guard Self.firstByte(body) == UInt8(ascii: "{"), Self.lastByte(body) == UInt8(ascii: "}") else {
      throw Self.invalidResponse("the response is not a search result", call)
    }
    return body
  }
}
