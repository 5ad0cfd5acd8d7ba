extension Org {
  /// Sends a request as a user and returns the body of its answer.
  ///
  /// The login is made with the first request, an expired session is renewed, and a read that fails on
  /// the way is repeated. What is no success is an error with the org's status and code.
  ///
  /// ```swift
  /// let query = "SELECT COUNT() FROM Account"
  /// print(try await org.send("GET", "query", query: [("q", query)]))
  /// ```
  ///
  /// - Parameters:
  ///   - method: `GET`, `POST`, `PATCH` or `DELETE`.
  ///   - resource: Such as `sobjects/Account`, below the version's data resources; with a leading slash
  ///     a path of the org.
  ///   - query: Names and values, which are encoded here.
  ///   - body: JSON text.
  ///   - username: The user as whom to ask; nil for the one that the credentials are for.
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
