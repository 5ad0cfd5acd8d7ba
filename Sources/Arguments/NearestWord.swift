/// Finds what was meant by a word that is not known.
enum NearestWord {
  /// `did you mean "…"?`, when one of the words is near enough.
  static func suggestion(for word: String, among words: [String]) -> String? {
    find(for: word, among: words).map { "did you mean \"\($0)\"?" }
  }

  /// The word with the smallest distance, if that is small for its length.
  static func find(for word: String, among words: [String]) -> String? {
    let lowered = Array(word.lowercased().utf8)
    guard !lowered.isEmpty else { return nil }
    var best: (distance: Int, word: String)?
    for candidate in words {
      let other = Array(candidate.lowercased().utf8)
      // A beginning of at least three letters is as good as one slip.
      let isPrefix = lowered.count >= 3 && other.starts(with: lowered)
      let distance = isPrefix ? 1 : self.distance(lowered, other)
      let allowed = isPrefix ? 1 : max(1, min(lowered.count, other.count) / 3)
      if distance <= allowed, distance < best?.distance ?? .max { best = (distance, candidate) }
    }
    return best?.word
  }

  /// The number of insertions, deletions, replacements and swaps of neighbours between two words.
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var value = min(row[j] + 1, last[j + 1] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          value = min(value, before[j - 1] + 1)
        }
        row.append(value)
      }
      before = last
      last = row
    }
    return last[right.count]
  }
}
