import JSON
import Salesforce
import System

extension StorePrime {
  /// Runs a sync down of what a query finds.
  func run(_ sync: SyncDefinition, _ target: SoqlTarget) async throws(SyncError) {
    let query = try target.syncQuery(variables: input.variables)
    var cursor = cursor(of: sync)
    let mayMiss = try query.mayMissChanges { () throws(SyncError) in
      guard !files.isInitialLoad, let first = files.stores.first else { return 0 }
      return try SoupReader(store: first, soup: sync.soupName).count()
    }
    let since = mayMiss ? nil : cursor.since
    let listsAll = since == nil || input.ghosts.listIDs.contains(key(sync.syncName))
    let load = try makeLoad(
      sync, soup: sync.soupName, idPath: query.idField,
      modificationPath: query.modificationField)
    let pages = SoqlPages(
      session, query, batchSize: target.maxBatchSize, since: since, soupName: sync.soupName,
      asksDeletions: !files.isInitialLoad && !listsAll
    ) { [unowned self] in warn($0, sync) }
    try await read(pages, into: load)
    try load.finish()
    cursor.advance(
      to: load.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }, now: input.now)
    keep(cursor, of: sync)
    guard !files.isInitialLoad else { return try end(load.count) }
    if listsAll {
      // Where all was fetched, what is not here came into being since.
      let ids = try await list(sync, query, since == nil ? nil : load)
      var count = load.count
      if let ids { try cleanGhosts(sync, query, ids, count: &count) }
      try end(count)
    } else if let since {
      var count = load.count
      try await cleanDeleted(sync, query, pages.deletions, since: since, count: &count)
      try end(count)
    }
  }

  private func read(_ pages: SoqlPages, into load: SoupLoad) async throws(SyncError) {
    var isFirst = true
    while let page = try await pages.next() {
      if isFirst { progress(load.count, of: pages.totalSize, SyncEvent.started) }
      isFirst = false
      var records = 0
      for part in page.parts { records += try load.load(part.bytes, in: part.container).records }
      pages.recycle(page, records: records)
      progress(load.count, of: pages.totalSize, SyncEvent.progressed)
    }
  }

  // MARK: ghosts

  /// The ids of all that matches, or nil where they cannot be told; what of it is not in the soup is
  /// loaded.
  ///
  /// A record may come to match without being modified: by a change of its parent, a share, the
  /// calendar, or because it was another sync's ghost. No query for changes finds it.
  private func list(
    _ sync: SyncDefinition, _ query: SyncQuery, _ load: SoupLoad?
  ) async throws(SyncError) -> RecordIDSet? {
    var here = RecordIDSet()
    if load != nil, let first = files.stores.first {
      here = try SoupReader(store: first, soup: sync.soupName).allIDs(idPath: query.idField)
    }
    var missing = IDList()
    let ids = try await SoqlIDs(session: session, query: query).all { id in
      if load != nil, !here.contains(id) { missing.append(id) }
    }
    guard let ids else {
      warn(SoqlIDs.boundedWarning, sync)
      return nil
    }
    missing.sort()
    if let load, missing.count > 0 {
      try await fetch(missing, query, into: load)
      try load.finish()
    }
    return ids
  }

  private func fetch(
    _ ids: IDList, _ query: SyncQuery, into load: SoupLoad
  ) async throws(SyncError) {
    let slice = IDQuery.mostValues
    let window = AnswerWindow(count: (ids.count + slice - 1) / slice) {
      [session] index throws(OrgError) in
      try await session.answer(about: ids.slice(index, of: slice)) { query.fetch(among: $0) }
    }
    while window.hasMore {
      let answer = try await window.take()
      try answer.read()
      for page in answer.pages { _ = try load.load(page, in: QueryAnswer.container) }
    }
  }

  /// Removes what is not in the list of all ids.
  private func cleanGhosts(
    _ sync: SyncDefinition, _ query: SyncQuery, _ ids: RecordIDSet, count: inout SoupCount
  ) throws(SyncError) {
    let result = try cleaner(sync).clean(idPath: query.idField) { !ids.contains($0) }
    // What the guard kept is looked at again in the next run.
    if take(result, into: &count, sync) { outcome.listed.insert(key(sync.syncName)) }
  }

  /// Removes what was deleted lately; it is asked for where the pages did not tell.
  private func cleanDeleted(
    _ sync: SyncDefinition, _ query: SyncQuery, _ told: RecordIDSet?, since: Int64,
    count: inout SoupCount
  ) async throws(SyncError) {
    guard query.idField == "Id" else { return }
    let deleted: RecordIDSet
    if let told {
      deleted = told
    } else {
      deleted = try await SoqlIDs(session: session, query: query).deleted(since: since)
    }
    guard deleted.count > 0 else { return }
    let result = try cleaner(sync).clean(idPath: query.idField) { deleted.contains($0) }
    _ = take(result, into: &count, sync)
  }

  private func cleaner(_ sync: SyncDefinition) -> GhostCleaner {
    GhostCleaner(files: files, policy: input.ghosts, soup: sync.soupName, syncID: syncID(sync))
  }
}
