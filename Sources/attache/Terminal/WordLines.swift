/// Splits untrusted text, such as an org's message, into lines.
enum WordLines {
  /// Returns the lines of the text, with `indent` before each line but the first.
  static func of(_ text: String, indent: String) -> [String] {
    let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
    return lines.enumerated().map { ($0 == 0 ? "" : indent) + String($1) }
  }
}
