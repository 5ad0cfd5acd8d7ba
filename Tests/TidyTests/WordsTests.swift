import Foundation
import Testing

/// No page, comment, test name or string uses a word of the left column of docs/dev/style.md's list.
@Suite struct WordsTests {
  /// A regular expression for words of the list, without regard to case, and a word to use instead.
  struct Word: Sendable, CustomTestStringConvertible {
    let pattern: String
    let instead: String

    init(_ pattern: String, _ instead: String) { (self.pattern, self.instead) = (pattern, instead) }

    var testDescription: String { instead }
  }

  static let words = [
PATTERNS
  ]

  /// Files that quote the words.
  private static let quoting = ["docs/dev/style.md", "Tests/TidyTests/WordsTests.swift"]

  /// Folders and files that are not clean yet. A test fails if one of them is clean, so that it is
  /// removed from this list.
  private static let exceptions: [String] = [
EXCEPTIONS
  ]

  /// All words, each in a group of its own number.
  private static func expression() throws -> NSRegularExpression {
    try NSRegularExpression(
      pattern: words.map { "((?:\($0.pattern)))".replacing("(", with: "(") }.joined(separator: "|"),
      options: .caseInsensitive)
  }
}
