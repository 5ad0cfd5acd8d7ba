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
