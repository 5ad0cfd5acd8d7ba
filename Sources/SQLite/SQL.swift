/// SQL text with its bindings: `"SELECT \(name: column) FROM t WHERE id = \(id)"` binds `id`.
///
/// A plain interpolation always binds, so a value never becomes part of the text.
package struct SQL: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The text, with `?` in place of each value.
  package var text: String
  /// The values, in order.
  package var bindings: [SQLiteValue]

  package init(_ text: String, bindings: [SQLiteValue] = []) {
    self.text = text
    self.bindings = bindings
  }

  package init(stringLiteral value: String) { self.init(value) }

  package init(stringInterpolation: StringInterpolation) {
    self.init(stringInterpolation.text, bindings: stringInterpolation.bindings)
  }

  /// An identifier in double quotes.
  package static func quoted(name: String) -> String {
    var quoted = "\""
    for character in name.unicodeScalars {
      if character == "\"" { quoted += "\"" }
      quoted.unicodeScalars.append(character)
    }
    return quoted + "\""
  }

  /// A text literal in single quotes.
  package static func quoted(text: String) -> String {
    var quoted = "'"
    for character in text.unicodeScalars {
      if character == "'" { quoted += "'" }
      quoted.unicodeScalars.append(character)
    }
    return quoted + "'"
  }

  package static func + (left: SQL, right: SQL) -> SQL {
    SQL(left.text + right.text, bindings: left.bindings + right.bindings)
  }

  package static func += (left: inout SQL, right: SQL) { left = left + right }

  /// The pieces of an interpolated statement.
  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var bindings: [SQLiteValue] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 4)
    }

    /// Appends literal SQL.
    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ value: SQLiteValue) {
      text += "?"
      bindings.append(value)
    }

    /// Binds text; nil binds NULL.
    package mutating func appendInterpolation(_ value: String?) {
      appendInterpolation(SQLiteValue(value))
    }

    /// Binds an integer; nil binds NULL.
    package mutating func appendInterpolation(_ value: Int64?) {
      appendInterpolation(value.map(SQLiteValue.integer) ?? .null)
    }

    package mutating func appendInterpolation(_ value: Int) {
      appendInterpolation(SQLiteValue.integer(Int64(value)))
    }

    /// Binds a double; nil binds NULL.
    package mutating func appendInterpolation(_ value: Double?) {
      appendInterpolation(value.map(SQLiteValue.real) ?? .null)
    }

    /// Binds 1 or 0.
    package mutating func appendInterpolation(_ value: Bool) {
      appendInterpolation(SQLiteValue.integer(value ? 1 : 0))
    }

    package mutating func appendInterpolation(_ value: [UInt8]) {
      appendInterpolation(SQLiteValue.blob(value))
    }

    /// Inserts other SQL with its bindings.
    package mutating func appendInterpolation(_ sql: SQL) {
      text += sql.text
      bindings += sql.bindings
    }

    /// Binds each value: `IN (\(list: ids))`.
    package mutating func appendInterpolation(list values: [SQLiteValue]) {
      text += repeatElement("?", count: values.count).joined(separator: ", ")
      bindings += values
    }

    /// Binds any number of integers as one value, so that the text is always the same: `IN (\(each:
    /// ids))`.
    package mutating func appendInterpolation(each values: [Int64]) {
      text += "SELECT value FROM json_each(?)"
      bindings.append(.text("[" + values.map(String.init).joined(separator: ",") + "]"))
    }

    /// Inserts a quoted identifier.
    package mutating func appendInterpolation(name: String) { text += SQL.quoted(name: name) }

    /// Inserts text that is already SQL.
    package mutating func appendInterpolation(raw: String) { text += raw }
  }
}

extension Sequence where Element == SQL {
  /// The pieces joined by a separator.
  package func joined(separator: String = "") -> SQL {
    var joined = SQL("")
    for (index, piece) in enumerated() {
      if index > 0 { joined.text += separator }
      joined += piece
    }
    return joined
  }
}
