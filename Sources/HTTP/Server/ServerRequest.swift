/// A complete request, as received by a server.
package struct ServerRequest: Sendable {
  package let method: String
  /// The decoded path, without the query.
  package let path: String
  /// The path and query, as received.
  package let rawTarget: String
  /// The decoded pairs of the query, in order.
  package let query: [(String, String)]
  package let headers: HTTPHeaders
  /// The body; empty if there is none.
  package let body: [UInt8]
  /// The address of the client.
  package let remote: String

  /// Creates a request and parses its target.
  package init(
    method: String, rawTarget: String, headers: HTTPHeaders = [:], body: [UInt8] = [],
    remote: String = ""
  ) {
    self.method = method
    self.rawTarget = rawTarget
    self.headers = headers
    self.body = body
    self.remote = remote
    let sides = rawTarget.utf8.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    path = HTTPQuery.decode(path: String(sides.first ?? rawTarget.utf8[...]) ?? rawTarget)
    query = sides.count > 1 ? HTTPQuery.decode(form: String(sides[1]) ?? "") : []
  }

  /// The first value of `name` in the query.
  package func query(_ name: String) -> String? {
    query.first { $0.0 == name }?.1
  }
}
