import JSON
import Salesforce
import System

extension StorePrime {
  /// Runs a sync down of what a query finds.
  func run(_ sync: SyncDefinition, _ target: SoqlTarget) async throws(SyncError) {
    let query = try target.syncQuery(variables: input.variables)
    let isFull = isFull(sync)
    var cursor = SyncCursor(
      greatest: isFull ? nil : input.cursors[key(sync.syncName)],
      overlapSeconds: input.overlapSeconds)
    if cursor.isAhead(of: input.now) {
      warn("the org's clock stands before the last record that was read; all is read again", sync)
      cursor = SyncCursor(greatest: nil, overlapSeconds: input.overlapSeconds)
    }
    let mayMiss = try query.mayMissChanges { () throws(SyncError) in
      guard !files.isCold, let first = files.stores.first else { return 0 }
      return try SoupReader(store: first, soup: sync.soupName).count()
    }
    let since = mayMiss ? nil : cursor.since
    let listsAll = since == nil || input.ghosts.listIDs.contains(key(sync.syncName))
    let load = try makeLoad(
      sync, soup: sync.soupName, idPath: query.idField,
      modificationPath: query.modificationField)
    let pages = SoqlPages(
      session, query, batchSize: target.maxBatchSize, since: since, soupName: sync.soupName,
      asksDeletions: !files.isCold && !listsAll
    ) { [unowned self] in warn($0, sync) }
    try await read(pages, into: load)
    try load.finish()
    cursor.advance(
      to: load.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }, now: input.now)
    keep(cursor, of: sync)
    var count = load.count
    if !files.isCold {
      if listsAll {
        try await cleanGhosts(sync, query, count: &count)
      } else if let since {
        try await cleanDeleted(sync, query, pages.deletions, since: since, count: &count)
      }
    }
    try end(count)
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

  /// Removes what is not in the list of all ids.
  private func cleanGhosts(
    _ sync: SyncDefinition, _ query: SyncQuery, count: inout SoupCount
  ) async throws(SyncError) {
    guard let ids = try await SoqlIDs(session: session, query: query).all() else {
      warn(SoqlIDs.boundedWarning, sync)
      return
    }
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
