import HTTP

/// A request as the org received it, for tests that record what is sent.
package struct ReceivedRequest: Sendable {
  package let method: String
  /// The path and query, as received.
  package let target: String
  /// The user name of its token, if the token is valid.
  package let user: String?
  /// The header fields in order, with their names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]

  init(_ request: ServerRequest, user: String?) {
    self.user = user
    (method, target, body) = (request.method, request.rawTarget, request.body)
    headers = request.headers.all.map { ($0.name.lowercased(), $0.value) }
  }
}
