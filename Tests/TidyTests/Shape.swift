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

  private static func words(of line: Substring) -> [Substring] {
    line.utf8.split(separator: UInt8(ascii: " ")).map(Substring.init)
  }

  private static func startsFunction(_ line: Substring) -> Bool {
    var words = words(of: line)[...]
    while let word = words.first, word.hasPrefix("@") || modifiers.contains(word) {
      words = words.dropFirst()
    }
    guard let word = words.first else { return false }
    return word == "func" || word.hasPrefix("init(") || word.hasPrefix("init<")
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private", "static", "final", "mutating",
    "nonmutating", "nonisolated", "borrowing", "consuming", "override", "convenience", "required",
    "indirect",
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
        code.hasPrefix("package ") && !code.contains("typealias ") && type(declaredBy: code) != nil
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
    lines.compactMap { $0.first == " " ? nil : type(declaredBy: $0) }
  }

  /// The type that a line declares, after any attributes and modifiers; nil if it declares none.
  private static func type(declaredBy line: Substring) -> String? {
    let words = words(of: line)
    guard let place = words.firstIndex(where: typeKeywords.contains), place + 1 < words.count,
      words[..<place].allSatisfy({ $0.hasPrefix("@") || modifiers.contains($0) })
    else { return nil }
    return String(words[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
  }

  private static let typeKeywords: Set<Substring> = [
    "struct", "class", "enum", "protocol", "actor", "typealias",
  ]
}
