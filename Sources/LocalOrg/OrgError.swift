/// An error of the org, in the form of an API error entry.
package struct OrgError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The HTTP status of a single-record resource.
  package let status: Int
  /// The error code, such as `INVALID_FIELD`.
  package let code: String
  /// The message for users.
  package let message: String
  /// The names of the invalid fields; empty if the record as a whole is refused.
  package let fields: [String]

  package init(status: Int = 400, code: String, message: String, fields: [String] = []) {
    self.status = status
    self.code = code
    self.message = message
    self.fields = fields
  }

  package var description: String { "\(code): \(message)" }
}

extension OrgError {
  /// No record with that ID is visible to the user.
  static let notFound = OrgError(
    status: 404, code: "NOT_FOUND", message: "The requested resource does not exist")

  /// The record is in the recycle bin.
  static let deleted = OrgError(
    status: 404, code: "ENTITY_IS_DELETED", message: "entity is deleted")

  /// The record is not in the recycle bin, or not visible to the user.
  static let notInBin = OrgError(
    code: "UNDELETE_FAILED", message: "Entity is not in the recycle bin")

  /// The record can be read but not changed in this way.
  static let readOnlyRecord = OrgError(
    status: 403, code: "INSUFFICIENT_ACCESS_OR_READONLY",
    message: "insufficient access rights on object id")

  /// The ID is invalid.
  static func malformedID(_ id: String) -> OrgError {
    OrgError(code: "MALFORMED_ID", message: "malformed id \(id)")
  }

  static func unknownObject(_ name: String) -> OrgError {
    OrgError(
      code: "INVALID_TYPE",
      message: "sObject type '\(name)' is not supported. If you are attempting to use a custom "
        + "object, be sure to append the '__c' after the entity name. Please reference your WSDL "
        + "or the describe call for the appropriate names.")
  }

  /// A storage failure: a bug or a full disk, never the caller's fault.
  static func storage(_ error: any Error) -> OrgError {
    if let known = error as? OrgError { return known }
    return OrgError(
      status: 500, code: "UNKNOWN_EXCEPTION", message: "the local org's storage failed: \(error)")
  }
}
