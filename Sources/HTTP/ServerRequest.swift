/// A whole request as a server received it.
package struct ServerRequest: Sendable {
  /// The method as sent.
  package let method: String
  /// The decoded path, without the query.
  package let path: String
  /// Path and query as they came.
  package let rawTarget: String
  /// The decoded pairs of the query, in order.
  package let query: [(String, String)]
  /// The header fields.
  package let headers: HTTPHeaders
  /// The body; empty if there is none.
  package let body: [UInt8]
  /// The address of the client.
  package let remote: String

  /// A request of its parts: the target is taken apart here.
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

  /// The first value of the query under `name`.
  package func query(_ name: String) -> String? {
    query.first { $0.0 == name }?.1
  }
}
