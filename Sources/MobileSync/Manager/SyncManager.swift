import Salesforce
import SmartStore
import System

/// Runs the syncs of one store, one after another, as the Mobile SDK's sync manager does.
///
/// The manager owns its store and a thread on which everything that touches the store runs. A sync
/// that is started waits for those before it, and shows RUNNING at once.
public actor SyncManager {
  private nonisolated let thread: ActorThread
  /// Where the manager runs: a thread of its own, because a store blocks.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let store: Store
  let settings: SyncSettings
  private let login: @Sendable () async throws(OrgError) -> Session
  private var phase = Phase.accepting
  private var active: Set<Int64> = []
  private var last: Task<Void, Never>?
  var variables: [String: String] = [:]

  /// What the manager does with a sync that is to be run.
  private enum Phase {
    case accepting, stopRequested, stopped
  }

  /// Takes over a store and makes its `syncs_soup` ready: what was RUNNING when a program ended is
  /// STOPPED.
  ///
  /// - Parameters:
  ///   - org: The org to sync with.
  ///   - username: The user as whom to act, where the credentials are for several.
  public init(
    store: sending Store, org: Org, username: String? = nil, settings: SyncSettings = SyncSettings()
  ) async throws(SyncError) {
    try await self.init(store: store, settings: settings) { () async throws(OrgError) in
      try await org.session(username: username)
    }
  }

  /// Takes over a store; `login` gives the session of its user.
  package init(
    store: sending Store, settings: SyncSettings,
    login: @escaping @Sendable () async throws(OrgError) -> Session
  ) async throws(SyncError) {
    thread = ActorThread(name: "sync")
    self.store = store
    self.settings = settings
    self.login = login
    try setUp()
  }

  private func setUp() throws(SyncError) {
    try SyncsSoup.register(in: store)
    for var state in try SyncsSoup.states(in: store) where state.status == .running {
      state.status = .stopped
      _ = try SyncsSoup.save(state, in: store)
    }
  }

  /// Works on the store; no sync writes meanwhile.
  public func withStore<T: Sendable>(_ body: (Store) throws -> T) rethrows -> T {
    try body(store)
  }

  // MARK: syncs

  /// Makes a sync down without running it.
  public func createSyncDown(
    target: SyncTarget, options: SyncOptions = SyncOptions(), soupName: String,
    syncName: String? = nil
  ) throws(SyncError) -> SyncState {
    try create(.syncDown, target, options, soupName, syncName)
  }

  /// Makes a sync up without running it.
  public func createSyncUp(
    target: SyncTarget = .syncUp(SyncUpTarget()), options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) throws(SyncError) -> SyncState {
    try create(.syncUp, target, options, soupName, syncName)
  }

  private func create(
    _ type: SyncType, _ target: SyncTarget, _ options: SyncOptions, _ soupName: String,
    _ syncName: String?
  ) throws(SyncError) -> SyncState {
    let state = SyncState(
      type: type, name: syncName, target: try target.stored(variables: variables),
      options: options.json, soupName: soupName)
    return try SyncsSoup.save(state, in: store)
  }

  /// The sync of an id.
  public func syncStatus(id: Int64) throws(SyncError) -> SyncState? {
    try SyncsSoup.states(in: store).first { $0.id == id }
  }

  /// The sync of a name.
  public func syncStatus(named name: String) throws(SyncError) -> SyncState? {
    try SyncsSoup.states(in: store).first { $0.name == name }
  }

  // MARK: running

  /// Runs a sync: everything the first time, then what changed.
  public func reSync(id: Int64) throws(SyncError) -> SyncRun {
    guard let state = try syncStatus(id: id) else {
      throw SyncError(.unknownSync, "sync \(id) does not exist")
    }
    return try start(state)
  }

  /// Runs a sync: everything the first time, then what changed.
  public func reSync(named name: String) throws(SyncError) -> SyncRun {
    guard let state = try syncStatus(named: name) else {
      throw SyncError(.unknownSync, "a sync of this name does not exist", syncName: name)
    }
    return try start(state)
  }

  private func start(_ state: SyncState) throws(SyncError) -> SyncRun {
    guard phase == .accepting else { throw SyncError(.stopped, "the sync manager was stopped") }
    guard active.insert(state.id).inserted else {
      throw SyncError(.running, "sync \(state.id) is still running", syncName: state.name)
    }
    let (states, continuation) = AsyncStream.makeStream(of: SyncState.self)
    let previous = last
    let task = Task { () -> SyncRun.End in
      await previous?.value
      let end = await run(state, continuation)
      continuation.finish()
      return end
    }
    last = Task { _ = await task.value }
    return SyncRun(syncID: state.id, states: states, task: task)
  }

  private func run(
    _ state: SyncState, _ continuation: AsyncStream<SyncState>.Continuation
  ) async -> SyncRun.End {
    let context = SyncContext(
      state, options: SyncOptions(), settings: settings, store: store, login: login,
      save: { (state) throws(SyncError) in
        if state.status != .running { self.active.remove(state.id) }
        _ = try SyncsSoup.save(state, in: self.store)
        continuation.yield(state)
      },
      shouldStop: { self.phase != .accepting })
    var failure: SyncError?
    do throws(SyncError) {
      try context.checkStop()
      try await perform(context)
      try context.update { $0.status = .done }
    } catch {
      failure = error
    }
    return SyncRun.End(state: context.state, report: context.report, error: failure)
  }

  private func perform(_ context: SyncContext) async throws(SyncError) {
    throw SyncError(.notYet, "")
  }
}
