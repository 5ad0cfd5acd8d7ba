/// Responses to a known number of requests, in order.
protocol AnswerSource<Answer>: AnyObject {
  associatedtype Answer: Sendable
  /// Whether a response is still to be taken.
  var hasMore: Bool { get }
  /// Returns the next response.
  func take() async throws(SyncError) -> Answer
}
