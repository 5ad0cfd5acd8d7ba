import JSON
import SQLite
import SmartStore

/// The expected content of a column, written from the description of the format, not from the code.
enum ModelCell {
  /// The value at a path; for an array, the values of its elements, without those that have none.
  static func projected(_ names: ArraySlice<Substring>, _ value: JSONValue) -> JSONValue? {
    guard let name = names.first else { return value }
    if let elements = value.array {
      let found = elements.compactMap { projected(names, $0) }
      return found.isEmpty ? nil : .array(found)
    }
    return value[String(name)].flatMap { projected(names.dropFirst(), $0) }
  }

  /// The cell of a projected value; numbers in text columns are compared by value.
  static func expected(
    _ value: JSONValue?, _ type: IndexType, _ platform: Platform
  ) -> SQLiteValue {
    let isText = type == .string || type == .fullText
    switch value {
    case nil, .null?: return .null
    case .string(let text)?:
      if isText { return .text(text) }
      guard platform == .ios else { return .null }
      // The column's affinity converts text that looks like a number.
      guard let number = Double(text), !text.isEmpty else { return .text(text) }
      return .real(number)
    case .bool(let flag)?:
      if isText { return .text(platform == .ios ? (flag ? "1" : "0") : "\(flag)") }
      return platform == .ios ? .integer(flag ? 1 : 0) : .null
    case .number(let literal)?:
      let number = Double(literal) ?? 0
      if isText { return Int64(literal).map { .integer($0) } ?? .real(number) }
      if type == .integer, platform == .android {
        return .integer(Int64(literal) ?? truncated(number))
      }
      return Int64(literal).map { .integer($0) } ?? .real(number)
    case let structure?: return isText || platform == .ios ? .text(structure.text) : .null
    }
  }

  private static func truncated(_ number: Double) -> Int64 {
    if number >= 9.3e18 { return .max }
    if number <= -9.3e18 { return .min }
    return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }

  /// Whether two cells have the same value: texts of numbers and of JSON have several forms.
  static func isSame(_ left: SQLiteValue, _ right: SQLiteValue) -> Bool {
    if left == right { return true }
    guard case .text(let a) = left, case .text(let b) = right else {
      guard let a = number(left), let b = number(right) else { return false }
      // SQLite converts a number in a text column with 15 digits.
      return a == b || abs(a - b) <= abs(a) * 1e-14
    }
    guard a.hasPrefix("[") || a.hasPrefix("{"),
      let first = try? JSONValue(parsing: a), let second = try? JSONValue(parsing: b)
    else { return false }
    return isSame(first, second)
  }

  private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.number(let a), .number(let b)): Double(a) == Double(b)
    case (.array(let a), .array(let b)):
      a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
    case (.object(let a), .object(let b)):
      a.count == b.count
        && a.allSatisfy { pair in b[pair.name].map { isSame(pair.value, $0) } ?? false }
    default: left == right
    }
  }

  private static func number(_ value: SQLiteValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .text("Inf"), .text("Infinity"): .infinity
    case .text("-Inf"), .text("-Infinity"): -.infinity
    case .text(let text): Double(text)
    default: nil
    }
  }
}
