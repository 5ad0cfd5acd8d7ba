/// What the org refuses, in the words of an API error entry.
package struct OrgError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The HTTP status that a single-record resource answers with.
  package let status: Int
  /// The error code, as `INVALID_FIELD`.
  package let code: String
  /// The sentence for a person.
  package let message: String
  /// The names of the fields to blame, empty when the record itself is.
  package let fields: [String]

  /// Makes an error.
  package init(status: Int = 400, code: String, message: String, fields: [String] = []) {
    self.status = status
    self.code = code
    self.message = message
    self.fields = fields
  }

  /// The code and the message.
  package var description: String { "\(code): \(message)" }
}

extension OrgError {
  /// No record of that id that this user may see.
  static let notFound = OrgError(
    status: 404, code: "NOT_FOUND", message: "The requested resource does not exist")

  /// The record is in the recycle bin.
  static let deleted = OrgError(
    status: 404, code: "ENTITY_IS_DELETED", message: "entity is deleted")

  /// The record is not in the recycle bin, as far as the user sees.
  static let notInBin = OrgError(
    code: "UNDELETE_FAILED", message: "Entity is not in the recycle bin")

  /// The record may be read but not changed in that way.
  static let readOnlyRecord = OrgError(
    status: 403, code: "INSUFFICIENT_ACCESS_OR_READONLY",
    message: "insufficient access rights on object id")

  /// The id is not one.
  static func malformedID(_ id: String) -> OrgError {
    OrgError(code: "MALFORMED_ID", message: "malformed id \(id)")
  }

  /// The object does not exist.
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
