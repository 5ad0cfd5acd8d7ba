/// Suggestions for misspelled words.
package enum Spelling {
  /// The known word nearest to `word`; nil if none is similar.
  ///
  /// With `takesBeginnings`, a prefix of at least three letters counts as a single mistake.
  package static func nearest(
    _ word: String, among known: [String], takesBeginnings: Bool = false
  ) -> String? {
    let lower = word.lowercased()
    if let same = known.first(where: { $0.lowercased() == lower }) { return same }
    let ranked = known.map { known in
      let other = known.lowercased()
      let isBeginning = takesBeginnings && lower.count >= 3 && other.hasPrefix(lower)
      return (word: known, distance: isBeginning ? 1 : distance(lower, other))
    }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, word.count / 3) ? best.word : nil
  }

  /// The letters of `word` that only look like the ASCII letters of `known` at the same positions;
  /// nil if the words differ otherwise.
  package static func lookAlikes(_ word: String, of known: String) -> [(
    wrong: Character, right: Character
  )]? {
    guard word.count == known.count, word != known else { return nil }
    var found: [(wrong: Character, right: Character)] = []
    for (wrong, right) in zip(word, known) where wrong != right {
      guard !wrong.isASCII, right.isASCII else { return nil }
      found.append((wrong, right))
    }
    return found
  }

  /// The number of letters to add, remove, replace or swap to turn one word into the other.
  package static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var before: [Int] = []
    var above = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        let cost = left[row] == right[column] ? 0 : 1
        var best = min(above[column] + cost, above[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, before[column - 1] + 1)
        }
        current.append(best)
      }
      before = above
      above = current
    }
    return above[right.count]
  }
}
