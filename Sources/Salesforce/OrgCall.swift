import HTTP
import System

/// One request to an org.
package struct OrgCall: Sendable {
  /// What an answer holds, as its Content-Type names it.
  package enum Content: String, Sendable {
    /// Data for programs.
    case json = "JSON"
    /// Rows of a bulk job.
    case csv = "CSV"
  }

  /// What it is counted as.
  package var kind: RequestKind
  /// The method.
  package var method: String
  /// Path and query, encoded, from `/services/`.
  package var path: String
  /// Fields beside the token.
  package var headers: HTTPHeaders
  /// The body; JSON unless the fields say otherwise.
  package var body: [UInt8]?
  /// Whether it changes nothing, and may be repeated as often as it takes.
  package var isRead: Bool
  /// What the answer to a success must be; nil for anything.
  package var expected: Content? = .json
  /// Whether an answer that says no to what was asked is handed back instead of thrown.
  var returnsRefusals = false
  /// What it sends beside the token and nobody may repeat: an assertion, a client's secret.
  var secrets: [String] = []
  /// The body of a call that names its session there, and not in a field: made for the token that it is sent
  /// with.
  var envelope: (@Sendable (String) -> [UInt8])?

  /// A call; it is a read if its method is GET or HEAD, unless said otherwise.
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

  /// Method and path, without the query: fit for messages.
  package var name: String { method + " " + path.prefix { $0 != "?" } }

  /// The answer as it may be kept and shown: no secret that this call sent stands in it, be it in words or in records.
  func shown(_ response: HTTPResponse, token: String?) -> HTTPResponse {
    let sent = secrets + (token.map { [$0] } ?? [])
    // As it was sent in a form or an address, too.
    let mask = SecretMask(sent + sent.map { HTTPQuery.encode($0) }.filter { !sent.contains($0) })
    return HTTPResponse(
      status: response.status, headers: response.headers,
      body: mask.applied(to: response.body))
  }

  /// The request on the wire.
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
