import Salesforce

extension MruTarget: OneSoupTarget {
  /// The records that the user opened last, whole each time; the id and the modification date are
  /// fetched whether the list names them or not.
  nonisolated(nonsending) package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let session = try await context.session()
    try context.checkStop()
    let items = try await SyncError.inOrg { () async throws(OrgError) in
      try await session.recentItems(sobjectType)
    }
    var ids = IDList()
    for var id in items { id.withUTF8 { ids.append(UnsafeRawBufferPointer($0)) } }
    // The list of recent items knows records by nothing but their own ids.
    return RecordsByIDPages(
      IDQuery(sobjectType, idField: "Id"), fieldlist, [.init(values: ids)], total: .answers,
      into: destination(context.soupName), session: session, context)
  }

  /// None: each run brings all of the last records.
  nonisolated(nonsending) package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { SingleAnswer([], totalSize: 0) }

  /// What the org still has; a record that is no longer among the last ones stays.
  nonisolated(nonsending) package func remoteIDs(
    _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    try await IDQuery(sobjectType, idField: idFieldName).remoteIDs(context)
  }

  /// The records of the object that were deleted.
  nonisolated(nonsending) package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    try await destination(context.soupName).deletions(of: sobjectType, since: since, context)
  }
}
