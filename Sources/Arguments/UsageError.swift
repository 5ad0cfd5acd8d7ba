/// A usage error: the fault in a command line, and the suggested fix.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The command, with the program's name: "attache prime".
  package var command: String
  /// One sentence that names the fault.
  package let message: String
  /// The suggested fix, or where to find it.
  package let hint: String?

  package init(_ message: String, hint: String? = nil, command: String = "") {
    self.command = command
    self.message = message
    self.hint = hint
  }

  /// The sentence, with the hint in parentheses.
  package var description: String {
    hint.map { "\(message) (\($0))" } ?? message
  }
}
