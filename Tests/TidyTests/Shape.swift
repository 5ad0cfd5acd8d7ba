/// What the shape of a source file is held to: lengths and documentation.
enum Shape {
  static let fileLines = 500
  static let functionLines = 70

  /// The functions of `file` that are longer than allowed: name and length.
  ///
  /// `swift format` puts the closing brace of a declaration at the indentation of its first line,
  /// which is all that is needed to find the end.
  static func longFunctions(_ lines: [Substring]) -> [(line: Int, length: Int)] {
    var found: [(Int, Int)] = []
    for (index, line) in lines.enumerated() where startsFunction(line) {
      let indentation = line.prefix { $0 == " " }
      let end = lines[(index + 1)...].firstIndex {
        $0.hasPrefix(indentation + "}")
          || (!$0.isEmpty && !$0.hasPrefix(indentation + " ") && !$0.hasPrefix(indentation + ")")
            && !$0.hasPrefix(indentation + "{") && !$0.hasPrefix(indentation + "#"))
      }
      let length = (end ?? lines.count) - index
      if length > functionLines { found.append((index + 1, length)) }
    }
    return found
  }

  private static func startsFunction(_ line: Substring) -> Bool {
    var words = line.split(separator: " ")[...]
    while let word = words.first, word.hasPrefix("@") || modifiers.contains(word) {
      words = words.dropFirst()
    }
    guard let word = words.first else { return false }
    return word == "func" || word.hasPrefix("init(") || word.hasPrefix("init<")
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private", "static", "final", "mutating",
    "nonmutating", "nonisolated", "borrowing", "consuming", "override", "convenience", "required",
  ]

  /// `public` and `package` declarations without a doc comment above them: their 1-based lines.
  static func undocumented(_ lines: [Substring]) -> [Int] {
    var found: [Int] = []
    for (index, line) in lines.enumerated() {
      let code = line.drop { $0 == " " }
      guard code.hasPrefix("public ") || code.hasPrefix("package ") else { continue }
      guard !code.contains(" import "), !code.contains(" extension ") else { continue }
      var above = index - 1
      while above >= 0 {
        let text = lines[above].drop { $0 == " " }
        guard text.hasPrefix("@") else { break }
        above -= 1
      }
      let text = above >= 0 ? lines[above].drop { $0 == " " } : ""
      if !text.hasPrefix("///") && !text.hasPrefix("*/") { found.append(index + 1) }
    }
    return found
  }
}
