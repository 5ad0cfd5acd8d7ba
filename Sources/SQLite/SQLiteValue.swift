/// One value in SQLite's five storage classes.
package enum SQLiteValue: Sendable, Hashable {
  /// NULL.
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A double.
  case real(Double)
  /// Text; U+0000 inside it is kept.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  /// Text, or NULL.
  package init(_ text: String?) { self = text.map(SQLiteValue.text) ?? .null }

  /// The integer, if it is one.
  package var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The text, if it is text.
  package var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The number as a double, if it is a number.
  package var real: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .null, .text, .blob: nil
    }
  }

  /// The bytes, if it is a blob.
  package var blob: [UInt8]? {
    if case .blob(let value) = self { value } else { nil }
  }

  /// Says whether it is NULL.
  package var isNull: Bool { self == .null }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  /// An integer.
  package init(integerLiteral value: Int64) { self = .integer(value) }
  /// Text.
  package init(stringLiteral value: String) { self = .text(value) }
  /// A double.
  package init(floatLiteral value: Double) { self = .real(value) }
  /// NULL.
  package init(nilLiteral: ()) { self = .null }
}
