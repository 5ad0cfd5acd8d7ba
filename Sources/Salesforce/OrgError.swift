import HTTP

/// Why an org did not do what was asked.
public struct OrgError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What to make of it.
  package enum Kind: Sendable, Hashable {
    /// No answer came, or only the answer of a server in trouble; retries are used up.
    case unreachable
    /// No answer came in time.
    case timeout
    /// The login failed, or the session cannot be renewed.
    case authentication
    /// The other side's certificate cannot be trusted: it has expired, is another host's, or nobody
    /// known vouches for it. The org itself said nothing.
    case certificate
    /// The user may not do that.
    case permission
    /// The org's limit of requests, or our own budget, is reached.
    case limit
    /// The org understood and said no, with this code.
    case refused(String)
    /// There is no such thing, or it cannot be seen.
    case notFound
    /// The answer is not what an org answers.
    case invalidResponse
    /// The answer is longer than one that is taken: ask for less at a time.
    case tooLarge
    /// The query's cursor is gone: start again from the last key.
    case locatorExpired
    /// The task was cancelled.
    case cancelled
    /// It cannot work as configured.
    case configuration

    /// Whether the org understood the request and said no to it.
    package var isRefusal: Bool {
      switch self {
      case .refused, .notFound, .permission: true
      default: false
      }
    }
  }

  /// What to make of it.
  package let kind: Kind
  /// The HTTP status, nil if no answer came.
  public let status: Int?
  /// The org's `errorCode`.
  public let code: String?
  /// The org's words, or ours.
  public let message: String
  /// The fields that the org names.
  package let fields: [String]
  /// The method and path of the request, without its query.
  package let request: String
  /// A write that may or may not have been done: never send it again blindly.
  package let isAmbiguous: Bool

  /// An error of its parts.
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

  /// Whether it may be about this way of asking alone, so that another one may fare better: what no job brings,
  /// a query may.
  package var mayFareBetter: Bool {
    switch kind {
    case .refused, .notFound, .permission, .invalidResponse, .tooLarge, .locatorExpired,
      .unreachable, .timeout:
      true
    case .authentication, .certificate, .limit, .cancelled, .configuration: false
    }
  }

  /// The same of one record: nothing less can be asked for.
  package func of(record: String) -> OrgError {
    OrgError(
      kind, status: status, code: code,
      message: "the record \(record) alone is too much: \(message)", request: request)
  }

  /// The same with the object that was asked about.
  package func asked(about sobject: String) -> OrgError {
    OrgError(
      kind, status: status, code: code, message: "asked about \(sobject): \(message)",
      fields: fields, request: request, isAmbiguous: isAmbiguous)
  }

  /// What the org said, to which request, and what to do.
  public var description: String {
    let answer = [status.map(String.init), code].compactMap { $0 }.joined(separator: " ")
    let place = answer.isEmpty ? request : "\(request) (\(answer))"
    let doubt = isAmbiguous ? "; it is not known whether the write was done" : ""
    return "\(place): \(message)\(doubt); \(mend)"
  }

  private var mend: String {
    switch kind {
    case .unreachable, .timeout: "try again later"
    case .authentication: "check the login and the connected app"
    case .certificate: "check the address, its certificate and the authorities' file"
    case .permission: "grant the user access, or ask for less"
    case .limit: "try again when the limit allows it"
    case .refused: "correct what the org names"
    case .notFound: "check the name and the user's access"
    case .invalidResponse: "check that the address is an org's"
    case .tooLarge: "ask for less at a time, or leave long fields out"
    case .locatorExpired: "start the query again"
    case .cancelled: "the work was cancelled"
    case .configuration: "correct the configuration"
    }
  }
}
