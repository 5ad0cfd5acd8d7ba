/// Text that becomes part of a page: nothing in it is ever markup.
package enum HTMLText {
  /// The text with markup characters escaped, and what would mislead the eye made visible.
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
        if isMisleading(scalar) {
          escaped += "\u{FFFD}"
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      }
    }
    return escaped
  }

  /// The text as it is, but for what would mislead the eye, which is made visible.
  static func visible(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map {
          $0 == "\n" || $0 == "\t" || !isMisleading($0) ? $0 : "\u{FFFD}"
        }))
  }

  /// Control characters, and those that turn the direction of writing or take no room.
  private static func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF,
      0xFFF9...0xFFFB, 0xE0000...0xE007F:
      true
    default: false
    }
  }
}
