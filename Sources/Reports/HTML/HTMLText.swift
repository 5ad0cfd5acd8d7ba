import System

/// Escapes text for a page, so that it never becomes markup.
package enum HTMLText {
  /// The text with markup characters escaped and misleading characters made visible.
  package static func escaped(_ text: String) -> String {
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\n", "\t": escaped.unicodeScalars.append(scalar)
      default:
        if VisibleText.isMisleading(scalar) {
          escaped += "\u{FFFD}"
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      }
    }
    return escaped
  }

  /// The length of the longest value that stays on one line with its option.
  private static let shortValue = 16

  /// A command as code, in which no option is broken at the end of a line, nor separated from a
  /// short value.
  static func code(_ command: String) -> String {
    let words = command.split(separator: " ", omittingEmptySubsequences: false)
    var kept: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      var piece = escaped(String(word))
      if word.hasPrefix("--") {
        if let value = rest.first, !value.isEmpty, !value.hasPrefix("-"), value.count <= shortValue
        {
          piece += " " + escaped(String(value))
          rest = rest.dropFirst()
        }
        piece = "<span class=\"o\">\(piece)</span>"
      }
      kept.append(piece)
    }
    return "<code>\(kept.joined(separator: " "))</code>"
  }

  /// A sentence in which the commands of attache and their options are code.
  ///
  /// A command ends at a comma or colon, at the words "or" and "followed by", and at the end of its
  /// sentence.
  static func prose(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let start = commandStart(in: rest) {
      result += escaped(String(rest[..<start]))
      let tail = rest[start...]
      let ends = [", ", " or ", " followed by ", "; ", ": ", ". "].compactMap {
        tail.firstRange(of: $0)?.lowerBound
      }
      var end = ends.min() ?? tail.endIndex
      if end == tail.endIndex, tail.hasSuffix(".") { end = tail.index(before: end) }
      result += code(String(tail[..<end]))
      rest = tail[end...]
    }
    return result + escaped(String(rest))
  }

  private static func commandStart(in text: Substring) -> Substring.Index? {
    ["attache ", "--"].compactMap { word in
      text.ranges(of: word).first { range in
        range.lowerBound == text.startIndex
          || " (".contains(text[text.index(before: range.lowerBound)])
      }?.lowerBound
    }.min()
  }

  /// The text with misleading characters made visible.
  static func visible(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map {
          $0 == "\n" || $0 == "\t" || !VisibleText.isMisleading($0) ? $0 : "\u{FFFD}"
        }))
  }
}
