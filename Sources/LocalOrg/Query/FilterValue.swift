import SQLite
import System

/// The value of a condition, in the form in which a field is stored.
enum FilterValue {
  static func make(_ literal: SOQLLiteral, for field: FieldSchema, at path: SOQLPath) throws
    -> SQLiteValue
  {
    switch (field.type, literal) {
    case (.boolean, .bool(let value)): return .integer(value ? 1 : 0)
    case (.int, .number(let text)), (.double, .number(let text)), (.currency, .number(let text)),
      (.percent, .number(let text)):
      if let whole = Int64(text) { return .integer(whole) }
      guard let value = Double(text) else { throw QueryError.wrongType(path, field) }
      return .real(value)
    case (.id, .text(let text)), (.reference, .text(let text)):
      guard let id = OrgID.normalize(text) else {
        throw QueryError.wrongOperator(path, "invalid ID field: \(text)")
      }
      return .text(id)
    case (.date, .date(let text)):
      guard CivilDate.parse(text) != nil else { throw malformedDate(text) }
      return .text(text)
    case (.datetime, .dateTime(let text)):
      guard let moment = Dates.milliseconds(iso8601: text) else { throw malformedDate(text) }
      return .text(Dates.salesforce(moment))
    case (.time, .time(let text)):
      guard let value = time(text) else { throw malformedDate(text) }
      return .text(value)
    case (let type, .text(let text)) where type.isText: return .text(text)
    default: throw QueryError.wrongType(path, field)
    }
  }

  /// Returns a time of day as it is stored, with milliseconds and a trailing `Z`; nil if the text
  /// is invalid.
  static func time(_ text: String) -> String? {
    guard
      let match = text.wholeMatch(of: /([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?Z?/)
    else { return nil }
    let fraction = match.4.map { String($0) } ?? ""
    let zeros = String(repeating: "0", count: 3 - fraction.count)
    return "\(match.1):\(match.2):\(match.3).\(fraction)\(zeros)Z"
  }

  /// Rejects comparisons that a type does not support.
  static func check(_ comparison: SOQLComparison, for field: FieldSchema, at path: SOQLPath) throws
  {
    let isEquality = comparison == .equal || comparison == .notEqual
    guard !isEquality, field.type == .boolean || field.type == .reference else { return }
    throw QueryError.wrongOperator(path, "invalid operator on \(field.type.rawValue) field")
  }

  /// The collation of text: case-insensitive unless the field specifies otherwise.
  static func collation(_ field: FieldSchema) -> String {
    field.type.isText && !field.caseSensitive ? " COLLATE NOCASE" : ""
  }

  private static func malformedDate(_ text: String) -> OrgError {
    OrgError(code: "INVALID_QUERY_FILTER_OPERATOR", message: "Invalid date: \(text)")
  }
}
