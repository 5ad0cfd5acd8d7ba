/// The errors of a query, with an org's messages.
enum QueryError {
  static func noColumn(_ path: SOQLPath, _ name: String, _ object: String) -> OrgError {
    OrgError(
      code: "INVALID_FIELD",
      message: place(path) + "No such column '\(name)' on entity '\(object)'. If you are "
        + "attempting to use a custom field, be sure to append the '__c' after the custom field "
        + "name. Please reference your WSDL or the describe call for the appropriate names.")
  }

  static func noRelationship(_ path: SOQLPath, _ name: String) -> OrgError {
    OrgError(
      code: "INVALID_FIELD",
      message: place(path) + "Didn't understand relationship '\(name)' in field path. If you are "
        + "attempting to use a custom relationship, be sure to append the '__r' after the custom "
        + "relationship name. Please reference your WSDL or the describe call for the "
        + "appropriate names.")
  }

  /// Two columns of an answer would have this name.
  static func duplicateAlias(_ path: SOQLPath, _ name: String) -> OrgError {
    OrgError(code: "MALFORMED_QUERY", message: place(path) + "duplicate alias: \(name)")
  }

  static func duplicateField(_ path: SOQLPath) -> OrgError {
    OrgError(
      code: "INVALID_FIELD", message: place(path) + "duplicate field selected: \(path.text)")
  }

  static func wrongType(_ path: SOQLPath, _ field: FieldSchema) -> OrgError {
    let quotes = field.type.isText || field.type.isID ? "should be" : "should not be"
    return OrgError(
      code: "INVALID_FIELD",
      message: place(path) + "value of filter criterion for field '\(field.name)' must be of type "
        + "\(field.type.rawValue) and \(quotes) enclosed in quotes")
  }

  static func notFilterable(_ path: SOQLPath, _ field: FieldSchema) -> OrgError {
    OrgError(
      code: "INVALID_FIELD",
      message: place(path) + "field '\(field.name)' can not be filtered in a query call")
  }

  static func wrongOperator(_ path: SOQLPath, _ message: String) -> OrgError {
    OrgError(code: "INVALID_QUERY_FILTER_OPERATOR", message: place(path) + message)
  }

  static func place(_ path: SOQLPath) -> String {
    place(line: path.line, column: path.column, in: path.statement, else: path.text)
  }

  /// Returns the statement around a position, with a caret under it and the position.
  static func place(line: Int, column: Int, in statement: String, else text: String = "") -> String
  {
    let lines = statement.split(separator: "\n", omittingEmptySubsequences: false)
    var shown =
      line <= lines.count && line > 0 && !statement.isEmpty ? String(lines[line - 1]) : text
    var before = statement.isEmpty ? 0 : column - 1
    let hidden = max(0, before - shownColumns)
    shown = String(shown.dropFirst(hidden).prefix(2 * shownColumns))
    before -= hidden
    let caret = String(repeating: " ", count: max(0, before)) + "^"
    return "\n\(shown)\n\(caret)\nERROR at Row:\(line):Column:\(column)\n"
  }

  /// The number of characters shown before and after the position.
  private static let shownColumns = 40
}
