import Salesforce

extension SoqlTarget: SyncDownTarget {
  /// The pages of the query.
  nonisolated(nonsending) package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let query = try syncQuery(variables: context.variables)
    let mayMiss = try query.mayMissChanges { () throws(SyncError) in
      try SoupReader(store: context.store, soup: context.soupName).count()
    }
    return SoqlPages(
      try await context.session(), query, batchSize: maxBatchSize, since: mayMiss ? nil : since,
      soupName: context.soupName, warn: context.warn)
  }

  /// The sync's soup.
  package func destinations(soupName: String) -> [SyncDestination] {
    [
      SyncDestination(
        soupName: soupName, idPath: idFieldName, modificationPath: modificationDateFieldName)
    ]
  }

  /// The ids of all that matches now.
  nonisolated(nonsending) package func remoteIDs(
    _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let query = try syncQuery(variables: context.variables)
    let ids = try await SoqlIDs(session: try await context.session(), query: query).all()
    if ids == nil { context.warn(SoqlIDs.boundedWarning) }
    return [RemoteIDs(soupName: context.soupName, idPath: query.idField, ids: ids)]
  }
}
