import Salesforce

extension SyncDefinition {
  /// Returns the query that counts the records the sync down would fetch now; nil if only the sync
  /// itself can determine this.
  ///
  /// `mark` is the greatest modification date that the last run saw; nil before the first one.
  /// `variables` are SOQL literals.
  package func countQuery(
    since mark: Int64?, overlapSeconds: Int, variables: [String: String]
  ) throws(SyncError) -> String? {
    guard let target = target.kind as? SoqlTarget else { return nil }
    let query = try target.syncQuery(variables: variables)
    // A result with a limit is fetched in full.
    let cursor = SyncCursor(
      highWaterMark: query.isBounded ? nil : mark, overlapSeconds: overlapSeconds)
    return try SyncQuery.count(of: query.fetch(since: cursor.since))
  }
}
