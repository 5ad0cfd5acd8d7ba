import JSON
import Salesforce
import SmartStore

/// The priming of one store of a snapshot.
final class StorePrime {
  let input: PrimeInput
  let store: PrimeStore
  let session: Session
  let files: StoreFiles
  var outcome = PrimeOutcome()
  /// The cursors of the syncs that ran, for `syncs_soup`.
  private var cursors: [String: SyncCursor] = [:]
  private let initial: [SyncState]
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
    files = try StoreFiles(store, now: input.now, initial: initial)
  }

  /// Runs the syncs down in the order of the file.
  func run() async throws(SyncError) {
    for sync in store.syncs where sync.syncType == .syncDown {
      do throws(SyncError) {
        switch sync.target {
        case .soql(let target): try await run(sync, target)
        case .briefcase(let target): try await run(sync, target)
        default:
          guard let target = sync.target.down else { throw Self.isCustom }
          try await run(sync, target)
        }
      } catch {
        throw error.of(sync.syncName)
      }
    }
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

  // MARK: what the syncs use

  /// The name of a sync or soup among all stores.
  func key(_ name: String) -> String { PrimeInput.key(store.storeName, name) }

  /// The id of a sync in this store.
  func syncID(_ sync: SyncDefinition) -> Int64 { files.states[sync.syncName]?.id ?? -1 }

  /// True when a sync cannot go on from where it stood: nothing is there, or its definition
  /// changed.
  func isFull(_ sync: SyncDefinition) -> Bool {
    guard !files.isInitialLoad, !input.changedDefinitions.contains(key(sync.syncName)),
      let index = store.syncs.firstIndex(where: { $0.syncName == sync.syncName }),
      let state = files.states[sync.syncName]
    else { return true }
    return state.target != initial[index].target || state.soupName != initial[index].soupName
  }

  /// Where a sync goes on from: nowhere when it is full, or when the org was set back behind it.
  ///
  /// What a device continues from must not lie in the org's future either. `rereads` says that
  /// everything is read again then, which a person is told.
  func cursor(of sync: SyncDefinition, rereads: Bool = true) -> SyncCursor {
    let cursor = SyncCursor(
      greatest: isFull(sync) ? nil : input.cursors[key(sync.syncName)],
      overlapSeconds: input.overlapSeconds)
    guard cursor.isAhead(of: input.now) else { return cursor }
    if rereads {
      warn("the org's clock stands before the last record that was read; all is read again", sync)
    }
    return SyncCursor(greatest: nil, overlapSeconds: input.overlapSeconds)
  }

  /// Remembers where a sync stands.
  func keep(_ cursor: SyncCursor, of sync: SyncDefinition) {
    cursors[sync.syncName] = cursor
    outcome.cursors[key(sync.syncName)] = cursor.greatest
  }

  /// The load of one soup of a sync.
  func makeLoad(
    _ sync: SyncDefinition, soup: String, idPath: String, modificationPath: String
  ) throws(SyncError) -> SoupLoad {
    guard let config = store.config[soup] else {
      throw SyncError(
        .definition, "the store \"\(store.storeName)\" has no soup \"\(soup)\"",
        fix: "add it to the store's configuration")
    }
    var options = BulkLoader.Options(
      soup: soup, specs: config.indexes, syncID: syncID(sync), now: input.now)
    options.idPath = idPath
    options.modificationPath = modificationPath
    return SoupLoad(
      files, options: options, mergeMode: sync.options.mergeMode,
      laterSyncIDs: laterSyncs(than: sync, of: soup).map(syncID),
      count: SoupCount(store: store.storeName, sync: sync.syncName, soup: soup))
  }

  /// The syncs down after this one that fill the same soup.
  private func laterSyncs(than sync: SyncDefinition, of soup: String) -> [SyncDefinition] {
    store.syncs.drop { $0.syncName != sync.syncName }.dropFirst().filter { later in
      guard later.syncType == .syncDown else { return false }
      let places = later.target.down?.destinations(soupName: later.soupName) ?? []
      return places.contains { $0.soupName == soup }
    }
  }

  /// Tells how a soup stands.
  func progress(
    _ count: SoupCount, of total: Int?, _ event: (SyncEvent.Progress) -> SyncEvent
  ) {
    report(
      event(
        SyncEvent.Progress(
          store: count.store, sync: count.sync, soup: count.soup, records: count.fetched,
          total: total)))
  }

  /// Notes something that a person should know of.
  func warn(_ message: String, _ sync: SyncDefinition) {
    let text = "sync \"\(sync.syncName)\": \(message)"
    outcome.warnings.append(text)
    report(.warning(text))
  }

  /// Takes what came of cleaning ghosts into the count; true when they are gone.
  func take(
    _ result: GhostCleaner.Result, into count: inout SoupCount, _ sync: SyncDefinition
  ) -> Bool {
    switch result {
    case .removed(let ghosts):
      count.ghosts += ghosts
      return true
    case .refused(let ghosts, let total):
      outcome.guardTripped = true
      outcome.refused.insert(key(sync.syncName))
      warn(
        "\(ghosts) of \(total) records of soup \"\(count.soup)\" are no longer given by the org, "
          + "more than \(input.ghosts.maxDeletesPercent) %; they were kept; "
          + "look why, then allow them once with --max-deletes",
        sync)
      return false
    }
  }

  /// Ends a soup: its count is part of the outcome.
  func end(_ count: SoupCount) throws(SyncError) {
    var count = count
    if let first = files.stores.first {
      count.total = try SoupReader(store: first, soup: count.soup).count()
    }
    outcome.soups.append(count)
    progress(count, of: count.fetched, SyncEvent.finished)
  }

  private static let isCustom = SyncError(
    .definition, "the target is code of the app, which a prime has not",
    fix: "leave the sync out of the pipeline")
}
