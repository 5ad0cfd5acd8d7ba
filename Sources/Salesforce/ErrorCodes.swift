/// The codes by which an org says what is wrong, as far as something is done about them (SOAP API Developer
/// Guide, "StatusCode"; REST API Developer Guide, "Status Codes and Error Responses").
package enum ErrorCodes {
  /// A record, the one that is meant or one that it refers to, was deleted.
  package static let deleted = "ENTITY_IS_DELETED"
  /// A record, the one that is meant or one that it refers to, is not there or hidden.
  package static let missing: Set<String> = [deleted, "INVALID_CROSS_REFERENCE_KEY"]
  /// Another writer has the record.
  package static let locked = "UNABLE_TO_LOCK_ROW"
  /// A value that must be unique is there already.
  package static let duplicate = "DUPLICATE_VALUE"
  /// The object has no such field, or the user may not see it.
  package static let unknownField = "INVALID_FIELD"
  /// The access token is good no more.
  package static let session = "INVALID_SESSION_ID"
  /// The same at the identity services, which answer it as plain text.
  package static let identitySession = "Bad_OAuth_Token"
  /// The org's requests of the day are used up.
  package static let requestLimit = "REQUEST_LIMIT_EXCEEDED"
  /// The same code where its words say that too many requests run at once; no org writes it so.
  package static let concurrency = "REQUEST_LIMIT_EXCEEDED (concurrent)"
  /// A query took longer than two minutes.
  package static let queryTimeout = "QUERY_TIMEOUT"
  /// The org has forgotten a query between two of its pages.
  package static let cursor: Set<String> = ["INVALID_QUERY_LOCATOR", "QUERY_LOCATOR_EXPIRED"]
}
