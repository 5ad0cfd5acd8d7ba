import HTTP
import System

/// A request to an org.
package struct OrgCall: Sendable {
  /// The content of a response, by its Content-Type.
  package enum Content: String, Sendable {
    /// Data for programs.
    case json = "JSON"
    /// The rows of a bulk job.
    case csv = "CSV"
  }

  /// The kind under which it is counted.
  package var kind: RequestKind
  package var method: String
  /// The encoded path and query, starting with `/services/`.
  package var path: String
  /// The header fields in addition to the token.
  package var headers: HTTPHeaders
  /// The body; JSON unless the header fields say otherwise.
  package var body: [UInt8]?
  /// Whether the request changes nothing, so that it may be repeated any number of times.
  package var isRead: Bool
  /// The expected content of a successful response; nil for any.
  package var expected: Content? = .json
  /// The maximum number of repeats, if the caller has another way to get the same; nil for as many
  /// as the policy allows.
  var mostRetries: Int?
  /// Whether a rejection by the org is returned instead of thrown.
  var returnsRefusals = false
  /// Secrets in the request, other than the token, that must not appear in messages: an assertion,
  /// a client secret.
  var secrets: [String] = []
  /// Creates the body of a call that names its session there instead of in a header field, from the
  /// token in use.
  var envelope: (@Sendable (String) -> [UInt8])?

  /// Creates a call.
  ///
  /// It is a read if its method is GET or HEAD, unless specified otherwise.
  package init(
    _ kind: RequestKind, _ method: String, _ path: String, headers: HTTPHeaders = [:],
    body: [UInt8]? = nil, isRead: Bool? = nil
  ) {
    self.kind = kind
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
    self.isRead = isRead ?? (method == "GET" || method == "HEAD")
  }

  /// Whether the org refuses it if the record was modified since a moment.
  var isConditional: Bool { headers["If-Unmodified-Since"] != nil }

  /// The method and path without the query, for messages.
  package var name: String { method + " " + path.prefix { $0 != "?" } }

  /// The response with all secrets of this call masked, in messages and records, so that it may be
  /// stored and displayed.
  func shown(_ response: HTTPResponse, token: String?) -> HTTPResponse {
    let sent = secrets + (token.map { [$0] } ?? [])
    // Also mask the encoded form, as in a form or an address.
    let mask = SecretMask(sent + sent.map { HTTPQuery.encode($0) }.filter { !sent.contains($0) })
    return HTTPResponse(
      status: response.status, headers: response.headers,
      body: mask.applied(to: response.body))
  }

  /// The HTTP request for this call.
  func request(base: String, token: String?, timeoutSeconds: Int) -> HTTPRequest {
    var headers = self.headers
    var body = self.body
    if let envelope {
      body = token.map(envelope)
    } else if let token {
      headers["Authorization"] = "Bearer " + token
    }
    if headers["Accept"] == nil { headers["Accept"] = "application/json" }
    if body != nil, headers["Content-Type"] == nil {
      headers["Content-Type"] = "application/json; charset=UTF-8"
    }
    return HTTPRequest(
      method, base + path, headers: headers, body: body, timeoutSeconds: timeoutSeconds)
  }
}
