import System

/// Finds the known word that an unknown one was probably meant to be.
package enum NearestWord {
  /// Returns `did you mean "…"?` if one of the words is near enough.
  static func suggestion(for word: String, among words: [String]) -> String? {
    find(for: word, among: words).map { "did you mean \"\($0)\"?" }
  }

  /// Returns the nearest word, which may be abbreviated.
  package static func find(for word: String, among words: [String]) -> String? {
    word.isEmpty ? nil : Spelling.nearest(word, among: words, takesBeginnings: true)
  }
}
