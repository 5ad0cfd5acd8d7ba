import Salesforce

extension SyncDestination {
  /// Returns the records of an object deleted after `since`, with one request; empty if the org
  /// does not support this or the soup identifies records by another field.
  func deletions(
    of sobjectType: String, since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let query = try SyncQuery("select \(idPath) from \(sobjectType)", idField: idPath)
    guard idPath == "Id", query.knowsDeletion else { return [] }
    try context.checkStop()
    let deleted = try await SoqlIDs(session: try await context.session(), query: query)
      .deleted(since: since)
    guard deleted.count > 0 else { return [] }
    return [.deleted(deleted, in: self)]
  }
}
