/// A whole answer; a truncated one is an error instead.
package struct HTTPResponse: Sendable {
  /// The status code.
  package let status: Int
  /// The header fields.
  package let headers: HTTPHeaders
  /// The decoded body.
  package let body: [UInt8]

  /// An answer of its parts.
  package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
