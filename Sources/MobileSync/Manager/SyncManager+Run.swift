import Salesforce
import SmartStore

extension SyncManager {
  /// Creates a sync down and runs it.
  public func syncDown(
    target: SyncTarget, options: SyncOptions = SyncOptions(), soupName: String,
    syncName: String? = nil
  ) throws(SyncError) -> SyncRun {
    try checkAccepting()
    return try start(
      createSyncDown(target: target, options: options, soupName: soupName, syncName: syncName))
  }

  /// Creates a sync up and runs it.
  public func syncUp(
    target: SyncTarget = .syncUp(SyncUpTarget()), options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) throws(SyncError) -> SyncRun {
    try checkAccepting()
    return try start(
      createSyncUp(target: target, options: options, soupName: soupName, syncName: syncName))
  }

  /// Runs a sync; the first run fetches everything, later runs fetch changes.
  public func reSync(id: Int64) throws(SyncError) -> SyncRun { try reSync(existing(id: id)) }

  /// Runs a sync; the first run fetches everything, later runs fetch changes.
  public func reSync(named name: String) throws(SyncError) -> SyncRun {
    try reSync(existing(named: name))
  }

  private func reSync(_ state: SyncState) throws(SyncError) -> SyncRun {
    var state = state
    // The last run may have stored only some of the records with its latest date.
    let isCut = state.status == .stopped || state.status == .failed
    if isCut, state.maxTimeStamp > 0 { state.maxTimeStamp -= 1 }
    return try start(state)
  }

  func existing(id: Int64) throws(SyncError) -> SyncState {
    guard let state = try syncStatus(id: id) else {
      throw SyncError(.unknownSync, "Sync \(id) does not exist")
    }
    return state
  }

  func existing(named name: String) throws(SyncError) -> SyncState {
    guard let state = try syncStatus(named: name) else {
      throw SyncError(.unknownSync, "Sync \(name) does not exist", syncName: name)
    }
    return state
  }

  // MARK: Queue

  func checkAccepting() throws(SyncError) {
    guard phase == .accepting else {
      throw SyncError(.stopped, "the sync manager was stopped", fix: "restart it first")
    }
  }

  /// Queues a sync and sets its status to RUNNING.
  private func start(_ state: SyncState) throws(SyncError) -> SyncRun {
    try enter(state, .sync)
    var state = state
    state.status = .running
    state.progress = 0
    state.totalSize = -1
    state.startTime = store.clock()
    state.endTime = 0
    state.error = ""
    do throws(SyncError) { try SyncsSoup.update(state, in: store) } catch {
      leave(state.id)
      throw error
    }
    let (states, continuation) = AsyncStream.makeStream(of: SyncState.self)
    continuation.yield(state)
    let begun = state
    let task = enqueue { manager in await manager.run(begun, continuation) }
    return SyncRun(syncID: state.id, states: states, task: task)
  }

  /// Registers work for a sync; throws if there is already work for it.
  func enter(_ state: SyncState, _ work: Work) throws(SyncError) {
    try checkAccepting()
    guard active[state.id] == nil else {
      throw SyncError(
        .running, "sync \(state.id) is still running", fix: "wait until it ends",
        syncName: state.name)
    }
    active[state.id] = work
  }

  /// Unregisters the work of a sync; the last one completes a stop.
  func leave(_ id: Int64) {
    active[id] = nil
    if phase == .stopRequested, active.isEmpty { phase = .stopped }
  }

  /// Runs `body` after all work queued before it.
  func enqueue<T: Sendable>(
    _ body: @escaping @Sendable (isolated SyncManager) async -> T
  ) -> Task<T, Never> {
    let previous = last
    let task = Task {
      await previous?.value
      return await body(self)
    }
    last = Task { _ = await task.value }
    return task
  }

  private func run(
    _ state: SyncState, _ continuation: AsyncStream<SyncState>.Continuation
  ) async -> SyncRun.End {
    var options = SyncOptions(stored: state.options)
    if settings.keepsUnsentChanges, state.type == .syncDown { options.mergeMode = .leaveIfChanged }
    let context = SyncContext(
      state, options: options, settings: settings, store: store, login: login,
      save: { (state) throws(SyncError) in
        // A change of the file would wait for the page that is being appended, for no reader.
        if self.sink?.isWritingPages != true { try SyncsSoup.update(state, in: self.store) }
        continuation.yield(state)
      },
      shouldStop: { self.phase != .accepting })
    var failure: SyncError?
    do throws(SyncError) {
      try context.checkStop()
      try await perform(context)
      end(context, .done, nil)
    } catch {
      failure = state.name.map { error.of($0) } ?? error
      let isStopped = error.code == .stopped || error.code == .cancelled
      end(context, isStopped ? .stopped : .failed, isStopped ? nil : error)
    }
    leave(state.id)
    continuation.yield(context.state)
    continuation.finish()
    return SyncRun.End(state: context.state, report: context.report, error: failure)
  }

  /// Saves how a run ended; the run ends even if this cannot be written.
  private func end(_ context: SyncContext, _ status: SyncState.Status, _ error: SyncError?) {
    context.set { state in
      state.status = status
      if status == .done { state.progress = 100 }
      if state.totalSize < 0, status == .done { state.totalSize = 0 }
      state.endTime = context.store.clock()
      if let error { state.error = error.description }
    }
    do throws(SyncError) { try SyncsSoup.update(context.state, in: store) } catch {
      context.warn("the sync's final state could not be written: \(error)")
    }
  }

  private func perform(_ context: SyncContext) async throws(SyncError) {
    let target = try context.state.syncTarget()
    if context.state.type == .syncDown {
      defer { sink = nil }
      let source = try down(target)
      let isCleared = try resetIfCleared(source, context)
      _ = try await engine(source, context).run()
      if isCleared, context.report.fetched > 0 {
        context.warn("the app had cleared the sync's soup: everything was read again")
      }
      return
    }
    switch target.kind {
    case let target as SyncUpTarget: try await up(target, context)
    case let target as CustomTarget: try await up(target, context)
    default: throw SyncError(.definition, "the target of this sync up is a sync down target")
    }
  }

  /// Resets a sync to a full run if the app cleared its soups since the last run: fetching only
  /// changes would miss records.
  private func resetIfCleared(
    _ target: any SyncDownTarget, _ context: SyncContext
  ) throws(SyncError) -> Bool {
    let places = target.destinations(soupName: context.soupName)
    guard context.state.maxTimeStamp > 0, !places.isEmpty else { return false }
    for place in places {
      let isEmpty = try SyncError.inStore {
        try store.hasSoup(place.soupName) && store.isEmpty(place.soupName)
      }
      if !isEmpty { return false }
    }
    context.set { $0.maxTimeStamp = -1 }
    return true
  }

  /// Returns the engine that syncs down into the manager's store.
  func engine(
    _ target: any SyncDownTarget, _ context: SyncContext, _ allowsAllDeletes: Bool = false
  ) -> SyncDownEngine {
    let cursor = SyncCursor(
      maxTimeStamp: context.state.maxTimeStamp, overlapSeconds: settings.overlapSeconds)
    var request = SyncDownEngine.Request(cursor: cursor)
    request.guardLimits = DeletionGuard(
      maxDeletesPercent: allowsAllDeletes ? 100 : settings.maxDeletesPercent,
      minimumDeletes: settings.minimumDeletes)
    let sink = StoreSink(context, target)
    self.sink = sink
    let engine = SyncDownEngine(target, context, into: sink, request)
    engine.others = { (soups) throws(SyncError) in
      try self.others(than: context.syncID, of: soups)
    }
    return engine
  }

  /// The other syncs down that select records of the given soups, the last one first.
  private func others(
    than syncID: Int64, of soups: Set<String>
  ) throws(SyncError) -> [SyncDownEngine] {
    var engines: [SyncDownEngine] = []
    for state in try syncs().reversed()
    where state.id != syncID && soups.contains(where: state.fills) {
      // A target that cannot be read selects nothing.
      guard let target = (try? state.syncTarget())?.down, target.selects else { continue }
      let context = SyncContext(
        state, options: SyncOptions(stored: state.options), settings: settings, store: store,
        login: login, shouldStop: { self.phase != .accepting })
      engines.append(
        SyncDownEngine(
          target, context, into: StoreSink(context, target),
          SyncDownEngine.Request(
            cursor: SyncCursor(highWaterMark: nil, overlapSeconds: settings.overlapSeconds))))
    }
    return engines
  }

  /// Returns the fetching side of a target.
  func down(_ target: SyncTarget) throws(SyncError) -> any SyncDownTarget {
    if let down = target.down { return down }
    guard let custom = target.kind as? CustomTarget else {
      throw SyncError(.notYet, "this kind of sync down is not supported")
    }
    return CustomDown(target: try customTargets.syncDown(custom))
  }

  // MARK: Stop and restart

  /// Whether syncs that were asked to stop are still running.
  public var isStopping: Bool { phase == .stopRequested }

  /// Whether nothing is running, and no sync is accepted until a restart.
  public var isStopped: Bool { phase == .stopped }

  /// Accepts no more syncs, and asks running and queued ones to stop; each ends as STOPPED.
  public func stop() {
    guard phase == .accepting else { return }
    phase = active.isEmpty ? .stopped : .stopRequested
  }

  /// Accepts syncs again; with `restartStoppedSyncs`, runs those that are STOPPED, in the order of
  /// their IDs.
  ///
  /// If the manager was not stopped, nothing changes and the result is empty.
  @discardableResult
  public func restart(restartStoppedSyncs: Bool) throws(SyncError) -> [SyncRun] {
    guard phase != .accepting else { return [] }
    guard !isClosed else {
      throw SyncError(
        .stopped, "the sync manager was closed", fix: "create a new one for the store")
    }
    phase = .accepting
    guard restartStoppedSyncs else { return [] }
    var runs: [SyncRun] = []
    for state in try syncs() where state.status == .stopped && active[state.id] == nil {
      runs.append(try reSync(state))
    }
    return runs
  }
}
