import Crypto
import JSON
import SQLite
import System

/// Converts a JSON value to the stored value of a field; throws an org's error if it is invalid.
struct FieldConverter {
  let object: ObjectSchema

  func value(_ json: JSONValue, for field: FieldSchema) throws(OrgError) -> SQLiteValue {
    if json.isNull { return .null }
    switch field.type {
    case .id, .reference: return try reference(json, field)
    case .boolean: return .integer(try flag(json, field) ? 1 : 0)
    case .int: return try whole(json, field)
    case .double, .currency, .percent: return try decimal(json, field)
    case .date: return try date(json, field)
    case .datetime: return try moment(json, field)
    case .time: return try time(json, field)
    case .base64: return try file(json, field)
    case .address, .location: throw mismatch(json, field)
    default: return try text(json, field)
    }
  }

  private func text(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let given = json.string else { throw mismatch(json, field) }
    var characters = Substring(given)
    while let last = characters.last, last == " " { characters.removeLast() }
    guard !characters.isEmpty else { return .null }
    let value = String(characters)
    if field.length > 0, value.utf8.count > field.length, value.utf16.count > field.length {
      throw OrgError(
        code: "STRING_TOO_LONG",
        message: "\(field.label): data value too large: \(value.prefix(255)) "
          + "(max length=\(field.length))",
        fields: [field.name])
    }
    if field.isRestricted { try checkChoice(value, field) }
    if field.type == .email, !Self.isEmail(value) {
      throw OrgError(
        code: "INVALID_EMAIL_ADDRESS", message: "\(field.label): invalid email address: \(value)",
        fields: [field.name])
    }
    return .text(value)
  }

  private func checkChoice(_ value: String, _ field: FieldSchema) throws(OrgError) {
    let chosen =
      field.type == .multipicklist ? value.split(separator: ";").map(String.init) : [value]
    for one in chosen where !field.picklistValues.contains(where: { $0.value == one }) {
      throw OrgError(
        code: "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
        message: "\(field.label): bad value for restricted picklist field: \(one)",
        fields: [field.name])
    }
  }

  private func reference(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let given = json.string else { throw mismatch(json, field) }
    if given.isEmpty { return .null }
    guard let id = OrgID.normalize(given) else {
      throw OrgError(
        code: "MALFORMED_ID",
        message: "\(field.label): id value of incorrect type: \(given)", fields: [field.name])
    }
    return .text(id)
  }

  private func flag(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> Bool {
    if let value = json.bool { return value }
    switch json.string?.lowercased() {
    case "true": return true
    case "false": return false
    default: throw mismatch(json, field)
    }
  }

  private func whole(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let literal = number(json) else {
      if json.string?.isEmpty == true { return .null }
      throw mismatch(json, field)
    }
    guard let value = Double(literal), value == value.rounded(), abs(value) < 1e15 else {
      throw mismatch(json, field)
    }
    try checkRange(value, digits: field.digits, field, literal)
    return .integer(Int64(value))
  }

  private func decimal(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let literal = number(json), let value = Double(literal), value.isFinite else {
      if json.string?.isEmpty == true { return .null }
      throw mismatch(json, field)
    }
    try checkRange(value, digits: field.precision - field.scale, field, literal)
    var unit = 1.0
    for _ in 0..<field.scale { unit *= 10 }
    // Beyond 2^53, a double has no fractional digits to round.
    let scaled = value * unit
    return .real(abs(scaled) < 9e15 ? scaled.rounded(.toNearestOrAwayFromZero) / unit : value)
  }

  private func checkRange(_ value: Double, digits: Int, _ field: FieldSchema, _ literal: String)
    throws(OrgError)
  {
    guard digits > 0 else { return }
    var bound = 1.0
    for _ in 0..<digits { bound *= 10 }
    guard abs(value) < bound else {
      throw OrgError(
        code: "NUMBER_OUTSIDE_VALID_RANGE",
        message: "\(field.label): value outside of valid range on numeric field: \(literal)",
        fields: [field.name])
    }
  }

  private func date(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let given = json.string else { throw mismatch(json, field) }
    if given.isEmpty { return .null }
    if let day = CivilDate.parse(given), day.year >= 1700, day.year <= 4000 { return .text(given) }
    // In a date field, only the day of a date-time counts.
    guard given.utf8.count > 10, Dates.milliseconds(iso8601: given) != nil else {
      throw mismatch(json, field)
    }
    return .text(String(given.prefix(10)))
  }

  private func moment(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let given = json.string else { throw mismatch(json, field) }
    if given.isEmpty { return .null }
    guard given.utf8.count > 10, let value = Dates.milliseconds(iso8601: given) else {
      throw mismatch(json, field)
    }
    let remainder = (value % 1000 + 1000) % 1000
    return .text(Dates.salesforce(value - remainder))
  }

  private func time(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let given = json.string else { throw mismatch(json, field) }
    if given.isEmpty { return .null }
    guard let value = FilterValue.time(given) else { throw mismatch(json, field) }
    return .text(value)
  }

  /// A file stays encoded, as it was received.
  private func file(_ json: JSONValue, _ field: FieldSchema) throws(OrgError) -> SQLiteValue {
    guard let given = json.string, Base64.decode(given) != nil else { throw mismatch(json, field) }
    return given.isEmpty ? .null : .text(given)
  }

  private func number(_ json: JSONValue) -> String? {
    switch json {
    case .number(let literal): literal
    case .string(let text) where Double(text) != nil: text
    default: nil
    }
  }

  /// The message of an org's JSON reader for a value of the wrong type.
  private func mismatch(_ json: JSONValue, _ field: FieldSchema) -> OrgError {
    let found =
      switch json {
      case .null: "VALUE_NULL"
      case .bool(let value): value ? "VALUE_TRUE" : "VALUE_FALSE"
      case .number(let literal): literal.contains(".") ? "VALUE_NUMBER_FLOAT" : "VALUE_NUMBER_INT"
      case .string: "VALUE_STRING"
      case .array: "START_ARRAY"
      case .object: "START_OBJECT"
      }
    let wanted =
      switch field.type {
      case .boolean, .int, .date, .datetime, .time, .double, .base64: field.type.rawValue
      case .currency, .percent: "double"
      case .id, .reference: "reference"
      default: "string"
      }
    return OrgError(
      code: "JSON_PARSER_ERROR",
      message: "Cannot deserialize instance of \(wanted) from \(found) value "
        + "\(String(json.text.prefix(80))) or request may be missing a required field at "
        + "[\(object.name).\(field.name)]",
      fields: [field.name])
  }

  private static func isEmail(_ value: String) -> Bool {
    let parts = value.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts[0].isEmpty && parts[1].contains(".")
      && !parts[1].hasPrefix(".") && !parts[1].hasSuffix(".") && !value.contains(" ")
  }
}
