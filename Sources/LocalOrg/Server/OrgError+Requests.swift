import JSON

// Errors that any request can get.
extension OrgError {
  /// The entry in the error list of a single resource.
  var entry: JSONValue {
    var object: JSONObject = ["message": .string(message), "errorCode": .string(code)]
    if !fields.isEmpty { object["fields"] = JSONValue(fields) }
    return .object(object)
  }

  /// The entry in the error list of a collection's result, where the code is named `statusCode`.
  var collectionEntry: JSONValue {
    [
      "statusCode": .string(code), "message": .string(message), "fields": JSONValue(fields),
    ]
  }

  /// The resource does not support the method.
  static func methodNotAllowed(_ method: String, allowed: [String]) -> OrgError {
    OrgError(
      status: 405, code: "METHOD_NOT_ALLOWED",
      message: "HTTP Method '\(method)' not allowed. Allowed are \(allowed.joined(separator: ","))"
    )
  }

  /// The body is not in the format that the resource reads.
  static func unreadableBody(_ message: String) -> OrgError {
    OrgError(code: "JSON_PARSER_ERROR", message: message)
  }

  /// The body is larger than an org reads, as an org reports it.
  static func tooLarge(limit: Int) -> OrgError {
    unreadableBody(
      "Maximum size of request reached. Maximum size of request is \(limit) bytes.")
  }

  /// A request exceeds a limit.
  static func tooMany(_ what: String, _ count: Int, limit: Int) -> OrgError {
    OrgError(
      code: "EXCEEDED_MAX_SIZE_REQUEST",
      message: "record limit reached. cannot submit more than \(limit) \(what) per request, "
        + "got \(count)")
  }

  /// The session is invalid.
  static let invalidSession = OrgError(
    status: 401, code: "INVALID_SESSION_ID", message: "Session expired or invalid")

  /// The daily limit of calls is exhausted.
  static let limitExceeded = OrgError(
    status: 403, code: "REQUEST_LIMIT_EXCEEDED", message: "TotalRequests Limit exceeded.")
}
