/// How much the org takes or gives in one request (REST API Developer Guide, "sObject Collections",
/// "Composite" and "Query"; SOSL's limit is that of a search's results).
package enum RequestLimits {
  /// Records of a collection that is created, updated, upserted or deleted.
  package static let collection = 200
  /// Records that are taken out of the recycle bin (SOAP API Developer Guide, "undelete()").
  package static let undelete = 200
  /// Requests of a composite.
  package static let composite = 25
  /// Queries of a composite.
  package static let queriesOfComposite = 5
  /// Runs of one sObject type in a collection: an org works through it in runs of records of one
  /// type, and refuses more.
  package static let typesOfCollection = 10
  /// Ids of a collection that is retrieved.
  package static let retrieve = 2000
  /// Values of a list in the condition of a query: as many as a statement has room for, whatever they
  /// are; the org's limit is the length of the statement.
  package static let listedValues = 200
  /// Ids of a list in the condition of a query, as many as the SDK asks for; a statement too long for
  /// an address travels in a body.
  package static let idsPerQuery = 500
  /// Ids of a list in the condition of a query for a whole family, where it must be one statement: far below the
  /// 100,000 characters that an org takes.
  package static let idsOfFamily = 2000
  /// Records of a query of `UserRecordAccess` (Object Reference).
  package static let recordAccess = 200
  /// Results of a search.
  package static let search = 2000
  /// Records of a page of a query: fewer and more are rounded to these.
  package static let queryPage = 200...2000

  /// The size of the pages to ask for where one of this size was too large; nil where the org makes
  /// none with fewer records.
  package static func smallerQueryPage(than size: Int) -> Int? {
    guard size > queryPage.lowerBound else { return nil }
    return max(queryPage.lowerBound, min(size, queryPage.upperBound) / 2)
  }
}
