import MobileSync
import Salesforce
import SmartStore
import System

final class StorePrimer {
  private let input: PrimeInput
  let store: PrimeStore
  private let session: Session
  let files: StoreFiles
  var outcome = PrimeOutcome()
  /// The cursors of the syncs that ran, for `syncs_soup`.
  private var cursors: [String: SyncCursor] = [:]
  private let initial: [SyncState]
  /// The records that syncs have fetched in place of those that other syncs removed.
  private var held: [(sync: SyncDefinition, sink: SnapshotSink)] = []
  private let report: @Sendable (SyncEvent) -> Void

  init(
    _ store: PrimeStore, input: PrimeInput, session: Session,
    report: @escaping @Sendable (SyncEvent) -> Void
  ) throws(SyncError) {
    self.input = input
    self.store = store
    self.session = session
    self.report = report
    var initial: [SyncState] = []
    for sync in store.syncs {
      do throws(SyncError) {
        initial.append(try sync.newState(variables: input.variables))
      } catch {
        throw error.of(sync.syncName)
      }
    }
    self.initial = initial
    files = try StoreFiles(store, now: input.rowDate, initial: initial)
  }

  func run() async throws(SyncError) {
    for sync in store.syncs where sync.syncType == .syncDown {
      do throws(SyncError) {
        try await run(sync)
      } catch {
        throw error.of(sync.syncName)
      }
    }
    for (sync, sink) in held {
      for count in sink.counts(of: store.storeName, sync.syncName) { outcome.add(count) }
    }
  }

  private func run(_ sync: SyncDefinition) async throws(SyncError) {
    let places = sync.target.destinations(soupName: sync.soupName)
    let context = try makeContext(sync)
    if !isFull(sync) { context.knownStamps = try knownStamps(of: places, sync) }
    let sink = makeSink(sync, places, context)
    var request = SyncDownEngine.Request(cursor: cursor(of: sync), now: input.now)
    request.ghosts = input.listIDs.contains(key(sync.syncName)) ? .listed : .deleted
    request.guardLimits = input.ghosts
    (request.changed, request.edited) = (input.changed, input.edited)
    request.wasHeld = input.wasIncomplete
    guard let engine = SyncDownEngine(sync.target, context, into: sink, request) else {
      throw Self.isCustom
    }
    engine.others = { (soups) throws(SyncError) in try self.others(than: sync, of: soups) }
    let result = try await engine.run()
    let name = key(sync.syncName)
    cursors[sync.syncName] = engine.cursor
    outcome.cursors[name] = engine.cursor.highWaterMark
    if result.isListed { outcome.listed.insert(name) }
    keepStamps(result, context)
    var counts = sink.counts(of: store.storeName, sync.syncName)
    tell(context.report, &counts, sync)
    tell(result.ghosts, &counts, sync)
    for count in counts { try end(count) }
  }

  /// Writes the states and gives the files their names.
  func publish() throws(SyncError) {
    try files.makeWritable()
    for (sync, fresh) in zip(store.syncs, initial) {
      guard var state = files.states[sync.syncName] else { continue }
      state.target = fresh.target
      state.options = fresh.options
      state.soupName = fresh.soupName
      if sync.syncType == .syncDown {
        let fetched = outcome.soups.filter { $0.sync == sync.syncName }.map(\.fetched)
        state.finish(
          totalSize: fetched.reduce(0, +),
          maxTimeStamp: cursors[sync.syncName]?.maxTimeStamp ?? -1, started: input.now,
          ended: input.now)
      }
      if state != files.states[sync.syncName] { try files.save(state) }
    }
    try files.publish(input.finish)
  }

  /// The other syncs that select records of the given soups, the last one first.
  private func others(
    than sync: SyncDefinition, of soups: Set<String>
  ) throws(SyncError) -> [SyncDownEngine] {
    var engines: [SyncDownEngine] = []
    for other in store.syncs.reversed()
    where other.syncName != sync.syncName && other.target.selects
      && soups.contains(where: { fills($0, other) })
    {
      let context = try makeContext(other)
      let places = other.target.destinations(soupName: other.soupName)
      let sink = makeSink(other, places, context, isOfLost: true)
      held.append((other, sink))
      let request = SyncDownEngine.Request(
        cursor: SyncCursor(highWaterMark: nil, overlapSeconds: input.overlapSeconds),
        now: input.now)
      if let engine = SyncDownEngine(other.target, context, into: sink, request) {
        engines.append(engine)
      }
    }
    return engines
  }

  // MARK: environment of the syncs

  /// The sink for the records of a sync.
  ///
  /// `isOfLost` means that they are records that other syncs, even later ones, have removed.
  private func makeSink(
    _ sync: SyncDefinition, _ places: [SyncDestination], _ context: SyncContext,
    isOfLost: Bool = false
  ) -> SnapshotSink {
    SnapshotSink(
      files, places,
      make: { (place, platform) throws(SyncError) in
        let load = try self.makeLoad(sync, place, isOfLost)
        load.platform = platform
        load.reader = { (store) throws(SyncError) in
          context.store = store
          return try sync.target.idsToSkip(context)[place.soupName] ?? []
        }
        return load
      }, progress: isOfLost ? { _, _, _ in } : progress)
  }

  /// The key of a sync or soup among all stores.
  private func key(_ name: String) -> String { PrimeInput.key(store.storeName, name) }

  private func syncID(_ sync: SyncDefinition) -> Int64 { files.states[sync.syncName]?.id ?? -1 }

  /// Whether a sync cannot continue from its cursor: there is no earlier state, or its definition
  /// has changed.
  private func isFull(_ sync: SyncDefinition) -> Bool {
    guard !files.isInitialLoad, !input.changedDefinitions.contains(key(sync.syncName)),
      let index = store.syncs.firstIndex(where: { $0.syncName == sync.syncName }),
      let state = files.states[sync.syncName]
    else { return true }
    return state.target != initial[index].target || state.soupName != initial[index].soupName
  }

  /// The cursor of a sync; empty if the sync is full.
  private func cursor(of sync: SyncDefinition) -> SyncCursor {
    SyncCursor(
      highWaterMark: isFull(sync) ? nil : input.cursors[key(sync.syncName)],
      overlapSeconds: input.overlapSeconds)
  }

  /// The context of a target: the stores before its changes.
  private func makeContext(_ sync: SyncDefinition) throws(SyncError) -> SyncContext {
    guard let state = files.states[sync.syncName], let first = files.stores.first else {
      throw SyncError(.store, "no store is open to sync into")
    }
    var settings = SyncSettings(overlapSeconds: input.overlapSeconds)
    settings.bulkAbove = input.bulkAbove
    let context = SyncContext(
      state, options: sync.options, settings: settings, store: first,
      login: { [session] in session })
    context.platforms = files.stores.map(\.platform)
    context.variables = input.variables
    (context.wide, context.wideSync) = (input.wide, key(sync.syncName))
    context.ruleErrorPolicy = input.onRuleErrors
    context.pool = input.pool
    return context
  }

  /// The stamps of the soups' records, if they show that a record has not changed since.
  ///
  /// If another sync shares a soup, it may have removed a record as its ghost.
  private func knownStamps(
    of places: [SyncDestination], _ sync: SyncDefinition
  ) throws(SyncError) -> [String: [String: Int64]] {
    var known: [String: [String: Int64]] = [:]
    for soup in Set(places.map(\.soupName)) {
      var stamps = input.knownStamps[key(soup)] ?? [:]
      if let read = input.stampsRead {
        let settled = read - Int64(input.overlapSeconds) * 1000
        stamps = stamps.filter { $0.value <= settled }
      }
      known[soup] = stamps
      guard !stamps.isEmpty, isShared(soup, sync), let first = files.stores.first else { continue }
      let here = try SoupReader(store: first, soup: soup).allIDs(idPath: "Id")
      known[soup] = stamps.filter { here.contains($0.key) }
    }
    return known
  }

  /// Keeps the stamps that the target listed for the next run.
  ///
  /// An ID that could not be read is requested again, and a record kept as a ghost is still known.
  private func keepStamps(_ result: SyncDownEngine.Outcome, _ context: SyncContext) {
    for (soup, listed) in result.stamps {
      let before = context.knownStamps?[soup] ?? [:]
      var stamps = result.isClean ? listed : before.merging(listed) { $1 }
      for id in context.report.unreadable[soup] ?? [] { stamps[id] = before[id] }
      // Another sync of the store may have filled the soup too.
      outcome.stamps[key(soup), default: [:]].merge(stamps) { max($0, $1) }
    }
  }

  private func makeLoad(
    _ sync: SyncDefinition, _ place: SyncDestination, _ isOfLost: Bool
  ) throws(SyncError) -> SoupLoad {
    guard let config = store.config[place.soupName] else {
      throw SyncError(
        .definition, "the store \"\(store.storeName)\" has no soup \"\(place.soupName)\"",
        fix: "add it to the store's configuration")
    }
    var options = BulkLoader.Options(
      soup: place.soupName, specs: config.indexes, syncID: syncID(sync), now: input.rowDate)
    options.method = input.method
    options.idPath = place.idPath
    options.modificationPath = place.modificationPath
    return SoupLoad(
      files, options: options, mergeMode: sync.options.mergeMode,
      laterSyncIDs: isOfLost ? [] : laterSyncs(than: sync, of: place.soupName).map(syncID),
      count: SoupCount(store: store.storeName, sync: sync.syncName, soup: place.soupName))
  }

  /// The later syncs down that fill the same soup.
  private func laterSyncs(than sync: SyncDefinition, of soup: String) -> [SyncDefinition] {
    store.syncs.drop { $0.syncName != sync.syncName }.dropFirst().filter { fills(soup, $0) }
  }

  /// Whether another sync down fills the soup too.
  private func isShared(_ soup: String, _ sync: SyncDefinition) -> Bool {
    store.syncs.contains { $0.syncName != sync.syncName && fills(soup, $0) }
  }

  private func fills(_ soup: String, _ sync: SyncDefinition) -> Bool {
    sync.syncType == .syncDown
      && sync.target.filledSoups(soupName: sync.soupName).contains(soup)
  }

  /// Reports the progress of a soup.
  private func progress(
    _ count: SoupCount, of total: Int, _ event: (SyncEvent.Progress) -> SyncEvent
  ) {
    report(
      event(
        SyncEvent.Progress(
          store: count.store, sync: count.sync, soup: count.soup, records: count.fetched,
          total: total)))
  }

  private func warn(_ message: String, _ sync: SyncDefinition) {
    let text = "sync \"\(sync.syncName)\": \(message)"
    outcome.warnings.append(text)
    report(.warning(text))
  }

  /// Reports the target's messages.
  private func tell(_ report: SyncReport, _ counts: inout [SoupCount], _ sync: SyncDefinition) {
    for warning in report.warnings { warn(warning, sync) }
    outcome.hadRuleErrors = outcome.hadRuleErrors || !report.ruleErrors.isEmpty
    for index in counts.indices {
      let ids = report.unreadable[counts[index].soup] ?? []
      counts[index].unreadable += ids
      guard !ids.isEmpty else { continue }
      warn(
        "\(CountText.of(ids.count, "record")) of soup \"\(counts[index].soup)\" "
          + "\(ids.count == 1 ? "is" : "are") in the briefcases, "
          + "but cannot be read", sync)
    }
  }

  /// Reports the records that the org no longer returns, removed or kept by the guard.
  private func tell(
    _ ghosts: [GhostCleaner.Ghosts], _ counts: inout [SoupCount], _ sync: SyncDefinition
  ) {
    for found in ghosts {
      guard let index = counts.firstIndex(where: { $0.soup == found.soupName }) else {
        continue
      }
      if found.isAllowed {
        counts[index].ghosts += found.count
        continue
      }
      outcome.guardTripped = true
      outcome.refused.insert(key(sync.syncName))
      warn(found.keptText + "; " + DeletionGuard.fixByOption, sync)
    }
  }

  /// Ends a soup and adds its count to the outcome.
  private func end(_ count: SoupCount) throws(SyncError) {
    var count = count
    if let first = files.stores.first {
      count.total = try SoupReader(store: first, soup: count.soup).count()
    }
    outcome.soups.append(count)
    progress(count, of: count.fetched, SyncEvent.finished)
  }

  private static let isCustom = SyncError(
    .definition, "the target is implemented in the app, so a prime cannot run it",
    fix: "remove the sync from the pipeline")
}
