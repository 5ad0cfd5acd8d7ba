import Salesforce

extension SyncDestination {
  /// What was deleted of an object after `since`, by one question; nothing where the org cannot be
  /// asked, or the soup knows records by another field.
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
