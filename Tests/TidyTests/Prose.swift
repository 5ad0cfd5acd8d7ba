import Foundation

/// The sentences in a file, each with the line at which it starts.
enum Prose {
  struct Unit: Equatable {
    let line: Int
    let text: String
  }

  /// The comments, test names and string literals of Swift source.
  ///
  /// A literal of one word is a key or a name, not a sentence. Interpolations become "…".
  static func swift(_ text: String) -> [Unit] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    var units: [Unit] = []
    var index = 0
    while index < lines.count {
      let start = index
      if lines[index].hasPrefix("//") {
        var words: [String] = []
        while index < lines.count, lines[index].hasPrefix("//") {
          words.append(String(lines[index].drop { $0 == "/" }))
          index += 1
        }
        units.append(Unit(line: start + 1, text: words.joined()))
      } else if lines[index].components(separatedBy: "\"\"\"").count == 2 {
        index += 1
        var body: [String] = []
        while index < lines.count, !lines[index].contains("\"\"\"") {
          body.append(plain(Array(lines[index])))
          index += 1
        }
        index += 1
        units.append(Unit(line: start + 1, text: body.joined(separator: "\n")))
      } else {
        units += code(lines[index]).map { Unit(line: start + 1, text: $0) }
        index += 1
      }
    }
    return units
  }

  /// The paragraphs and table rows of a page, without code.
  static func markdown(_ text: String) -> [Unit] {
    var (units, paragraph, start, isCode) = ([Unit](), [String](), 0, false)
    func finish() {
      let text = paragraph.joined(separator: " ").replacing(/`[^`]*`/, with: "`…`")
      if !paragraph.isEmpty { units.append(Unit(line: start, text: text)) }
      paragraph = []
    }
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let line = line.trimmingCharacters(in: .whitespaces)
      let isFence = line.hasPrefix("```")
      if isFence { isCode.toggle() }
      if isFence || isCode || line.isEmpty {
        finish()
        continue
      }
      if ["|", "#", "- "].contains(where: line.hasPrefix) { finish() }
      if paragraph.isEmpty { start = index + 1 }
      paragraph.append(line)
    }
    finish()
    return units
  }

  /// The prose in one line of code.
  private static func code(_ line: String) -> [String] {
    var found: [String] = []
    if let name = line.firstMatch(of: /func `([^`]+)`/) { found.append(String(name.output.1)) }
    let characters = Array(line)
    var index = 0
    while index < characters.count {
      if characters[index] == "/", index + 1 < characters.count, characters[index + 1] == "/" {
        found.append(String(characters[(index + 2)...]))
        break
      }
      guard characters[index] == "\"" else {
        index += 1
        continue
      }
      let end = endOfLiteral(characters, from: index + 1)
      let text = plain(Array(characters[(index + 1)..<end]))
      if text.trimmingCharacters(in: .whitespaces).contains(" ") { found.append(text) }
      index = end + 1
    }
    return found
  }

  /// The position of the quotation mark that ends a literal, or the end of the line.
  private static func endOfLiteral(_ characters: [Character], from start: Int) -> Int {
    var index = start
    while index < characters.count, characters[index] != "\"" {
      guard characters[index] == "\\", index + 1 < characters.count else {
        index += 1
        continue
      }
      index = characters[index + 1] == "(" ? endOfInterpolation(characters, index) : index + 2
    }
    return min(index, characters.count)
  }

  /// The position after an interpolation that starts with the backslash at `start`.
  private static func endOfInterpolation(_ characters: [Character], _ start: Int) -> Int {
    var (index, depth, isText) = (start + 2, 1, false)
    while index < characters.count, depth > 0 {
      switch characters[index] {
      case "\"": isText.toggle()
      case "(" where !isText: depth += 1
      case ")" where !isText: depth -= 1
      default: break
      }
      index += 1
    }
    return index
  }

  /// A literal's text with "…" for each interpolation and a space for each escaped character.
  private static func plain(_ characters: [Character]) -> String {
    var (text, index) = ("", 0)
    while index < characters.count {
      if characters[index] == "\\", index + 1 < characters.count {
        let isInterpolation = characters[index + 1] == "("
        text += isInterpolation ? "…" : " "
        index = isInterpolation ? endOfInterpolation(characters, index) : index + 2
      } else {
        text.append(characters[index])
        index += 1
      }
    }
    return text
  }
}
