/// Untrusted text, such as names of files and soups or an org's messages, made safe to display.
///
/// A terminal obeys control characters: an escape sequence in a file name moves the cursor, changes
/// the window's title or fakes a line of attache's output. A line feed turns one line of a log into
/// two, and a direction override makes `gpj.exe` look like `exe.jpg`.
package enum VisibleText {
  /// The text on one line, with control and direction characters escaped.
  ///
  /// Escapes are those of JSON: `\u001b`, and `\n` for a line feed. A tab stays.
  package static func line(_ text: String) -> String {
    isPlain(text) ? text : replacing(text) { $0.value == 9 ? nil : escape($0) }
  }

  /// JSON whose strings contain no character that a terminal obeys.
  ///
  /// Line ends occur only between tokens, and stay.
  package static func json(_ text: String) -> String {
    isPlain(text)
      ? text
      : replacing(text) { $0.value == 9 || $0.value == 10 || $0.value == 13 ? nil : escape($0) }
  }

  /// A value with several lines, such as the cell of a table, without characters that a terminal
  /// obeys.
  ///
  /// They are removed rather than escaped, as programs read the cell.
  package static func cell(_ text: String) -> String {
    isPlain(text)
      ? text : replacing(text) { $0.value == 9 || $0.value == 10 || $0.value == 13 ? nil : "" }
  }

  /// The text on one line, with a question mark for each misleading character, for a message that
  /// is also written to files.
  package static func marked(_ text: String) -> String {
    isPlain(text) ? text : replacing(text) { _ in "?" }
  }

  /// Whether there is nothing to replace, judged by the bytes: no C0 control, no delete, and no
  /// byte that starts another such character.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  private static func replacing(
    _ text: String, _ replacement: (Unicode.Scalar) -> String?
  ) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if isMisleading(scalar), let other = replacement(scalar) {
        result.append(contentsOf: other.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  /// Whether a character is a control of either set, ends a line or paragraph, changes the
  /// direction, or is invisible.
  ///
  /// Joiners of letters and emoji are invisible too, but are allowed.
  package static func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E,
      0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
      true
    default: false
    }
  }

  /// The first character of a name that cannot be seen, or that looks like a space and is another
  /// character, as `U+200B`; nil if there is none.
  package static func hidden(in name: String) -> String? {
    name.unicodeScalars.first(where: isHidden).map { scalar in
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
  }

  /// A name in lower case, without white space and characters that cannot be seen.
  package static func folded(_ name: String) -> String {
    var kept = String.UnicodeScalarView()
    kept.append(contentsOf: name.unicodeScalars.filter { $0 != " " && !isHidden($0) })
    return String(kept).lowercased()
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return isMisleading(scalar) || properties.isWhitespace && scalar != " "
      || properties.generalCategory == .format || properties.isDefaultIgnorableCodePoint
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": return "\\n"
    case "\r": return "\\r"
    default:
      return scalar.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }
}
