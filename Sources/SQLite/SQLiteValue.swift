/// A value in one of SQLite's five storage classes.
package enum SQLiteValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  /// Text; it may contain U+0000.
  case text(String)
  case blob([UInt8])

  /// Creates text; nil becomes NULL.
  package init(_ text: String?) { self = text.map(SQLiteValue.text) ?? .null }

  /// The integer; nil for any other class.
  package var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The text; nil for any other class.
  package var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The number as a double; nil if it is not a number.
  package var real: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .null, .text, .blob: nil
    }
  }

  /// The bytes of a blob; nil for any other class.
  package var blob: [UInt8]? {
    if case .blob(let value) = self { value } else { nil }
  }

  package var isNull: Bool { self == .null }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  package init(nilLiteral: ()) { self = .null }
}
