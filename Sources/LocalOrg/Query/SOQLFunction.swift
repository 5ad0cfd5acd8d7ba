/// The functions of SOQL that are applied to a field.
enum SOQLFunction {
  /// Functions that combine rows.
  static let aggregates: Set<String> = ["COUNT", "COUNT_DISTINCT", "MAX", "MIN", "SUM", "AVG"]

  /// Functions that return a value for each row.
  static let ofRows: Set<String> = ["TOLABEL", "FORMAT"]

  /// Functions of a row's value that WHERE may compare; a label is not sorted by.
  static let labels: Set<String> = ["TOLABEL"]

  /// Functions of a date.
  ///
  /// The fiscal year equals the calendar year, and the org's time zone is GMT.
  static let dates: Set<String> = [
    "CALENDAR_YEAR", "CALENDAR_QUARTER", "CALENDAR_MONTH", "FISCAL_YEAR", "FISCAL_QUARTER",
    "FISCAL_MONTH", "DAY_IN_MONTH", "DAY_IN_WEEK", "DAY_IN_YEAR", "DAY_ONLY", "HOUR_IN_DAY",
    "WEEK_IN_MONTH", "WEEK_IN_YEAR",
  ]

  /// Returns the result of a function applied to a field, as a field.
  static func apply(_ name: String, to target: ResolvedField, at path: SOQLPath) throws
    -> ResolvedField
  {
    let column = target.column
    if dates.contains(name) {
      let type = target.field.type
      let wantsTime = name == "HOUR_IN_DAY" || name == "DAY_ONLY"
      guard type == .datetime || type == .date && !wantsTime else {
        throw OrgError(
          code: "INVALID_FIELD",
          message: QueryError.place(path) + "field \(target.field.name) does not support the "
            + "function \(name)")
      }
      return made(sql(name, column), name == "DAY_ONLY" ? .date : .int, target)
    }
    switch name {
    // A value's label is the value itself.
    case "TOLABEL": return target
    case "FORMAT": return made(formatted(column, target.field.type), .string, target)
    case "COUNT": return made("count(\(column))", .int, target)
    case "COUNT_DISTINCT": return made("count(DISTINCT \(column))", .int, target)
    case "SUM", "AVG":
      guard target.field.type.isNumber else {
        throw OrgError(
          code: "INVALID_FIELD",
          message: QueryError.place(path)
            + "field \(target.field.name) does not support aggregate operator \(name)")
      }
      return made("\(name)(\(column))", target.field.type, target)
    default: return made("\(name)(\(column))", target.field.type, target)
    }
  }

  private static func made(_ sql: String, _ type: FieldType, _ target: ResolvedField)
    -> ResolvedField
  {
    var field = FieldSchema(target.field.name, target.field.label, type)
    field.caseSensitive = target.field.caseSensitive
    return ResolvedField(
      alias: target.alias, object: target.object, field: field, expression: sql)
  }

  /// A value in the format of the users' locale, which is that of the United States.
  private static func formatted(_ column: String, _ type: FieldType) -> String {
    func part(_ start: Int, _ length: Int) -> String {
      "CAST(substr(\(column), \(start), \(length)) AS INTEGER)"
    }
    let date = "\(part(6, 2)) || '/' || \(part(9, 2)) || '/' || substr(\(column), 1, 4)"
    switch type {
    case .date: return date
    case .datetime:
      let hour = "((\(part(12, 2)) + 11) % 12 + 1)"
      let half = "CASE WHEN \(part(12, 2)) < 12 THEN 'AM' ELSE 'PM' END"
      return "\(date) || ', ' || \(hour) || ':' || substr(\(column), 15, 2) || ' ' || \(half)"
    case .int: return "CASE WHEN \(column) IS NOT NULL THEN printf('%,d', \(column)) END"
    default: return "CAST(\(column) AS TEXT)"
    }
  }

  /// Dates are stored as text: `2024-01-31`, `2024-01-31T12:34:56.000+0000`.
  private static func sql(_ name: String, _ column: String) -> String {
    func part(_ start: Int, _ length: Int) -> String {
      "CAST(substr(\(column), \(start), \(length)) AS INTEGER)"
    }
    func day(_ format: String) -> String {
      "CAST(strftime('\(format)', substr(\(column), 1, 10)) AS INTEGER)"
    }
    let value =
      switch name {
      case "CALENDAR_YEAR", "FISCAL_YEAR": part(1, 4)
      case "CALENDAR_MONTH", "FISCAL_MONTH": part(6, 2)
      case "CALENDAR_QUARTER", "FISCAL_QUARTER": "((\(part(6, 2)) + 2) / 3)"
      case "DAY_IN_MONTH": part(9, 2)
      case "DAY_IN_WEEK": "(\(day("%w")) + 1)"
      case "DAY_IN_YEAR": day("%j")
      case "HOUR_IN_DAY": part(12, 2)
      case "WEEK_IN_MONTH": "((\(part(9, 2)) + 6) / 7)"
      case "WEEK_IN_YEAR": "((\(day("%j")) + 6) / 7)"
      default: "substr(\(column), 1, 10)"
      }
    return "CASE WHEN \(column) IS NULL THEN NULL ELSE \(value) END"
  }
}
