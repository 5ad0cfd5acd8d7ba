import Salesforce

extension SyncDefinition {
  /// The query for how many records the sync down would fetch now; nil where only the sync itself finds that
  /// out.
  ///
  /// `mark` is the greatest modification date that the last run saw; nil before the first. `variables` are
  /// SOQL literals.
  package func countQuery(
    since mark: Int64?, overlapSeconds: Int, variables: [String: String]
  ) throws(SyncError) -> String? {
    guard let target = target.kind as? SoqlTarget else { return nil }
    let query = try target.syncQuery(variables: variables)
    // What a limit cuts is asked for as a whole.
    let cursor = SyncCursor(
      highWaterMark: query.isBounded ? nil : mark, overlapSeconds: overlapSeconds)
    return try SyncQuery.count(of: query.fetch(since: cursor.since))
  }
}
