import Salesforce
import SmartStore
import System

/// Runs the syncs of one store, one after another, as the Mobile SDK's sync manager does.
///
/// The manager owns its store and a thread that runs all access to the store. A started sync is
/// RUNNING at once and waits for the syncs before it. Each change of the store holds the lock that
/// is shared with every `StoreQueue` of every process.
///
/// ```swift
/// let manager = try await SyncManager(store: store, org: org, customTargets: targets)
/// ```
public actor SyncManager {
  private nonisolated let thread: ActorThread
  /// The thread on which the manager runs; it is a dedicated one because store access blocks.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let store: Store
  let settings: SyncSettings
  let customTargets: CustomTargets
  let login: @Sendable () async throws(OrgError) -> Session
  /// Whether the manager accepts syncs.
  var phase = Phase.accepting
  /// The queued or running work, by the sync's ID.
  var active: [Int64: Work] = [:]
  /// The work that was queued last; the next one waits for it.
  var last: Task<Void, Never>?
  /// The store as seen by the running sync.
  var sink: StoreSink?
  /// Whether the manager was closed, so that it accepts no calls.
  var isClosed = false

  /// The phases of accepting syncs.
  enum Phase {
    case accepting, stopRequested, stopped
  }

  /// The kinds of work for a sync.
  enum Work {
    case sync, ghosts
  }

  /// Takes ownership of a store and prepares its `syncs_soup`: syncs left RUNNING by a program that
  /// ended become STOPPED.
  ///
  /// - Parameters:
  ///   - org: The org to sync with.
  ///   - username: The user to act as, if the credentials cover several users.
  ///   - settings: The manager's settings.
  ///   - customTargets: The code of the program's custom targets.
  public init(
    store: sending Store, org: Org, username: String? = nil,
    settings: SyncSettings = SyncSettings(), customTargets: CustomTargets = CustomTargets()
  ) async throws(SyncError) {
    try await self.init(store: store, settings: settings, customTargets: customTargets) {
      () async throws(OrgError) in try await org.session(username: username)
    }
  }

  /// Takes ownership of a store; `login` returns the session of its user.
  package init(
    store: sending Store, settings: SyncSettings = SyncSettings(),
    customTargets: CustomTargets = CustomTargets(),
    login: @escaping @Sendable () async throws(OrgError) -> Session
  ) async throws(SyncError) {
    thread = ActorThread(name: "sync")
    self.store = store
    self.settings = settings
    self.customTargets = customTargets
    self.login = login
    try setUp()
  }

  private func setUp() throws(SyncError) {
    if !store.isDisposable {
      try SyncError.inStore { try store.share(waitSeconds: settings.waitSeconds) }
    }
    try SyncsSoup.register(in: store)
    for var state in try SyncsSoup.states(in: store) where state.status == .running {
      state.status = .stopped
      try SyncsSoup.update(state, in: store)
    }
  }

  /// Runs `body` with the store while no sync writes to it.
  ///
  /// The first load of a soup is a single transaction. This call commits it first, and the load
  /// then continues page by page, more slowly.
  public func withStore<T: Sendable>(_ body: @Sendable (Store) throws -> T) rethrows -> T {
    try body(settledStore)
  }

  /// Runs `body` with the store; its errors become a `SyncError`.
  func inStore<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws(SyncError) -> T {
    try SyncError.inStore { try body(settledStore) }
  }

  /// The store after committing the current transaction, so that each further write is durable.
  var settledStore: Store {
    sink?.settle()
    return store
  }

  /// Stops, waits for running work and closes the store; the manager cannot be used afterwards.
  public func close() async throws(SyncError) {
    if isClosed {
      await last?.value
      return
    }
    isClosed = true
    stop()
    await last?.value
    phase = .stopped
    try SyncError.inStore { try store.close() }
  }

  // MARK: Syncs

  /// Creates a sync down without running it.
  public func createSyncDown(
    target: SyncTarget, options: SyncOptions = SyncOptions(), soupName: String,
    syncName: String? = nil
  ) throws(SyncError) -> SyncState {
    try create(.syncDown, target, options, soupName, syncName)
  }

  /// Creates a sync up without running it.
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
    if let syncName, try syncStatus(named: syncName) != nil {
      let kind = type == .syncDown ? "down" : "up"
      throw SyncError(
        .definition,
        "Failed to create sync \(kind): there is already a sync with name:\(syncName)",
        fix: "give it another name", syncName: syncName)
    }
    let state = SyncState(
      type: type, name: syncName, target: try target.stored(variables: settings.variables),
      options: options.json, soupName: soupName)
    return try SyncsSoup.save(state, in: settledStore)
  }

  /// The sync with an ID; nil if there is none.
  public func syncStatus(id: Int64) throws(SyncError) -> SyncState? {
    try SyncsSoup.state(id: id, in: store)
  }

  /// The sync with a name; nil if there is none.
  public func syncStatus(named name: String) throws(SyncError) -> SyncState? {
    try SyncsSoup.states(in: store).first { $0.name == name }
  }

  /// Whether a sync has this name.
  public func hasSync(named name: String) throws(SyncError) -> Bool {
    try syncStatus(named: name) != nil
  }

  /// All syncs, ordered by ID.
  public func syncs() throws(SyncError) -> [SyncState] { try SyncsSoup.states(in: store) }

  /// Deletes a sync but not the records that it fetched.
  ///
  /// An unknown ID is not an error.
  public func deleteSync(id: Int64) throws(SyncError) {
    try SyncsSoup.remove(id: id, from: settledStore)
  }

  /// Deletes a sync but not the records that it fetched.
  ///
  /// An unknown name is not an error.
  public func deleteSync(named name: String) throws(SyncError) {
    guard let state = try syncStatus(named: name) else { return }
    try deleteSync(id: state.id)
  }
}
