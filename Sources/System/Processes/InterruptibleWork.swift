/// Work that a signal or a deadline may interrupt, with its messages and error codes.
package enum InterruptibleWork: String, Sendable {
  case run
  /// The syncs of a store.
  case sync
  /// A worker of a run.
  case work
  case publication
  case demo

  /// The message for an interruption by a signal.
  package var interruptedText: String { "the \(rawValue) was interrupted" }
  /// The error code of an interruption.
  package var interruptedCode: String { "\(rawValue).interrupted" }

  /// The message for a reached deadline.
  package var deadlineText: String { "the \(rawValue)'s deadline was reached" }
  /// The message for a deadline that the user can extend.
  package func deadlineText(seconds: Int) -> String {
    "the \(rawValue) reached its deadline of \(CountText.of(seconds, "second"))"
  }
  /// The error code of a reached deadline.
  package var deadlineCode: String { "\(rawValue).deadline" }
}
