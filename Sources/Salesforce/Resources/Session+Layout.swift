import HTTP

extension Session {
  /// The page layout of an sObject for this user as the org's bytes: one JSON object.
  ///
  /// The org chooses parameters that are nil.
  package func layout(
    _ sObject: String, formFactor: String? = nil, layoutType: String? = nil, mode: String? = nil,
    recordTypeID: String? = nil
  ) async throws(OrgError) -> [UInt8] {
    let given = [
      ("formFactor", formFactor), ("layoutType", layoutType), ("mode", mode),
      ("recordTypeId", recordTypeID),
    ]
    let pairs = given.compactMap { name, value in
      value.flatMap { $0.isEmpty ? nil : (name, $0) }
    }
    let query = pairs.isEmpty ? "" : "?" + HTTPQuery.string(pairs)
    let call = OrgCall(.layout, "GET", path("ui-api/layout/\(HTTPQuery.encode(sObject))") + query)
    return try await object(call)
  }

  /// A response that is one JSON object, as the org's bytes.
  func object(_ call: OrgCall) async throws(OrgError) -> [UInt8] {
    let response = try await send(call)
    guard try Self.parse(response, call).object != nil else {
      throw Self.invalidResponse("the response is not an object", call)
    }
    return response.body
  }
}
