import JSON
import Salesforce
import SmartStore

extension RefreshTarget: OneSoupTarget {
  package var selects: Bool { false }

  /// Fetches the soup's records in their current state in the org; later only those that were
  /// modified.
  ///
  /// Records of which an app knows only the ID have no modification date, and records that another
  /// sync fetched since lack this sync's fields. Both are fetched regardless of when they were
  /// modified.
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let (undated, dated) = try ids(context, separating: since != nil)
    return try await pages([.init(values: undated), .init(values: dated, since: since)], context)
  }

  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await pages([.init(values: ids[context.soupName] ?? IDList())], context)
  }

  private func pages(
    _ requests: [RecordsByIDPages.Request], _ context: SyncContext
  ) async throws(SyncError) -> RecordsByIDPages {
    RecordsByIDPages(
      IDQuery(sobjectType, idField: idFieldName, slice: countIdsPerSoql), fieldlist, requests,
      total: .values, into: destination(context.soupName), session: try await context.session(),
      context)
  }

  /// Returns which of the sync's records the org still has.
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    try await IDQuery(sobjectType, idField: idFieldName, slice: countIdsPerSoql)
      .remoteIDs(context)
  }

  package func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    guard let asked = ids[context.soupName] else { return [] }
    let query = IDQuery(sobjectType, idField: idFieldName, slice: countIdsPerSoql)
    return [
      RemoteIDs(
        soupName: context.soupName, idPath: idFieldName,
        ids: try await query.existing(among: asked, context), asked: asked.set)
    ]
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

  /// Whether a query can ask for a value; a single invalid ID makes the org refuse the whole query.
  private func isAsked(_ value: UnsafeRawBufferPointer) -> Bool {
    idFieldName != "Id" || RecordID(String(decoding: value, as: UTF8.self)) != nil
  }

  /// Returns the IDs in the soup that the org can know, in order.
  ///
  /// If required, the IDs of elements that this sync did not fetch, or that have no modification
  /// date, are returned separately.
  private func ids(
    _ context: SyncContext, separating: Bool
  ) throws(SyncError) -> (undated: IDList, dated: IDList) {
    var undated = IDList()
    var dated = IDList()
    let local = Array(LocalFields.localIDPrefix.utf8)
    try SyncError.inStore {
      if separating {
        let paths = [idFieldName, modificationDateFieldName, LocalFields.syncID]
        let own = Array(String(context.syncID).utf8)
        try context.store.forEachElement(in: soupName, paths: paths) { element in
          PageID.reading(element.fields[0], in: element.bytes) { id in
            guard case .text(let text) = id, !text.starts(with: local), isAsked(text) else {
              return
            }
            if element.fields[1].kind == .string, element.raw(2).elementsEqual(own) {
              dated.append(text)
            } else {
              undated.append(text)
            }
          }
        }
      } else {
        try context.store.forEachValue(of: idFieldName, in: soupName) { _, id in
          if !id.starts(with: local), isAsked(id) { dated.append(id) }
        }
      }
    }
    undated.sort()
    dated.sort()
    return (undated, dated)
  }
}
