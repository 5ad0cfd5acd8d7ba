/// The rules for the shape of a source file: lengths and documentation.
enum Shape {
  static let fileLines = 500
  static let functionLines = 70

  /// The functions of a file that are too long, with their lines and lengths.
  ///
  /// `swift format` puts the closing brace of a declaration at the indentation of its first line,
  /// which is enough to find the end.
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

  /// Declarations without a required doc comment, by line, counted from 1.
  ///
  /// Every `public` declaration and every `package` type needs one. Members that other modules or
  /// the tests use are documented if their name is not enough: a comment that only repeats the name
  /// does not help.
  static func undocumented(_ lines: [Substring]) -> [Int] {
    var found: [Int] = []
    for (index, line) in lines.enumerated() {
      let code = line.drop { $0 == " " }
      let isSharedType =
        code.hasPrefix("package ")
        && code.contains(/^package ((indirect|final) )*(struct|class|enum|protocol|actor)\b/)
      guard code.hasPrefix("public ") || isSharedType else { continue }
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

  /// The types that a file declares, without nested ones.
  static func types(_ lines: [Substring]) -> [String] {
    lines.filter {
      $0.first?.isWhitespace == false && !$0.hasPrefix("//") && !$0.contains(" import ")
        && !$0.hasPrefix("import ")
    }.compactMap { line in
      line.prefixMatch(of: /(@\w+ |[a-z]+ )*(struct|class|enum|protocol|actor|typealias) (\w+)/).map
      { String($0.output.3) }
    }
  }
}
