/// The reason that a signature is not accepted.
package struct SignatureError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence without a full stop.
  package let message: String
  /// The suggested fix.
  package let fix: String

  init(_ message: String, _ fix: String) { (self.message, self.fix) = (message, fix) }

  /// The message and the suggested fix.
  package var description: String { "\(message); \(fix)" }
}
