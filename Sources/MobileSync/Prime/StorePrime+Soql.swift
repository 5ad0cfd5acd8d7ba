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
    let since = try mayMiss(query, sync) ? nil : cursor.since
    let load = try makeLoad(
      sync, soup: sync.soupName, idPath: query.idField,
      modificationPath: query.modificationField)
    try await fetch(query, target, since: since, into: load, sync)
    try load.finish()
    cursor.advance(
      to: load.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }, now: input.now)
    keep(cursor, of: sync)
    var count = load.count
    if !files.isCold {
      try await cleanGhosts(
        sync, query, target, since: since, listsAll: since == nil, count: &count)
    }
    try end(count)
  }

  /// Whether asking for changes alone could miss one.
  ///
  /// An OFFSET skips the first of them, and where a LIMIT cuts the result another record can move
  /// into it unchanged.
  private func mayMiss(_ query: SyncQuery, _ sync: SyncDefinition) throws(SyncError) -> Bool {
    if query.hasOffset { return true }
    guard let limit = query.limit, !files.isCold, let first = files.stores.first else {
      return false
    }
    return try SoupReader(store: first, soup: sync.soupName).count() >= limit
  }

  // MARK: records

  /// Loads all pages; a cursor that the org dropped is taken up again after the last record.
  private func fetch(
    _ query: SyncQuery, _ target: SoqlTarget, since: Int64?, into load: SoupLoad,
    _ sync: SyncDefinition
  ) async throws(SyncError) {
    var after: SyncQuery.Key?
    var restarts = 0
    while true {
      let pages = session.query(
        query.fetch(since: since, after: after), batchSize: target.maxBatchSize)
      let chain = QueryChain(pages: pages, query: query, base: load.count.fetched)
      do throws(SyncError) {
        let received = try await read(chain, into: load)
        try await check(received, of: pages.totalSize, query, since: since, after: after, sync)
        return
      } catch {
        guard error.cause?.kind == .locatorExpired, restarts < 3 else { throw error }
        restarts += 1
        // Without a place to go on from, what came twice is found by its id.
        after = query.canResume ? chain.lastKey ?? after : nil
      }
    }
  }

  private func read(
    _ chain: QueryChain, into load: SoupLoad
  ) async throws(SyncError) -> Int {
    var received = 0
    while let page = try await chain.next() {
      let total = chain.base + (chain.pages.totalSize ?? 0)
      if received == 0 { progress(load.count, of: total, SyncEvent.started) }
      received += try load.load(page, in: .member("records")).records
      chain.keep(page)
      progress(load.count, of: total, SyncEvent.progressed)
    }
    return received
  }

  /// Compares what came with what was promised; records that were deleted meanwhile do not come.
  private func check(
    _ received: Int, of promised: Int?, _ query: SyncQuery, since: Int64?,
    after: SyncQuery.Key?, _ sync: SyncDefinition
  ) async throws(SyncError) {
    guard let promised, received != promised else { return }
    let now = try await SyncError.inOrg { () async throws(OrgError) in
      try await session.count(query.count(since: since, after: after))
    }
    guard received >= now else {
      throw SyncError(
        .incomplete, "\(received) records arrived of \(promised) that the org promised",
        fix: "run again; if it stays so, the org's pages cannot be trusted")
    }
    warn("\(promised - received) records were deleted while they were read", sync)
  }

  // MARK: ghosts

  private func cleanGhosts(
    _ sync: SyncDefinition, _ query: SyncQuery, _ target: SoqlTarget, since: Int64?,
    listsAll: Bool, count: inout SoupCount
  ) async throws(SyncError) {
    let cleaner = GhostCleaner(
      files: files, policy: input.ghosts, soup: sync.soupName, syncID: syncID(sync))
    if listsAll || input.ghosts.listIDs.contains(key(sync.syncName)) {
      guard let ids = try await listIDs(query, target) else {
        warn(
          "the query has a LIMIT or OFFSET that cuts its result, so records that are missing "
            + "in it cannot be told from deleted ones; none was removed",
          sync)
        return
      }
      let result = try cleaner.clean(idPath: query.idField) { !ids.contains($0) }
      // What the guard kept is looked at again in the next run.
      if take(result, into: &count, sync) { outcome.listed.insert(key(sync.syncName)) }
    } else if let since, query.idField == "Id" {
      let deleted = try await deletedIDs(query, since: since)
      guard deleted.count > 0 else { return }
      let result = try cleaner.clean(idPath: query.idField) { deleted.contains($0) }
      _ = take(result, into: &count, sync)
    }
  }

  /// The ids of all that matches; nil when LIMIT or OFFSET cut the list.
  private func listIDs(
    _ query: SyncQuery, _ target: SoqlTarget
  ) async throws(SyncError) -> RecordIDSet? {
    let pages = session.query(query.ids)
    let ids = try await ids(of: pages, field: query.idField)
    guard query.isBounded else { return ids }
    guard !query.hasOffset, let limit = query.limit, ids.count < limit else { return nil }
    return ids
  }

  /// The ids of what was deleted lately; none where the object does not know deletion.
  private func deletedIDs(
    _ query: SyncQuery, since: Int64
  ) async throws(SyncError) -> RecordIDSet {
    do throws(SyncError) {
      return try await ids(
        of: session.query(query.deleted(since: since), all: true), field: query.idField)
    } catch {
      guard error.code == .queryRefused, error.cause?.code == "INVALID_FIELD" else { throw error }
      return RecordIDSet()
    }
  }

  private func ids(
    of pages: QueryPages, field: String
  ) async throws(SyncError) -> RecordIDSet {
    let scanner = RecordScanner(paths: [field])
    var ids = RecordIDSet()
    var received = 0
    while let page = try await SyncError.inOrg({ () async throws(OrgError) in
      try await pages.next()
    }) {
      do {
        try page.withUnsafeBytes { bytes in
          let result = try scanner.scan(bytes, in: .member("records")) { _, _, fields in
            guard fields[0].kind == .string else { return }
            ids.insert(UnsafeRawBufferPointer(rebasing: bytes[fields[0].range]))
          }
          received += result.records
        }
      } catch {
        throw SyncError(.badResponse, "a page of ids cannot be read: \(error)")
      }
      pages.recycle(page)
    }
    guard received == pages.totalSize else {
      throw SyncError(
        .incomplete, "\(received) ids arrived of \(pages.totalSize ?? 0) that the org promised",
        fix: "run again")
    }
    return ids
  }
}

/// The pages of one statement while they are loaded: the last one is kept until the next is there.
private final class QueryChain {
  let pages: QueryPages
  let query: SyncQuery
  /// The records that had arrived before this statement.
  let base: Int
  private var last: [UInt8]?

  init(pages: QueryPages, query: SyncQuery, base: Int) {
    self.pages = pages
    self.query = query
    self.base = base
  }

  func next() async throws(SyncError) -> [UInt8]? {
    try await SyncError.inOrg { () async throws(OrgError) in try await pages.next() }
  }

  /// Keeps a page that is loaded, and gives the one before back.
  func keep(_ page: [UInt8]) {
    if let last { pages.recycle(last) }
    last = page
  }

  /// The place of the last record that was loaded.
  var lastKey: SyncQuery.Key? {
    guard let last else { return nil }
    var key: SyncQuery.Key?
    let scanner = RecordScanner(paths: [query.idField, query.modificationField])
    last.withUnsafeBytes { bytes in
      func text(_ span: JSONSpan) -> String {
        String(decoding: bytes[span.range], as: UTF8.self)
      }
      // The page was read before: it can be read again.
      _ = try? scanner.scan(bytes, in: .member("records")) { _, _, fields in
        guard fields[0].kind == .string, fields[1].kind == .string,
          let date = Dates.milliseconds(iso8601: text(fields[1]))
        else { return }
        key = SyncQuery.Key(modified: Dates.utc(date), id: text(fields[0]))
      }
    }
    return key
  }
}

extension SyncError {
  /// Runs what asks an org.
  nonisolated(nonsending) static func inOrg<T>(
    _ body: nonisolated(nonsending) () async throws(OrgError) -> T
  ) async throws(SyncError) -> T {
    do throws(OrgError) { return try await body() } catch { throw SyncError(error) }
  }
}
