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
    let load = try makeLoad(
      sync, soup: sync.soupName, idPath: query.idField,
      modificationPath: query.modificationField)
    let pages = SoqlPages(
      session, query, batchSize: target.maxBatchSize, since: since, soupName: sync.soupName
    ) { [unowned self] in warn($0, sync) }
    try await read(pages, into: load)
    try load.finish()
    cursor.advance(
      to: load.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }, now: input.now)
    keep(cursor, of: sync)
    var count = load.count
    if !files.isCold {
      try await cleanGhosts(sync, query, since: since, listsAll: since == nil, count: &count)
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

  private func cleanGhosts(
    _ sync: SyncDefinition, _ query: SyncQuery, since: Int64?, listsAll: Bool,
    count: inout SoupCount
  ) async throws(SyncError) {
    let cleaner = GhostCleaner(
      files: files, policy: input.ghosts, soup: sync.soupName, syncID: syncID(sync))
    if listsAll || input.ghosts.listIDs.contains(key(sync.syncName)) {
      guard let ids = try await SoqlIDs(session: session, query: query).all() else {
        warn(SoqlIDs.boundedWarning, sync)
        return
      }
      let result = try cleaner.clean(idPath: query.idField) { !ids.contains($0) }
      // What the guard kept is looked at again in the next run.
      if take(result, into: &count, sync) { outcome.listed.insert(key(sync.syncName)) }
    } else if let since, query.idField == "Id" {
      let deleted = try await SoqlIDs(session: session, query: query).deleted(since: since)
      guard deleted.count > 0 else { return }
      let result = try cleaner.clean(idPath: query.idField) { deleted.contains($0) }
      _ = take(result, into: &count, sync)
    }
  }
}
