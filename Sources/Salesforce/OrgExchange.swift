import HTTP
import System

/// What came of sending one request once.
struct OrgExchange: Sendable {
  let result: Result<HTTPResponse, HTTPError>
  private let fault: OrgFault?

  init(_ result: Result<HTTPResponse, HTTPError>) {
    self.result = result
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

  /// The case to decide about.
  var outcome: RetryPolicy.Outcome {
    switch result {
    case .success(let response):
      .answer(
        status: response.status, code: fault?.code,
        retryAfterSeconds: Self.retryAfter(response.headers))
    case .failure(let error): .failure(error.kind, error.phase)
    }
  }

  /// Why it is repeated.
  var reason: String {
    switch result {
    case .success(let response):
      ["HTTP \(response.status)", fault?.code].compactMap { $0 }.joined(separator: " ")
    case .failure(let error): error.message
    }
  }

  /// The error that a caller gets.
  func error(_ kind: OrgError.Kind, _ call: OrgCall, isAmbiguous: Bool = false) -> OrgError {
    switch result {
    case .success(let response):
      OrgError(
        kind, status: response.status, code: fault?.code,
        message: fault?.message ?? "the org answered with HTTP status \(response.status)",
        fields: fault?.fields ?? [], request: call.name, isAmbiguous: isAmbiguous)
    case .failure(let error):
      OrgError(kind, message: error.message, request: call.name, isAmbiguous: isAmbiguous)
    }
  }

  /// Seconds, or a date less the answer's own date; nil where it says nothing of use.
  private static func retryAfter(_ headers: HTTPHeaders) -> Int? {
    guard let text = headers["Retry-After"] else { return nil }
    if let seconds = Int(text) { return seconds >= 0 ? seconds : nil }
    guard let until = Dates.milliseconds(http: text),
      let now = headers["Date"].flatMap({ Dates.milliseconds(http: $0) }), until >= now
    else { return nil }
    return Int((until - now) / 1000)
  }
}
