/// An HTTP request to send.
package struct HTTPRequest: Sendable {
  /// The method, in upper case.
  package var method: String
  /// The absolute address, already encoded.
  package var url: String
  /// The fields to send.
  ///
  /// The client sets `Host`, `Content-Length` and `Accept-Encoding`.
  package var headers: HTTPHeaders
  /// The body; nil for none.
  package var body: [UInt8]?
  /// The part of a file that is sent as the body, instead of `body`; nil for none.
  package var file: FilePart?
  /// The maximum time of the whole exchange, in seconds from its start.
  package var timeoutSeconds: Int

  /// The default of the maximum time of an exchange, in seconds.
  package static let defaultTimeoutSeconds = 120

  package init(
    _ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil,
    timeoutSeconds: Int = defaultTimeoutSeconds
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeoutSeconds = timeoutSeconds
  }

  /// Whether the method only reads, so that repeating the request changes nothing.
  var isSafe: Bool { method == "GET" || method == "HEAD" || method == "OPTIONS" }

  /// The address without its query, which may contain values or a secret.
  ///
  /// For use in messages.
  package var urlWithoutQuery: String {
    String(url.prefix { $0 != "?" && $0 != "#" })
  }
}
