import System

/// Finds what was meant by a word of the command line that is not known.
package enum NearestWord {
  /// `did you mean "…"?`, when one of the words is near enough.
  static func suggestion(for word: String, among words: [String]) -> String? {
    find(for: word, among: words).map { "did you mean \"\($0)\"?" }
  }

  /// The word that is meant, which may be cut short.
  package static func find(for word: String, among words: [String]) -> String? {
    word.isEmpty ? nil : Spelling.nearest(word, among: words, takesBeginnings: true)
  }
}
