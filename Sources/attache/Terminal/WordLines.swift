/// The lines of a text from outside, such as an org's message.
enum WordLines {
  /// The text at its line breaks; `indent` stands before each line but the first.
  static func of(_ text: String, indent: String) -> [String] {
    let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
    return lines.enumerated().map { ($0 == 0 ? "" : indent) + String($1) }
  }
}
