import HTTP

extension Session {
  /// The response of any resource as bytes.
  ///
  /// A path without a leading slash is relative to this version's data resources.
  package func bytes(
    _ method: String, _ resource: String, query: [(name: String, value: String)] = [],
    body: [UInt8]? = nil
  ) async throws(OrgError) -> [UInt8] {
    var address = resource.hasPrefix("/") ? resource : path(resource)
    if !query.isEmpty { address += "?" + HTTPQuery.string(query.map { ($0.name, $0.value) }) }
    var call = OrgCall(.other, method, address, body: body)
    call.expected = nil
    return try await send(call).body
  }
}
