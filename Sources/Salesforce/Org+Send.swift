extension Org {
  /// Sends a request as a user and returns the body of the response.
  ///
  /// The first request logs in. An expired session is renewed, and a failed read is repeated. A
  /// response without success is thrown as an error with the org's status and code.
  ///
  /// ```swift
  /// let query = "SELECT COUNT() FROM Account"
  /// print(try await org.send("GET", "query", query: [("q", query)]))
  /// ```
  ///
  /// - Parameters:
  ///   - method: `GET`, `POST`, `PATCH` or `DELETE`.
  ///   - resource: A path below the version's data resources, such as `sobjects/Account`; with a
  ///     leading slash, a path of the org.
  ///   - query: Names and values, not yet encoded.
  ///   - body: JSON text.
  ///   - username: The user whose session is used; nil for the user of the credentials.
  public func send(
    _ method: String, _ resource: String, query: [(name: String, value: String)] = [],
    body: String? = nil, username: String? = nil
  ) async throws(OrgError) -> String {
    let session = try await session(username: username)
    let bytes = try await session.bytes(
      method, resource, query: query, body: body.map { Array($0.utf8) })
    return String(decoding: bytes, as: UTF8.self)
  }
}
