/// What a status of an answer says.
package enum HTTPStatus {
  /// The request was done.
  package static let success = 200..<300
}
