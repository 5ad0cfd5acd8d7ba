import Salesforce
import SmartStore
import System

/// Runs a sync down of any kind into any sink: the one place that says what a sync down is.
///
/// It asks the target for what was modified after the cursor, or for everything, and hands page
/// after page to the sink. The cursor follows: to the greatest modification date that was seen, but
/// never beyond what is still to be read, nor beyond the org's clock at the first answer; where records
/// come in its order it follows each page.
/// Then, where the caller asks for it, it fetches what came to match without being modified and
/// removes what the org no longer gives (`GhostCleaner`).
///
/// A run that breaks off leaves the cursor behind what was stored.
package final class SyncDownEngine {
  /// What a run does about records that the org no longer gives.
  package enum GhostStep: Sendable {
    /// Nothing: somebody asks for it with `cleanGhosts`, as apps do.
    case left
    /// Removes what was deleted since the cursor, by one question an object.
    case deleted
    /// Lists all ids: removes what is not among them, fetches what is not here.
    case listed
  }

  /// What a run is to do.
  package struct Request {
    /// Where the sync goes on from.
    package var cursor: SyncCursor
    /// The time that bounds the cursor, in milliseconds; nil for the org's clock as its answers
    /// tell it.
    package var now: Int64?
    /// What to do about records that the org no longer gives.
    package var ghosts = GhostStep.left
    /// How many of them may go.
    package var guardLimits = DeletionGuard()
    /// The records that edits of the stores' user have changed since the last run: what of them does not match
    /// any more goes, for no question for changes tells it, whatever a guard says.
    package var changed: Set<String> = []
    /// Whether the last run held the cursor before something that it could not read.
    package var wasHeld = false

    /// A run that goes on from a cursor.
    package init(cursor: SyncCursor, now: Int64? = nil) {
      self.cursor = cursor
      self.now = now
    }
  }

  /// What a run did beyond what the sink counts.
  package struct Outcome {
    /// The ghosts that were found, gone or kept by the guard.
    package var ghosts: [GhostCleaner.Ghosts] = []
    /// Whether all ids were listed, and what is not among them is gone.
    package var isListed = false
    /// Whether nothing was kept that may be gone.
    package var isClean = false
    /// The records that the target listed, by soup, with their stamps.
    package var stamps: [String: [String: Int64]] = [:]
  }

  let target: any SyncDownTarget
  let context: SyncContext
  let sink: any RecordSink
  private let request: Request
  /// The other syncs that select records of some soups of the store, the last one first.
  package var others: (_ soups: Set<String>) throws(SyncError) -> [SyncDownEngine] = { _ in [] }
  /// Where the sync stands.
  package private(set) var cursor: SyncCursor
  /// The records that came, where it matters.
  private(set) var arrived = RecordIDSet()
  /// What bounds the cursor, in milliseconds: what was changed later may stand on a page that was read before.
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

  /// Prepares a sync down of a target; nil for one that is none, or whose code is elsewhere.
  package convenience init?(
    _ target: SyncTarget, _ context: SyncContext, into sink: any RecordSink, _ request: Request
  ) {
    guard let target = target.down else { return nil }
    self.init(target, context, into: sink, request)
  }

  /// Fetches, stores and cleans.
  package func run() async throws(SyncError) -> Outcome {
    var since = try await start()
    var pages = try await target.pages(since: since, context)
    var first = try await pages.next()
    // The answer told the org's clock anew: it may have been set back since the one before.
    if since != nil, try await start() == nil {
      since = nil
      pages = try await target.pages(since: nil, context)
      first = try await pages.next()
    }
    limit = try await clock()
    context.seenUntil = since == nil ? nil : cursor.highWaterMark
    try await load(consume first, of: pages)
    if since != nil { try await refetch() }
    if pages.isCut { try await renewUnseen() }
    try moveCursor(after: pages)
    try listLeft(since: since)
    var outcome = Outcome()
    outcome.stamps = pages.stamps ?? [:]
    guard request.ghosts != .left else { return outcome }
    if sink.isInitialLoad {
      outcome.isClean = pages.remoteIDs?.allSatisfy { $0.ids != nil } ?? true
    } else {
      try await clean(after: pages, since: since, &outcome)
    }
    return outcome
  }

  /// Removes the records that the org no longer gives; `policy` throws before any goes where there
  /// are too many.
  func cleanGhosts() async throws(SyncError) -> Outcome {
    var outcome = Outcome()
    let cleaner = self.cleaner
    // Nothing here, nothing to ask for.
    var hasRecords = false
    for place in target.destinations(soupName: context.soupName) where !hasRecords {
      hasRecords = try cleaner.hasCandidates(in: place)
    }
    guard hasRecords else { return outcome }
    let remote = try await target.remoteIDs(context)
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

  // MARK: the cursor

  /// What to ask for: what was modified after this, nil for everything.
  private func start() async throws(SyncError) -> Int64? {
    if let now = try await now(), cursor.isAhead(of: now) {
      context.warn("the org's clock stands before the last record that was read; all is read again")
      cursor.reset()
      context.knownStamps = nil
      context.set { $0.maxTimeStamp = -1 }
    }
    return cursor.since
  }

  private func now() async throws(SyncError) -> Int64? {
    if let now = request.now { return now }
    // A device's cursor has no overlap in it.
    return try await clock().map { $0 + cursor.overlap }
  }

  /// The org's clock, or the run's: it is told in whole seconds.
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

  /// What the cursor was held for is here now, and may be older than what was here before.
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

  // MARK: records

  /// Nobody keeps the first page: its bytes would be in memory as long as all the others come.
  private func load(
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
      // The first change of a snapshot has put copies in the place of its stores.
      context.store = sink.stores.first ?? context.store
      arrived += current.records ?? records
      pages.recycle(current, records: records)
      if !isExtra { try tell(arrived, of: pages) }
      try context.checkStop()
      page = try await pages.next()
    }
  }

  /// Notes which records came, where a run asks about those that did not: those that its user has changed, or all
  /// others that a cut result does not bring.
  private func note(_ page: SyncPage, of pages: any SyncDownPages) throws(SyncError) {
    guard pages.isCut || !request.changed.isEmpty && !sink.isInitialLoad else { return }
    for part in page.parts {
      try arrived.insert(part.bytes, part.destination.idPath, in: part.container)
    }
  }

  /// Follows a page with the cursor, and tells how far the run came.
  private func tell(_ arrived: Int, of pages: any SyncDownPages) throws(SyncError) {
    if pages.isSorted {
      // A record that was changed since the run began came in the place of its date before: what lies between
      // the two is still to come.
      if let latest = sink.latestModification, latest <= limit ?? latest { advance() }
      context.set { $0.maxTimeStamp = cursor.maxTimeStamp }
      // A run that breaks off must not forget what its cursor has passed.
      keep(left(beside: context.state.refetch.mapValues { Set($0) }))
    }
    let total = max(0, pages.totalSize)
    guard arrived < total else { return }
    try context.update { state in
      state.progress = 100 * arrived / total
      state.totalSize = total
    }
  }

  // MARK: what is not among the changes

  var cleaner: GhostCleaner {
    GhostCleaner(sink: sink, guardLimits: request.guardLimits, syncID: context.syncID)
  }

  private func clean(
    after pages: any SyncDownPages, since: Int64?, _ outcome: inout Outcome
  ) async throws(SyncError) {
    let isWhole = since == nil || pages.isWhole
    let listsAll = isWhole || request.ghosts == .listed
    var remote: [RemoteIDs]
    if let told = pages.remoteIDs {
      remote = told
      outcome.ghosts = try await removeChanged(told)
      if listsAll, context.report.ruleErrors.isEmpty, told.contains(where: { $0.ids == nil }) {
        context.warn("which of its records the org still has cannot be told; none was removed")
      }
    } else if listsAll {
      remote = try await target.remoteIDs(context)
      // Of a list that is cut nobody can tell what is missing; what was deleted can be asked for.
      if let since, remote.contains(where: { $0.ids == nil }) {
        remote += try await target.deletions(since: since, context)
      }
      outcome.ghosts = try await removeChanged(remote)
      // Where all was fetched, what is not here came into being since.
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
    // What the guard kept is looked at again in the next run.
    outcome.isClean =
      found.allSatisfy(\.isAllowed) && remote.allSatisfy { $0.ids != nil }
    outcome.isListed = outcome.isClean && (listsAll || pages.remoteIDs != nil)
  }

  /// Removes what its user's own edits took out of what the sync selects, where lists of all ids tell it.
  private func removeChanged(
    _ told: [RemoteIDs]
  ) async throws(SyncError) -> [GhostCleaner.Ghosts] {
    guard !request.changed.isEmpty else { return [] }
    let changed = RecordIDSet(request.changed)
    // A deletion in the org is no edit of the user.
    let lists = told.filter { !$0.areDeleted }.map { $0.expecting(changed) }
    let ghosts = try await ghosts(of: lists)
    try cleaner.remove(ghosts)
    return ghosts
  }

  /// Removes what its user's own edits took out of what the sync selects: the org is asked for those of them
  /// that are here and did not come.
  private func removeChanged() async throws(SyncError) -> [GhostCleaner.Ghosts] {
    guard !request.changed.isEmpty else { return [] }
    let changed = RecordIDSet(request.changed)
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

  /// Fetches what the org has and is not here, or only as it was before.
  func fetchMissing(_ remote: [RemoteIDs]) async throws(SyncError) {
    let missing = try missing(of: remote)
    guard !missing.ids.isEmpty else { return }
    let pages =
      missing.areRecordIDs
      ? try await target.pages(among: missing.ids, context)
      : try await target.pages(since: nil, context)
    try await load(pages.next(), of: pages, isExtra: true)
  }

  /// What the org has and is not here, or is here as it was before, by soup.
  ///
  /// A record may come to match without being modified: by a change of its parent, a share, the
  /// calendar, or because it was another sync's ghost. No query for changes finds it. A set of ids
  /// knows record ids by heart; another key may have lost its end in it. What changed while it was out of
  /// reach has another date than the one that is here.
  private func missing(
    of remote: [RemoteIDs]
  ) throws(SyncError) -> (ids: [String: IDList], areRecordIDs: Bool) {
    guard let store = sink.stores.first else { return ([:], true) }
    var missing: [String: IDList] = [:]
    var areRecordIDs = true
    for list in remote {
      guard let ids = list.ids else { continue }
      var absent = IDList()
      // What was asked for is here.
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

  // MARK: what is to be fetched again

  /// More ids than this are not asked for one by one: everything is read again, or all ids are listed.
  static let mostAsked = 2000

  /// Fetches what earlier runs put on the list, but what is still changed locally.
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

  /// Puts on the list what LEAVE_IF_CHANGED left: the org's record will not come again by its date.
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

  /// The ids that the run left so far, and these.
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

  /// Puts on the list what the org has and is not here.
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
