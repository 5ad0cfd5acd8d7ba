import Salesforce

extension MruTarget: WholeTarget {
  /// The records that the user opened last, whole each time; the id and the modification date are
  /// fetched whether the list names them or not.
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let session = try await context.session()
    try context.checkStop()
    let items = try await SyncError.inOrg { try await session.recentItems(sobjectType) }
    var ids = IDList()
    for var id in items { id.withUTF8 { ids.append(UnsafeRawBufferPointer($0)) } }
    // The list of recent items knows records by nothing but their own ids.
    return RecordsByIDPages(
      IDQuery(sobjectType, idField: "Id"), fieldlist, [.init(values: ids)], total: .answers,
      into: destination(context.soupName), session: session, context)
  }

  /// What the org still has; a record that is no longer among the last ones stays.
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    try await IDQuery(sobjectType, idField: idFieldName).remoteIDs(context)
  }

  package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    try await destination(context.soupName).deletions(of: sobjectType, since: since, context)
  }
}
