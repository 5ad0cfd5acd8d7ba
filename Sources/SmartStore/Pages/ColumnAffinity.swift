import SQLite

/// The conversion of a bound value by a column's affinity.
///
/// Complex conversions are done by an in-memory SQLite: a fraction as text, text that is a number.
final class ColumnAffinity {
  /// The greatest whole number that a REAL column stores as an integer: it has six bytes.
  private static let mostWhole = 140_737_488_355_327.0

  private var asked: Connection?

  /// The value as it is stored; a text's bytes are appended to `texts`, to which the range refers.
  func stored(
    _ value: SQLiteValue, in type: IndexType, _ texts: inout [UInt8]
  ) throws -> (value: StoredValue, text: Range<Int>?) {
    switch (value, type.columnType) {
    case (.null, _), (.blob, _): return (.null, nil)
    case (.text(let text), "TEXT"): return (.null, append(text, to: &texts))
    case (.integer(let number), "TEXT"): return (.null, append(String(number), to: &texts))
    case (.integer(let number), "INTEGER"): return (.integer(number), nil)
    case (.integer(let number), "REAL"): return (Self.real(Double(number)), nil)
    case (.real(let number), "REAL"): return (Self.real(number), nil)
    case (.real(let number), "INTEGER"): return (Self.whole(number), nil)
    default:
      let found = try ask(value, type)
      guard case .text(let text) = found else { return try stored(found, in: type, &texts) }
      return (.null, append(text, to: &texts))
    }
  }

  private func append(_ text: String, to texts: inout [UInt8]) -> Range<Int> {
    let start = texts.count
    texts.append(contentsOf: text.utf8)
    return start..<texts.count
  }

  private func ask(_ value: SQLiteValue, _ type: IndexType) throws -> SQLiteValue {
    let connection = try asked ?? Connection(":memory:", mode: .create)
    if asked == nil {
      try connection.execute(
        "CREATE TABLE value (text TEXT, integer INTEGER, real REAL);"
          + "INSERT INTO value VALUES (NULL, NULL, NULL)")
      asked = connection
    }
    let column = (type.columnType ?? "TEXT").lowercased()
    try connection.run("UPDATE value SET \(raw: column) = \(value)")
    return try connection.all("SELECT \(raw: column) FROM value")[0][0]
  }

  /// The stored number of a REAL column: a whole one needs less space as an integer.
  static func real(_ number: Double) -> StoredValue {
    if number.isNaN { return .null }
    guard abs(number) <= mostWhole, let whole = Int64(exactly: number) else {
      return .real(number)
    }
    return .integer(whole)
  }

  /// The stored number of an INTEGER column: a whole one is an integer.
  private static func whole(_ number: Double) -> StoredValue {
    if number.isNaN { return .null }
    guard let whole = Int64(exactly: number), whole > .min, whole < .max else {
      return .real(number)
    }
    return .integer(whole)
  }
}
