/// A request to send.
package struct HTTPRequest: Sendable {
  /// The method in capitals.
  package var method: String
  /// The absolute address, already encoded.
  package var url: String
  /// The fields to send; `Host`, `Content-Length` and `Accept-Encoding` are the client's.
  package var headers: HTTPHeaders
  /// The body, nil for none.
  package var body: [UInt8]?
  /// The longest that the whole exchange may take, from the moment it starts.
  package var timeoutSeconds: Int

  /// The longest that an exchange may take where nobody says otherwise.
  package static let defaultTimeoutSeconds = 120

  /// A request.
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

  /// Whether sending it twice is the same as sending it once and changes nothing.
  var isSafe: Bool { method == "GET" || method == "HEAD" || method == "OPTIONS" }

  /// The address without its query, which may hold values or a secret: fit for messages.
  package var urlWithoutQuery: String {
    String(url.prefix { $0 != "?" && $0 != "#" })
  }
}
