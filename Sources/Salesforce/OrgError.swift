import HTTP

/// The reason an org did not do what was requested.
public struct OrgError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The category of an error.
  package enum Kind: Sendable, Hashable {
    /// No response, or only responses of a failing server; retries are exhausted.
    case unreachable
    /// No response in time.
    case timeout
    /// The login failed, or the session cannot be renewed.
    case authentication
    /// The server's certificate is not trusted: it has expired, is for another host, or has no
    /// trusted authority. The org itself did not respond.
    case certificate
    /// The user does not have the permission.
    case permission
    /// The org's request limit or attache's budget is exhausted.
    case limit
    /// The org rejected the request with this code.
    case refused(String)
    /// The resource does not exist or is not visible.
    case notFound
    /// The response is not one of an org.
    case invalidResponse
    /// The response exceeds the size limit: request less at a time.
    case tooLarge
    /// The query's cursor has expired: start again from the last key.
    case locatorExpired
    /// The task was cancelled.
    case cancelled
    /// The configuration is invalid.
    case configuration

    /// Whether the org understood the request and rejected it.
    package var isRefusal: Bool {
      switch self {
      case .refused, .notFound, .permission: true
      default: false
      }
    }
  }

  package let kind: Kind
  /// The HTTP status; nil without a response.
  public let status: Int?
  /// The org's `errorCode`.
  public let code: String?
  /// The message from the org or from attache.
  public let message: String
  /// The fields that the org names.
  package let fields: [String]
  /// The method and path of the request, without its query.
  package let request: String
  /// Whether a write may or may not have been executed: never repeat it blindly.
  package let isAmbiguous: Bool
  /// The address of the server to which the request was sent; nil if it was not sent.
  package private(set) var address: String?

  package init(
    _ kind: Kind, status: Int? = nil, code: String? = nil, message: String, fields: [String] = [],
    request: String, isAmbiguous: Bool = false
  ) {
    self.kind = kind
    self.status = status
    self.code = code
    self.message = message
    self.fields = fields
    self.request = request
    self.isAmbiguous = isAmbiguous
  }

  /// Whether the error may affect only this kind of request, so that another kind may succeed, such
  /// as a query instead of a job.
  package var mayFareBetter: Bool {
    switch kind {
    case .refused, .notFound, .permission, .invalidResponse, .tooLarge, .locatorExpired,
      .unreachable, .timeout:
      true
    case .authentication, .certificate, .limit, .cancelled, .configuration: false
    }
  }

  /// Whether the server answered that the request is too large.
  package var saysTooLarge: Bool { status == HTTPStatus.tooLarge }

  /// The same error for a single record, the smallest unit that can be requested.
  package func of(record: String) -> OrgError {
    OrgError(
      kind, status: status, code: code,
      message: "the record \(record) alone exceeds the limit: \(message)", request: request
    ).sent(to: address)
  }

  /// The same error with the name of the requested object.
  package func asked(about sobject: String) -> OrgError {
    OrgError(
      kind, status: status, code: code, message: "requesting \(sobject): \(message)",
      fields: fields, request: request, isAmbiguous: isAmbiguous
    ).sent(to: address)
  }

  /// The same error with the address of the server, without a path.
  package func sent(to url: String?) -> OrgError {
    guard address == nil, let url else { return self }
    var error = self
    error.address = url.split(separator: "/", omittingEmptySubsequences: false).prefix(3)
      .joined(separator: "/")
    return error
  }

  /// The org's message, the request and what to do.
  public var description: String {
    let answer = [status.map(String.init), code].compactMap { $0 }.joined(separator: " ")
    let place = answer.isEmpty ? request : "\(request) (\(answer))"
    let doubt = isAmbiguous ? "; it is unknown whether the write was executed" : ""
    return "\(place): \(message)\(doubt); \(mend)"
  }

  private var mend: String {
    switch kind {
    case .unreachable, .timeout: "try again later"
    case .authentication: "check the login and the connected app"
    case .certificate: "check the address, its certificate and the file of authorities"
    case .permission: "grant the user access, or request less"
    case .limit: "try again when the limit allows it"
    case .refused: "correct what the org reports"
    case .notFound: "check the name and the user's access"
    case .invalidResponse: "check that the address is that of an org"
    case .tooLarge: "request less at a time, or omit long fields"
    case .locatorExpired: "start the query again"
    case .cancelled: "the request was cancelled"
    case .configuration: "correct the configuration"
    }
  }
}
