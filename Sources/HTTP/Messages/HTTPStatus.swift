/// The meaning of HTTP status codes.
package enum HTTPStatus {
  /// The statuses of success.
  package static let success = 200..<300
  /// The status of a request that is too large.
  package static let tooLarge = 413

  /// Returns the message for a response without a message.
  package static func words(_ status: Int) -> String {
    "the org answered with HTTP status \(status)"
      + (status == tooLarge ? ": the request is too large" : "")
  }
}
