import System

/// Values as SOQL literals.
package enum SOQLLiteral {
  package static func text(_ text: String) -> String {
    var literal = "'"
    for character in text.unicodeScalars {
      switch character {
      case "'", "\\": literal += "\\\(character)"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      default: literal.unicodeScalars.append(character)
      }
    }
    return literal + "'"
  }

  /// Texts as the literals of a SOQL list, without its parentheses.
  package static func list(_ texts: [String]) -> String {
    texts.map(text).joined(separator: ", ")
  }

  /// A moment in milliseconds since 1970, with its fraction: `2026-01-31T12:34:56.789Z`.
  package static func date(_ milliseconds: Int64) -> String { Dates.utc(milliseconds) }

  /// The second of a moment in milliseconds since 1970: an org dates records by the second.
  package static func second(_ milliseconds: Int64) -> String { Dates.utcSeconds(milliseconds) }
}
