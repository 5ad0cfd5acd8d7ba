/// The limits of a single request (REST API Developer Guide, "sObject Collections", "Composite" and
/// "Query"; for SOSL, the limit of a search's results).
package enum RequestLimits {
  /// Records in a collection to create, update, upsert or delete.
  package static let collection = 200
  /// Records to restore from the recycle bin (SOAP API Developer Guide, "undelete()").
  package static let undelete = 200
  /// Requests in a composite request.
  package static let composite = 25
  /// Queries in a composite request.
  package static let queriesOfComposite = 5
  /// Runs of one sObject in a collection.
  ///
  /// An org processes a collection in runs of records of the same sObject, and rejects more runs
  /// than this.
  package static let typesOfCollection = 10
  /// IDs in a collection to retrieve.
  package static let retrieve = 2000
  /// Values in a list of a query's condition.
  ///
  /// The org only limits the length of the statement; this number fits for any values.
  package static let listedValues = 200
  /// IDs in a list of a query's condition, the same number as in the SDK.
  ///
  /// A statement that is too long for an address is sent in a body.
  package static let idsPerQuery = 500
  /// IDs in a list of a query for a whole family of records, which must be a single statement.
  ///
  /// It stays far below the org's limit of 100,000 characters.
  package static let idsOfFamily = 2000
  /// Characters of a query with a long list; an org accepts 100,000.
  package static let statement = 90_000
  /// Records in a query of `UserRecordAccess` (Object Reference).
  package static let recordAccess = 200
  /// Results of a search.
  package static let search = 2000
  /// Records per page of a query; an org rounds other sizes to this range.
  package static let queryPage = 200...2000

  /// The next smaller page size after a page was too large; nil if the org has no smaller one.
  package static func smallerQueryPage(than size: Int) -> Int? {
    guard size > queryPage.lowerBound else { return nil }
    return max(queryPage.lowerBound, min(size, queryPage.upperBound) / 2)
  }
}
