/// What a status of an answer says.
package enum HTTPStatus {
  /// The request was done.
  package static let success = 200..<300

  /// What a user is told of an answer that has no words of its own.
  package static func words(_ status: Int) -> String {
    "the org answered with HTTP status \(status)"
      + (status == 413 ? ": the request is too large" : "")
  }
}
