/// Commands and options that were renamed or removed, with their replacements.
///
/// A former word is not parsed. It only changes the hint of the usage error that it causes.
package struct FormerWords: Sendable {
  /// What to write, by the former option without its dashes: `["again": "--retry"]`.
  private let options: [String: String]
  /// What to write, by the two words of the former command: `["reconcile retry": "attache decide"]`.
  private let commands: [String: String]

  package init(options: [String: String] = [:], commands: [String: String] = [:]) {
    (self.options, self.commands) = (options, commands)
  }

  /// Returns the hint for a former option; nil if a command lacks an option that replaces it.
  func hint(forOption name: String, among known: [String]) -> String? {
    guard let replacement = options[name] else { return nil }
    let named = replacement.split(separator: " ").filter { $0.hasPrefix("--") }
    guard named.allSatisfy({ known.contains(String($0.dropFirst(2))) }) else { return nil }
    return "write \(replacement)"
  }

  /// Returns the error for a command line that calls a former command; nil for others.
  func error(callingBy words: [String]) -> UsageError? {
    let name = words.prefix(2).joined(separator: " ")
    return commands[name].map { UsageError("there is no command \"\(name)\"", hint: "write \($0)") }
  }
}
