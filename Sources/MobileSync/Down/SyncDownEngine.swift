import Salesforce
import SmartStore
import System

/// Runs a sync down of any kind into any sink.
///
/// It requests what was modified after the cursor, or everything, and passes each page to the sink.
/// The cursor advances to the greatest modification date seen, but never past what is still to be
/// read or past the org's time at the first response. If records arrive in the cursor's order, it
/// advances after each page.
///
/// Then, if requested, it fetches records that match without having been modified, and removes
/// records that the org no longer returns (`GhostCleaner`).
///
/// An interrupted run leaves the cursor at or before what was stored.
package final class SyncDownEngine {
  /// How a run handles records that the org no longer returns.
  package enum GhostStep: Sendable {
    /// Keeps them; apps call `cleanGhosts` separately.
    case left
    /// Removes records deleted since the cursor, with one request per object.
    case deleted
    /// Lists all IDs, removes records that are not listed, and fetches missing ones.
    case listed
  }

  /// The parameters of a run.
  package struct Request {
    /// The cursor from which the sync continues.
    package var cursor: SyncCursor
    /// The upper bound of the cursor, in milliseconds; nil for the org's time as its responses
    /// report it.
    package var now: Int64?
    /// How to handle records that the org no longer returns.
    package var ghosts = GhostStep.left
    /// How many of these records may be removed.
    package var guardLimits = DeletionGuard()
    /// The records that edits of the stores' user have changed since the last run, by soup.
    ///
    /// Those that no longer match are removed regardless of the guard, because a query for changes
    /// does not report them. Those that match stay, even if a cut result lacks them.
    package var changed: [String: Set<String>] = [:]
    /// The records of the user's unresolved edits, by soup; they are fetched even if a cut result
    /// lacks them.
    package var edited: [String: Set<String>] = [:]
    /// Whether the last run held the cursor back because it could not read something.
    package var wasHeld = false

    /// Creates the request for a run that continues from a cursor.
    package init(cursor: SyncCursor, now: Int64? = nil) {
      self.cursor = cursor
      self.now = now
    }
  }

  /// The outcome of a run beyond the sink's counts.
  package struct Outcome {
    /// The ghosts found, whether removed or kept by the guard.
    package var ghosts: [GhostCleaner.Ghosts] = []
    /// Whether all IDs were listed and unlisted records removed.
    package var isListed = false
    /// Whether no possible ghost was kept.
    package var isClean = false
    /// The records that the target listed, with their stamps, by soup.
    package var stamps: [String: [String: Int64]] = [:]
  }

  let target: any SyncDownTarget
  let context: SyncContext
  let sink: any RecordSink
  let request: Request
  /// The other syncs that select records of the given soups of the store, the last one first.
  package var others: (_ soups: Set<String>) throws(SyncError) -> [SyncDownEngine] = { _ in [] }
  /// The sync's current cursor.
  package private(set) var cursor: SyncCursor
  /// The IDs of records that arrived, if needed.
  private(set) var arrived = RecordIDSet()
  /// The upper bound of the cursor, in milliseconds; later changes may be on a page that was
  /// already read.
  private var limit: Int64?

  package init(
    _ target: any SyncDownTarget, _ context: SyncContext, into sink: any RecordSink,
    _ request: Request
  ) {
    self.target = target
    self.context = context
    self.sink = sink
    self.request = request
    cursor = request.cursor
    context.isInitialLoad = sink.isInitialLoad
    context.mayHoldOrphans = sink.mayHoldOrphans
    context.asksDeletions = request.ghosts == .deleted && !sink.isInitialLoad
  }

  /// Creates the engine for a target; nil if it is not a sync down or is a custom target.
  package convenience init?(
    _ target: SyncTarget, _ context: SyncContext, into sink: any RecordSink, _ request: Request
  ) {
    guard let target = target.down else { return nil }
    self.init(target, context, into: sink, request)
  }

  /// Fetches and stores records, then handles ghosts.
  package func run() async throws(SyncError) -> Outcome {
    var since = try await start()
    var pages = try await target.pages(since: since, context)
    var first = try await pages.next()
    // The response has the org's current time; the clock may have been set back since the last one.
    if since != nil, try await start() == nil {
      since = nil
      pages = try await target.pages(since: nil, context)
      first = try await pages.next()
    }
    limit = try await clock()
    context.seenUntil = since == nil ? nil : cursor.highWaterMark
    try await load(consume first, of: pages)
    if since != nil { try await refetch() }
    let unseen = pages.isCut ? try await renewUnseen() : nil
    try moveCursor(after: pages)
    try listLeft(since: since)
    var outcome = Outcome()
    outcome.stamps = pages.stamps ?? [:]
    guard request.ghosts != .left else { return outcome }
    if sink.isInitialLoad {
      outcome.isClean = pages.remoteIDs?.allSatisfy { $0.ids != nil } ?? true
    } else {
      try await clean(after: pages, unseen, since: since, &outcome)
    }
    return outcome
  }

  /// Removes the records that the org no longer returns; `policy` throws before any is removed if
  /// there are too many.
  func cleanGhosts() async throws(SyncError) -> Outcome {
    var outcome = Outcome()
    let cleaner = self.cleaner
    // An empty soup needs no request.
    var hasRecords = false
    for place in target.destinations(soupName: context.soupName) where !hasRecords {
      hasRecords = try cleaner.hasCandidates(in: place)
    }
    guard hasRecords else { return outcome }
    let remote = try await listed()
    try context.checkStop()
    outcome.ghosts = try await ghosts(of: remote)
    if let refused = outcome.ghosts.first(where: { !$0.isAllowed }) {
      throw SyncError(
        .tooManyDeletes, refused.keptText, fix: DeletionGuard.fix)
    }
    try cleaner.remove(outcome.ghosts)
    try listMissing(remote)
    return outcome
  }

  // MARK: Cursor

  /// Returns the time after which changes are requested; nil for everything.
  private func start() async throws(SyncError) -> Int64? {
    if let now = try await now(), cursor.isAhead(of: now) {
      context.warn(
        "the org's clock is before the last record that was read; everything is read again")
      cursor.reset()
      context.knownStamps = nil
      context.set { $0.maxTimeStamp = -1 }
    }
    return cursor.since
  }

  private func now() async throws(SyncError) -> Int64? {
    if let now = request.now { return now }
    // A device's cursor does not include an overlap.
    return try await clock().map { $0 + cursor.overlap }
  }

  /// Returns the org's time, or that of the run, in whole seconds.
  private func clock() async throws(SyncError) -> Int64? {
    if let now = request.now { return now }
    return try await context.serverDate().map { $0 + 999 }
  }

  private func moveCursor(after pages: any SyncDownPages) throws(SyncError) {
    advance()
    if let limit = pages.cursorLimit {
      cursor.hold(at: limit)
    } else if request.wasHeld, pages.stamps != nil, !sink.isInitialLoad {
      try advanceToStored()
    }
    context.set { $0.maxTimeStamp = cursor.maxTimeStamp }
  }

  private func advance() { cursor.advance(to: sink.latestModification, now: limit) }

  /// The records for which the cursor was held back are stored now, and may be older than others.
  private func advanceToStored() throws(SyncError) {
    guard let store = sink.stores.first else { return }
    for place in target.destinations(soupName: context.soupName) {
      let latest = try SyncError.inStore {
        try store.maximum(
          of: place.modificationPath, in: place.soupName, .clean(syncID: context.syncID))
      }
      cursor.advance(to: latest.flatMap { Dates.milliseconds(iso8601: $0) }, now: limit)
    }
  }

  // MARK: Records

  /// The first page must not be retained, or its bytes would stay in memory until all others have
  /// arrived.
  func load(
    _ first: consuming SyncPage?, of pages: any SyncDownPages, isExtra: Bool = false
  ) async throws(SyncError) {
    let begun = cursor
    do throws(SyncError) {
      try await loadAll(consume first, of: pages, isExtra)
      try sink.finish()
    } catch {
      if !sink.end(after: error) {
        cursor = begun
        context.set { $0.maxTimeStamp = begun.maxTimeStamp }
      }
      throw error
    }
    context.store = sink.stores.first ?? context.store
  }

  private func loadAll(
    _ first: consuming SyncPage?, of pages: any SyncDownPages, _ isExtra: Bool
  ) async throws(SyncError) {
    var page = consume first
    var arrived = 0
    if !isExtra { try context.update { $0.totalSize = max(0, pages.totalSize) } }
    while let current = page {
      try context.checkStop()
      let records = try sink.load(current) { pages.expected(in: $0) }
      try note(current, of: pages)
      // The first change of a snapshot replaced its stores with copies.
      context.store = sink.stores.first ?? context.store
      arrived += current.records ?? records
      pages.recycle(current, records: records)
      if !isExtra { try tell(arrived, of: pages) }
      try context.checkStop()
      page = try await pages.next()
    }
  }

  /// Records which records arrived, if the run later checks those that did not: the ones changed by
  /// its user, or all that a cut result lacks.
  private func note(_ page: SyncPage, of pages: any SyncDownPages) throws(SyncError) {
    guard pages.isCut || !request.changed.isEmpty && !sink.isInitialLoad else { return }
    for part in page.parts {
      try arrived.insert(part.bytes, part.destination.idPath, in: part.container)
    }
  }

  /// Advances the cursor after a page and reports progress.
  private func tell(_ arrived: Int, of pages: any SyncDownPages) throws(SyncError) {
    if pages.isSorted {
      // A record that was changed since the run started arrived at the position of its earlier
      // date; records between the two dates are still to come.
      if let latest = sink.latestModification, latest <= limit ?? latest { advance() }
      context.set { $0.maxTimeStamp = cursor.maxTimeStamp }
      // An interrupted run must not forget records that its cursor has passed.
      keep(left(beside: context.state.refetch.mapValues { Set($0) }))
    }
    let total = max(0, pages.totalSize)
    guard arrived < total else { return }
    try context.update { state in
      state.progress = 100 * arrived / total
      state.totalSize = total
    }
  }

  // MARK: Deletions and missing records

  var cleaner: GhostCleaner {
    GhostCleaner(sink: sink, guardLimits: request.guardLimits, syncID: context.syncID)
  }

  /// Removes ghosts; `unseen` has the sync's records that a cut result lacks and that match.
  private func clean(
    after pages: any SyncDownPages, _ unseen: [RemoteIDs]?, since: Int64?,
    _ outcome: inout Outcome
  ) async throws(SyncError) {
    let isWhole = since == nil || pages.isWhole
    let listsAll = isWhole || request.ghosts == .listed
    var remote: [RemoteIDs]
    if let told = pages.remoteIDs {
      remote = told
      outcome.ghosts = try await removeChanged(told)
      if listsAll, context.report.ruleErrors.isEmpty, told.contains(where: { $0.ids == nil }) {
        context.warn("which of its records the org still has is unknown; none was removed")
      }
    } else if listsAll {
      if let unseen { remote = unseen } else { remote = try await listed() }
      // A list of the sync's own records does not show which were deleted, and an unknown one shows
      // nothing.
      if let since, remote.contains(where: \.mayLackDeletions) {
        let deletions = try await target.deletions(since: since, context)
        remote = remote.map { $0.excluding(deletions) } + deletions
      }
      outcome.ghosts = try await removeChanged(remote)
      // After a full fetch, missing records were created in the meantime.
      if !isWhole { try await fetchMissing(remote) }
    } else {
      outcome.ghosts = try await removeChanged()
      remote = pages.deletions ?? []
      if pages.deletions == nil { remote = try await target.deletions(since: since ?? 1, context) }
    }
    let found = try await ghosts(of: remote)
    outcome.ghosts += found
    try cleaner.remove(found.filter(\.isAllowed))
    context.store = sink.stores.first ?? context.store
    // The next run checks what the guard kept.
    outcome.isClean =
      found.allSatisfy(\.isAllowed) && remote.allSatisfy { $0.ids != nil }
    outcome.isListed = outcome.isClean && (listsAll || pages.remoteIDs != nil)
  }

  /// Removes records that no longer match because of the user's own edits, if lists of all IDs show
  /// them.
  private func removeChanged(
    _ told: [RemoteIDs]
  ) async throws(SyncError) -> [GhostCleaner.Ghosts] {
    guard !request.changed.isEmpty else { return [] }
    let changed = RecordIDSet(request.changed.values.joined())
    // A deletion in the org is not an edit of the user.
    let lists = told.filter { !$0.areDeleted }.map { $0.expecting(changed) }
    let ghosts = try await ghosts(of: lists)
    try cleaner.remove(ghosts)
    return ghosts
  }

  /// Removes records that no longer match because of the user's own edits; asks the org about those
  /// that are stored and did not arrive.
  private func removeChanged() async throws(SyncError) -> [GhostCleaner.Ghosts] {
    guard !request.changed.isEmpty else { return [] }
    let changed = RecordIDSet(request.changed.values.joined())
    var asked: [String: IDList] = [:]
    for place in target.destinations(soupName: context.soupName) {
      let ids = try cleaner.candidates(in: place, among: changed, without: arrived)
      if ids.count > 0 { asked[place.soupName] = ids }
    }
    guard !asked.isEmpty else { return [] }
    var lists = try await target.remoteIDs(among: asked, context)
    for index in lists.indices { lists[index].isExpected = true }
    let ghosts = try await ghosts(of: lists)
    try cleaner.remove(ghosts)
    context.store = sink.stores.first ?? context.store
    return ghosts
  }

  /// Fetches records that are missing or outdated in the store.
  func fetchMissing(_ remote: [RemoteIDs]) async throws(SyncError) {
    let missing = try missing(of: remote)
    guard !missing.ids.isEmpty else { return }
    let pages =
      missing.areRecordIDs
      ? try await target.pages(among: missing.ids, context)
      : try await target.pages(since: nil, context)
    try await load(pages.next(), of: pages, isExtra: true)
  }

  /// Returns the records that are missing or outdated in the store, by soup.
  ///
  /// A record may start to match without being modified: through a change of its parent, a share, a
  /// date in the condition, or because it was another sync's ghost. No query for changes finds it.
  /// A set of IDs can return record IDs exactly; other keys may be truncated in it. A record that
  /// changed while it did not match has a different date than the stored one.
  private func missing(
    of remote: [RemoteIDs]
  ) throws(SyncError) -> (ids: [String: IDList], areRecordIDs: Bool) {
    guard let store = sink.stores.first else { return ([:], true) }
    var missing: [String: IDList] = [:]
    var areRecordIDs = true
    for list in remote {
      guard let ids = list.ids else { continue }
      var absent = IDList()
      // Records that were checked are in the store.
      if list.asked == nil {
        let here = try SoupReader(store: store, soup: list.soupName).allIDs(idPath: list.idPath)
        absent = ids.subtracting(here)
      }
      if let dates = list.dates {
        let outdated = try SoupReader(store: store, soup: list.soupName).outdated(
          dates.of, idPath: list.idPath, modificationPath: dates.path,
          syncIDs: [context.syncID] + cleaner.refreshes(of: list.soupName))
        absent = absent.adding(outdated)
      }
      guard absent.count > 0 else { continue }
      missing[list.soupName] = absent.adding(missing[list.soupName])
      areRecordIDs = areRecordIDs && (list.idPath == "Id" || list.asked != nil)
    }
    return (missing, areRecordIDs)
  }

  // MARK: Records to fetch again

  /// Above this number, IDs are not requested one by one: everything is read again, or all IDs are
  /// listed.
  static let mostAsked = 2000

  /// Fetches the records listed by earlier runs, except those still changed locally.
  private func refetch() async throws(SyncError) {
    let kept = try leftIDs()
    var asked: [String: IDList] = [:]
    for (soup, ids) in context.state.refetch {
      let list = IDList(ids.filter { kept[soup]?.contains($0) != true })
      if list.count > 0 { asked[soup] = list }
    }
    guard !asked.isEmpty else { return }
    let pages = try await target.pages(among: asked, context)
    try await load(pages.next(), of: pages, isExtra: true)
  }

  private func leftIDs() throws(SyncError) -> [String: Set<String>] {
    context.options.mergeMode == .leaveIfChanged ? try target.idsToSkip(context) : [:]
  }

  /// Lists the records that LEAVE_IF_CHANGED skipped, since a query by date will not return them
  /// again.
  private func listLeft(since: Int64?) throws(SyncError) {
    var list: [String: Set<String>] = [:]
    if since != nil, !context.state.refetch.isEmpty {
      let kept = try leftIDs()
      for (soup, ids) in context.state.refetch {
        list[soup] = kept[soup, default: []].intersection(ids)
      }
    }
    keep(left(beside: list))
  }

  /// Returns the IDs that the run has skipped so far, plus these.
  private func left(beside ids: [String: Set<String>]) -> [String: Set<String>] {
    var list = ids
    for (soup, ids) in context.report.skipped { list[soup, default: []].formUnion(ids) }
    for (soup, ids) in context.leftTrees { list[soup, default: []].formUnion(ids) }
    return list
  }

  private func keep(_ list: [String: Set<String>]) {
    let list = list.filter { !$0.value.isEmpty }
    guard list.values.reduce(0, { $0 + $1.count }) <= Self.mostAsked else {
      cursor.reset()
      return context.set {
        $0.refetch = [:]
        $0.maxTimeStamp = cursor.maxTimeStamp
      }
    }
    context.set { $0.refetch = list.mapValues { $0.sorted() } }
  }

  /// Lists the records that are missing in the store.
  private func listMissing(_ remote: [RemoteIDs]) throws(SyncError) {
    let missing = try missing(of: remote)
    guard !missing.ids.isEmpty else { return }
    var list = context.state.refetch.mapValues { Set($0) }
    for (soup, ids) in missing.ids where missing.areRecordIDs && ids.count <= Self.mostAsked {
      list[soup, default: []].formUnion(ids.slice(0, of: ids.count))
    }
    let isList =
      missing.areRecordIDs && missing.ids.values.allSatisfy { $0.count <= Self.mostAsked }
    if isList { return keep(list) }
    context.set { $0.maxTimeStamp = -1 }
  }
}
