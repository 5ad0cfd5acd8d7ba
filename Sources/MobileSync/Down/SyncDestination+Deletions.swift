import Salesforce

extension SyncDestination {
  /// The query for the records of an object that `deletions` sends; nil if it sends none.
  private func deletionQuery(of sobjectType: String) throws(SyncError) -> SyncQuery? {
    let query = try SyncQuery("select \(idPath) from \(sobjectType)", idField: idPath)
    return idPath == "Id" && query.knowsDeletion ? query : nil
  }

  /// The query that `deletions` sends, if any.
  func deletionsAhead(
    of sobjectType: String, since: Int64
  ) throws(SyncError) -> [AheadQuery] {
    guard let query = try deletionQuery(of: sobjectType) else { return [] }
    return [AheadQuery(query.deleted(since: since), all: true)]
  }

  /// Returns the records of an object deleted after `since`, with one request; empty if the org
  /// does not support this or the soup identifies records by another field.
  func deletions(
    of sobjectType: String, since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    guard let query = try deletionQuery(of: sobjectType) else { return [] }
    try context.checkStop()
    let deleted = try await SoqlIDs(session: try await context.session(), query: query)
      .deleted(since: since)
    guard deleted.count > 0 else { return [] }
    return [.deleted(deleted, in: self)]
  }
}
