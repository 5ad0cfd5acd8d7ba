import HTTP
import JSON
import System

/// The result of sending a request once.
struct OrgExchange: Sendable {
  let result: Result<HTTPResponse, HTTPError>
  /// The number of unpaired surrogates in the response that were replaced with U+FFFD.
  let replacedHalves: Int
  private let fault: OrgFault?

  /// Creates a result.
  ///
  /// Escapes in JSON are decoded, so that IDs and dates can be compared by their bytes.
  init(_ result: Result<HTTPResponse, HTTPError>) {
    var result = result
    var halves = 0
    if case .success(let response) = result,
      response.headers["Content-Type"]?.lowercased().contains("json") == true,
      let plain = JSONText.plain(response.body)
    {
      halves = plain.replacedHalves
      result = .success(
        HTTPResponse(status: response.status, headers: response.headers, body: plain.bytes))
    }
    self.result = result
    replacedHalves = halves
    if case .success(let response) = result, !HTTPStatus.success.contains(response.status) {
      fault = OrgFault(response.body)
    } else {
      fault = nil
    }
  }

  var response: HTTPResponse? {
    if case .success(let response) = result { return response }
    return nil
  }

  /// The outcome from which the retry policy decides.
  func outcome(of call: OrgCall) -> RetryPolicy.Outcome {
    switch result {
    case .success(let response) where Self.isPage(response, call): .page
    case .success(let response) where isForeign(response, call):
      .foreign(
        status: response.status, code: fault?.meaning,
        retryAfterSeconds: Self.retryAfter(response.headers))
    case .success(let response):
      .answer(
        status: fault?.status ?? response.status, code: fault?.meaning,
        retryAfterSeconds: Self.retryAfter(response.headers))
    case .failure(let error): .failure(error.kind, error.phase)
    }
  }

  /// Whether the response is an error that is not in the org's own form.
  ///
  /// The answer to a condition needs no body: only the org knows the record's date.
  private func isForeign(_ response: HTTPResponse, _ call: OrgCall) -> Bool {
    guard response.status >= 400, let fault, !fault.isRefusal(of: call) else { return false }
    return response.status != 412 || !call.isConditional || !response.body.isEmpty
  }

  /// Whether the response is an HTML page, such as a login page or a proxy's page with status 200.
  private static func isPage(_ response: HTTPResponse, _ call: OrgCall) -> Bool {
    guard let expected = call.expected, HTTPStatus.success.contains(response.status),
      response.status != 204,
      // A job may have no rows of a kind.
      !(response.body.isEmpty && (!call.isRead || expected == .csv))
    else { return false }
    let type = response.headers["Content-Type"]?.uppercased()
    return type?.contains(expected.rawValue) != true
  }

  /// The reason for a repeat, for messages.
  var reason: String {
    switch result {
    case .success(let response):
      ["HTTP \(response.status)", fault?.code].compactMap { $0 }.joined(separator: " ")
    case .failure(let error): error.message
    }
  }

  /// The kind of error that a new login may fix.
  var reasonToRenew: OrgError.Kind { redirect == nil ? .authentication : .invalidResponse }

  /// The target of a redirect, without a path that might contain a secret; nil if there is none.
  private var redirect: String? {
    guard case .success(let response) = result, (300..<400).contains(response.status),
      response.status != 304, let address = response.headers["Location"]
    else { return nil }
    let parts = address.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].hasSuffix(":"), parts[1].isEmpty else { return "another path" }
    return String(parts[2].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
  }

  /// The error for the caller.
  func error(_ kind: OrgError.Kind, _ call: OrgCall, isAmbiguous: Bool = false) -> OrgError {
    switch result {
    case .success(let response) where Self.isPage(response, call):
      OrgError(
        kind, status: response.status,
        message:
          "the response is \(response.headers["Content-Type"]?.prefix { $0 != ";" } ?? "without a content type"), not \((call.expected ?? .json).rawValue)",
        request: call.name, isAmbiguous: isAmbiguous)
    case .success(let response):
      OrgError(
        kind, status: response.status, code: fault?.code,
        message: fault?.message ?? redirect.map {
          "the org redirects to \($0), but no token is sent there"
        } ?? HTTPStatus.words(response.status),
        fields: fault?.fields ?? [], request: call.name, isAmbiguous: isAmbiguous)
    case .failure(let error):
      OrgError(kind, message: error.message, request: call.name, isAmbiguous: isAmbiguous)
    }
  }

  /// The delay in seconds, also computed from a date and the response's date; nil if there is no
  /// usable value.
  private static func retryAfter(_ headers: HTTPHeaders) -> Int? {
    guard let text = headers["Retry-After"] else { return nil }
    if let seconds = Int(text) { return seconds >= 0 ? seconds : nil }
    guard let until = Dates.milliseconds(http: text),
      let now = headers["Date"].flatMap({ Dates.milliseconds(http: $0) }), until >= now
    else { return nil }
    return Int((until - now) / 1000)
  }
}
