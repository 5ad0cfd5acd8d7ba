/// What is wrong with the words of a command line, and what to write instead.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The command that was meant, with the program's name: "attache prime".
  package var command: String
  /// One sentence: what is wrong.
  package let message: String
  /// What to write instead, or where to look.
  package let hint: String?

  /// An error about a command's words.
  package init(_ message: String, hint: String? = nil, command: String = "") {
    self.command = command
    self.message = message
    self.hint = hint
  }

  /// The sentence, with its hint in parentheses.
  package var description: String {
    hint.map { "\(message) (\($0))" } ?? message
  }
}
