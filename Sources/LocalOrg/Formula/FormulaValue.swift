import JSON
import SQLite
import System

/// A value in a formula.
enum FormulaValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  /// Days since 1970-01-01.
  case date(Int)
  /// Milliseconds since 1970-01-01.
  case moment(Int64)

  /// A field's value in a formula: empty text is null, and a percentage is a fraction.
  init(_ value: SQLiteValue, of field: FieldSchema) {
    switch field.type {
    case .boolean: self = .bool(value.integer == 1)
    case .percent: self = value.real.map { .number($0 / 100) } ?? .null
    case .int, .double, .currency: self = value.real.map { .number($0) } ?? .null
    case .date: self = value.text.flatMap { CivilDate.parse($0) }.map { .date($0.days) } ?? .null
    case .datetime:
      self = value.text.flatMap { Dates.milliseconds(iso8601: $0) }.map { .moment($0) } ?? .null
    default: self = .text(value.text ?? "")
    }
  }

  /// Whether the value is null or empty.
  var isBlank: Bool { self == .null || self == .text("") }

  /// Whether the value is true; false for anything that is not a Boolean.
  var isTrue: Bool { self == .bool(true) }

  /// The value as text.
  var text: String {
    switch self {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .number(let value):
      value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    case .text(let value): value
    case .date(let days): CivilDate(days: days).text
    case .moment(let moment): Self.spaced(moment)
    }
  }

  /// `2024-01-31 12:34:56Z`.
  private static func spaced(_ moment: Int64) -> String {
    Dates.utcSeconds(moment).replacing("T", with: " ")
  }

  /// The number; nil if it is not one.
  var number: Double? {
    if case .number(let value) = self { value } else { nil }
  }

  /// The JSON with which a client would set a field to the value.
  func json(for field: FieldSchema) -> JSONValue {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let value): JSONValue(field.type == .percent ? value * 100 : value)
    case .text(let value): .string(value)
    case .date: .string(text)
    case .moment(let moment): .string(Dates.salesforce(moment))
    }
  }

  /// The value of a formula field of this type; null if the formula has another kind.
  func stored(as field: FieldSchema) -> SQLiteValue {
    switch self {
    case _ where field.type == .boolean: return .integer(isTrue ? 1 : 0)
    case _ where field.type == .string: return isBlank ? .null : .text(text)
    case .date where field.type == .date: return .text(text)
    case .moment(let moment) where field.type == .datetime: return .text(Dates.salesforce(moment))
    case .number(let number) where field.type.isNumber:
      let unit = (0..<field.scale).reduce(1.0) { unit, _ in unit * 10 }
      let scaled = (field.type == .percent ? number * 100 : number) * unit
      return .real(scaled.rounded(.toNearestOrAwayFromZero) / unit)
    default: return .null
    }
  }

  /// Compares with a value of the same kind: negative, 0 or positive; nil if they cannot be
  /// compared.
  func order(to other: FormulaValue) -> Int? {
    switch (self, other) {
    case (.number(let one), .number(let two)): one == two ? 0 : one < two ? -1 : 1
    case (.date(let one), .date(let two)): one - two
    case (.moment(let one), .moment(let two)): one == two ? 0 : one < two ? -1 : 1
    case (.text(let one), .text(let two)):
      one.utf8.elementsEqual(two.utf8) ? 0 : one < two ? -1 : 1
    case (.bool(let one), .bool(let two)): one == two ? 0 : one ? 1 : -1
    default: isBlank && other.isBlank ? 0 : nil
    }
  }
}
