/// What a query gets wrong, in an org's words.
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
    "\n\(path.text)\n^\nERROR at Row:\(path.line):Column:\(path.column)\n"
  }
}
