/// Work that a signal or a deadline may end: what is said of it then, to whoever waits for it and in the
/// ledger.
package enum InterruptibleWork: String, Sendable {
  /// A run of a pipeline.
  case run
  /// The syncs of a store.
  case sync
  /// The demo.
  case demo

  /// That a signal ended it.
  package var interruptedText: String { "the \(rawValue) was interrupted" }
  /// The code of an error that says so.
  package var interruptedCode: String { "\(rawValue).interrupted" }

  /// That its deadline ended it.
  package var deadlineText: String { "the \(rawValue)'s deadline was reached" }
  /// The same for whoever may raise it.
  package func deadlineText(seconds: Int) -> String {
    "the \(rawValue) reached its deadline of \(seconds) seconds"
  }
  /// The code of an error that says so.
  package var deadlineCode: String { "\(rawValue).deadline" }
}
