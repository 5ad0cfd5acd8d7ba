/// Text from outside — the names of files and soups, an org's words — made fit to be shown.
///
/// A terminal obeys what it is sent: an escape sequence in a file's name moves its cursor, renames
/// its window or writes a line that looks like ours; a line feed makes a second line of a log of
/// what was one; an override of the direction lets `gpj.exe` read `exe.jpg`.
package enum VisibleText {
  /// On one line, with what would move the cursor or turn the direction written out.
  ///
  /// It is written as JSON writes it: `\u001b`, and `\n` for a line feed. A tab stays.
  package static func line(_ text: String) -> String {
    isPlain(text) ? text : replacing(text) { $0.value == 9 ? nil : escape($0) }
  }

  /// JSON whose strings hold nothing that a terminal obeys.
  ///
  /// Line ends stand between its tokens only, and stay.
  package static func json(_ text: String) -> String {
    isPlain(text)
      ? text
      : replacing(text) { $0.value == 9 || $0.value == 10 || $0.value == 13 ? nil : escape($0) }
  }

  /// A value of many lines, as a cell of a table may be, without what a terminal obeys.
  ///
  /// It is left out and not written out: a program reads the cell.
  package static func cell(_ text: String) -> String {
    isPlain(text)
      ? text : replacing(text) { $0.value == 9 || $0.value == 10 || $0.value == 13 ? nil : "" }
  }

  /// On one line, with a question mark for each character that misleads: for a sentence that goes into files too.
  package static func marked(_ text: String) -> String {
    isPlain(text) ? text : replacing(text) { _ in "?" }
  }

  /// Whether there is nothing to replace, which is told from the bytes: no C0 control and no
  /// delete, nor a byte that begins the others.
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

  /// Controls of both sets, what ends a line or a paragraph, what turns the direction, and what takes no room.
  ///
  /// What joins letters and emoji takes none either, and stays.
  package static func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E,
      0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
      true
    default: false
    }
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
