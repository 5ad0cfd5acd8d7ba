/// The error codes of an org that attache handles (SOAP API Developer Guide, "StatusCode"; REST API
/// Developer Guide, "Status Codes and Error Responses").
package enum ErrorCodes {
  /// The record, or one that it refers to, was deleted.
  package static let deleted = "ENTITY_IS_DELETED"
  /// The record, or one that it refers to, does not exist or is hidden.
  package static let missing: Set<String> = [deleted, "INVALID_CROSS_REFERENCE_KEY"]
  /// Another writer has locked the record.
  package static let locked = "UNABLE_TO_LOCK_ROW"
  /// A unique value already exists.
  package static let duplicate = "DUPLICATE_VALUE"
  /// The object has no such field, or the user may not see it.
  package static let unknownField = "INVALID_FIELD"
  /// The access token is no longer valid.
  package static let session = "INVALID_SESSION_ID"
  /// The same error from the identity services, which return it as plain text.
  package static let identitySession = "Bad_OAuth_Token"
  /// The org's daily requests are exhausted.
  package static let requestLimit = "REQUEST_LIMIT_EXCEEDED"
  /// The same code with a message about too many concurrent requests.
  ///
  /// The suffix is added by attache, not by the org.
  package static let concurrency = "REQUEST_LIMIT_EXCEEDED (concurrent)"
  /// A query took longer than two minutes.
  package static let queryTimeout = "QUERY_TIMEOUT"
  /// The org has discarded a query between two of its pages.
  package static let cursor: Set<String> = ["INVALID_QUERY_LOCATOR", "QUERY_LOCATOR_EXPIRED"]
}
