import Salesforce

extension MruTarget: WholeTarget {
  /// The records that the user opened last, fetched in full each time, always with the ID and the
  /// modification date.
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let session = try await context.session()
    try context.checkStop()
    let items = try await SyncError.inOrg { try await session.recentItems(sobjectType) }
    var ids = IDList()
    for var id in items { id.withUTF8 { ids.append(UnsafeRawBufferPointer($0)) } }
    // The list of recent items identifies records only by Id.
    return try await pages(of: ids, "Id", isCut: true, context)
  }

  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await pages(of: ids[context.soupName] ?? IDList(), idFieldName, isCut: false, context)
  }

  private func pages(
    of ids: IDList, _ idField: String, isCut: Bool, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    RecordsByIDPages(
      IDQuery(sobjectType, idField: idField), fieldlist, [.init(values: ids)], total: .answers,
      isCut: isCut, into: destination(context.soupName), session: try await context.session(),
      context)
  }

  package func dates(
    of ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]? {
    guard let asked = ids[context.soupName] else { return [] }
    let query = IDQuery(sobjectType, idField: idFieldName)
    let fields = IDQuery.fields([idFieldName], adding: [modificationDateFieldName])
    return [
      try await destination(context.soupName).dates(of: asked, context) {
        query.soql(fields, values: $0)
      }
    ]
  }

  /// The records that the org still has; a record that is no longer in the recent list stays.
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    try await IDQuery(sobjectType, idField: idFieldName).remoteIDs(context)
  }

  package func queriesAhead(
    since: Int64, asksDeletions: Bool, variables: [String: String]
  ) throws(SyncError) -> [AheadQuery] {
    asksDeletions ? try destination("").deletionsAhead(of: sobjectType, since: since) : []
  }

  package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    try await destination(context.soupName).deletions(of: sobjectType, since: since, context)
  }
}
