import JSON

// What is refused of a request, whatever it asks for.
extension OrgError {
  /// The entry of an error list of a single resource.
  var entry: JSONValue {
    var object: JSONObject = ["message": .string(message), "errorCode": .string(code)]
    if !fields.isEmpty { object["fields"] = JSONValue(fields) }
    return .object(object)
  }

  /// The entry of an error list inside a collection's result: the code is a `statusCode` there.
  var collectionEntry: JSONValue {
    [
      "statusCode": .string(code), "message": .string(message), "fields": JSONValue(fields),
    ]
  }

  /// The method is not one of this resource's.
  static func methodNotAllowed(_ method: String, allowed: [String]) -> OrgError {
    OrgError(
      status: 405, code: "METHOD_NOT_ALLOWED",
      message: "HTTP Method '\(method)' not allowed. Allowed are \(allowed.joined(separator: ","))"
    )
  }

  /// A body that is not what the resource reads.
  static func unreadableBody(_ message: String) -> OrgError {
    OrgError(code: "JSON_PARSER_ERROR", message: message)
  }

  /// Too much in one request.
  static func tooMany(_ what: String, _ count: Int, limit: Int) -> OrgError {
    OrgError(
      code: "EXCEEDED_MAX_SIZE_REQUEST",
      message: "record limit reached. cannot submit more than \(limit) \(what) per request, "
        + "got \(count)")
  }

  /// No such session.
  static let invalidSession = OrgError(
    status: 401, code: "INVALID_SESSION_ID", message: "Session expired or invalid")

  /// The day's calls are used up.
  static let limitExceeded = OrgError(
    status: 403, code: "REQUEST_LIMIT_EXCEEDED", message: "TotalRequests Limit exceeded.")
}
