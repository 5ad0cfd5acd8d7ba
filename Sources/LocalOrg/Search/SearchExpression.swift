/// The expression to search for: words and phrases joined by AND, OR and AND NOT.
indirect enum SearchExpression: Equatable {
  /// Adjacent words in one field.
  case phrase([WordPattern])
  case all([SearchExpression])
  case any([SearchExpression])
  /// The first, and none of the others.
  case except(SearchExpression, [SearchExpression])

  /// Whether a record matches, given the words of each of its fields.
  func matches(_ fields: [[[Character]]]) -> Bool {
    switch self {
    case .phrase(let patterns): fields.contains { Self.contains($0, patterns) }
    case .all(let parts): parts.allSatisfy { $0.matches(fields) }
    case .any(let parts): parts.contains { $0.matches(fields) }
    case .except(let wanted, let others):
      wanted.matches(fields) && !others.contains { $0.matches(fields) }
    }
  }

  /// The words of a text: runs of letters and digits, in lower case.
  static func words(of text: String) -> [[Character]] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }.map(Array.init)
  }

  private static func contains(_ words: [[Character]], _ patterns: [WordPattern]) -> Bool {
    guard words.count >= patterns.count else { return false }
    return (0...(words.count - patterns.count)).contains { start in
      patterns.indices.allSatisfy { patterns[$0].matches(words[start + $0]) }
    }
  }
}

/// A word with wildcards.
struct WordPattern: Equatable {
  enum Part: Equatable {
    case character(Character)
    /// `?`
    case one
    /// `*`
    case many
  }

  var parts: [Part]

  /// The number of given characters.
  var length: Int {
    parts.count { if case .character = $0 { true } else { false } }
  }

  /// The longest run of given characters that SQLite compares in the same way as this engine.
  var literal: String? {
    var best = ""
    var run = ""
    for part in parts {
      if case .character(let character) = part, character.isASCII {
        run.append(character)
        if run.count > best.count { best = run }
      } else {
        run = ""
      }
    }
    return best.isEmpty ? nil : best
  }

  /// Compares from left to right; if the part after a star does not match, the star takes one more
  /// character.
  func matches(_ word: [Character]) -> Bool {
    var (place, index) = (0, 0)
    var star: (place: Int, index: Int)?
    while index < word.count {
      if place < parts.count, parts[place] == .many {
        star = (place, index)
        place += 1
      } else if place < parts.count, accepts(place, word[index]) {
        place += 1
        index += 1
      } else if let last = star {
        star = (last.place, last.index + 1)
        (place, index) = (last.place + 1, last.index + 1)
      } else {
        return false
      }
    }
    return parts[place...].allSatisfy { $0 == .many }
  }

  private func accepts(_ place: Int, _ character: Character) -> Bool {
    switch parts[place] {
    case .character(let wanted): wanted == character
    case .one: true
    case .many: false
    }
  }
}
