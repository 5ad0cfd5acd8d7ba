import JSON
import SQLite

/// Whether the value in a column is the one that the platform's SDK would have stored.
///
/// The texts of numbers and objects differ between SDK versions in form only, so they are compared
/// by value.
enum IndexAgreement {
  /// Compares a column with the element's value.
  static func holds(
    _ spec: IndexSpec, _ element: JSONValue, _ actual: SQLiteValue, _ platform: Platform
  ) -> Bool {
    // iOS projects before it adds these two, so the column's content has no meaning.
    if platform == .ios, [StoreField.soupEntryID, StoreField.lastModified].contains(spec.path) {
      return true
    }
    let value = JSONProjection.project(spec.path, from: element)
    let expected = IndexValue.bound(value, type: spec.type, platform: platform)
    switch (value, actual) {
    case (.array?, .text(let text)), (.object?, .text(let text)):
      guard case .text = expected, let found = try? JSONValue(parsing: text) else { return false }
      return isSame(value ?? .null, found)
    default:
      return isSame(expected, actual)
    }
  }

  /// Compares a bound value with a stored one, considering the column's affinity.
  private static func isSame(_ expected: SQLiteValue, _ actual: SQLiteValue) -> Bool {
    if expected == actual { return true }
    switch (expected, actual) {
    case (.integer(let a), .text(let b)): return String(a) == b
    case (.integer(let a), .real(let b)): return Double(a) == b
    case (.real(let a), .integer(let b)): return a == Double(b)
    case (.real(let a), .text(let b)): return isRounded(a, b) || isInfinite(a, b)
    case (.text(let a), .integer(let b)): return Double(a) == Double(b)
    case (.text(let a), .real(let b)): return Double(a) == b
    case (.text(let a), .text(let b)): return isSameNumber(a, b)
    default: return false
    }
  }

  /// SQLite converts a number in a text column with 15 digits.
  private static func isRounded(_ value: Double, _ text: String) -> Bool {
    guard let other = Double(text) else { return false }
    return other == value || abs(other - value) <= abs(value) * 1e-14
  }

  private static func isInfinite(_ value: Double, _ text: String) -> Bool {
    value.isInfinite && text == (value < 0 ? "-Inf" : "Inf")
  }

  private static func isSameNumber(_ left: String, _ right: String) -> Bool {
    // Only the two ways in which Java writes a double are considered equal. A text that only looks
    // like a number is compared exactly.
    guard left.contains("."), right.contains("."), let a = Double(left) else { return false }
    return a == Double(right) && JavaText.double(a) == left
  }

  /// Compares a soup's column with its full-text column: a number in the former is text in the
  /// latter.
  static func isSameText(_ column: SQLiteValue, _ words: SQLiteValue) -> Bool {
    isSame(words, column)
  }

  private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.number(let a), .number(let b)): a == b || Double(a) == Double(b)
    case (.array(let a), .array(let b)):
      a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
    case (.object(let a), .object(let b)):
      a.count == b.count
        && a.allSatisfy { member in
          b[member.name].map { isSame(member.value, $0) } ?? false
        }
    default: left == right
    }
  }
}
