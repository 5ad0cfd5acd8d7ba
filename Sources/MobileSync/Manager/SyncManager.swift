import Salesforce
import SmartStore
import System

/// Runs the syncs of one store, one after another, as the Mobile SDK's sync manager does.
///
/// The manager owns its store and a thread on which everything that touches the store runs. A sync
/// that is started waits for those before it, and shows RUNNING at once. Each change of the store is
/// made under the lock that every `StoreQueue` of every process takes.
///
/// ```swift
/// let manager = try await SyncManager(store: store, org: org, customTargets: targets)
/// ```
public actor SyncManager {
  private nonisolated let thread: ActorThread
  /// Where the manager runs: a thread of its own, because a store blocks.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let store: Store
  let settings: SyncSettings
  let customTargets: CustomTargets
  let login: @Sendable () async throws(OrgError) -> Session
  /// What the manager does with a sync that is to be run.
  var phase = Phase.accepting
  /// What waits or runs, by the id of the sync.
  var active: [Int64: Work] = [:]
  /// The end of what was started last: the next waits for it.
  var last: Task<Void, Never>?
  /// The store as the sync that runs now fills it.
  var sink: StoreSink?
  /// Whether the manager was told to close its store: it takes nothing any more.
  var isClosed = false

  /// Whether syncs are taken.
  enum Phase {
    case accepting, stopRequested, stopped
  }

  /// What is done for a sync.
  enum Work {
    case sync, ghosts
  }

  /// Takes over a store and makes its `syncs_soup` ready: what was RUNNING when a program ended is
  /// STOPPED.
  ///
  /// - Parameters:
  ///   - org: The org to sync with.
  ///   - username: The user as whom to act, where the credentials are for several.
  ///   - settings: What to do beyond what the syncs say.
  ///   - customTargets: The code of targets that are the program's own.
  public init(
    store: sending Store, org: Org, username: String? = nil,
    settings: SyncSettings = SyncSettings(), customTargets: CustomTargets = CustomTargets()
  ) async throws(SyncError) {
    try await self.init(store: store, settings: settings, customTargets: customTargets) {
      () async throws(OrgError) in try await org.session(username: username)
    }
  }

  /// Takes over a store; `login` gives the session of its user.
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
    try SyncError.inStore { try store.share(waitSeconds: settings.waitSeconds) }
    try SyncsSoup.register(in: store)
    for var state in try SyncsSoup.states(in: store) where state.status == .running {
      state.status = .stopped
      try SyncsSoup.update(state, in: store)
    }
  }

  /// Works on the store; no sync writes meanwhile.
  ///
  /// The first load of a soup is one change of the store; it is ended before, and goes on page by
  /// page afterwards, slower.
  public func withStore<T: Sendable>(_ body: @Sendable (Store) throws -> T) rethrows -> T {
    try body(settledStore)
  }

  /// Works on the store; a failure is a sync's.
  func inStore<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws(SyncError) -> T {
    try SyncError.inStore { try body(settledStore) }
  }

  /// The store, in which what is written is durable by itself.
  var settledStore: Store {
    sink?.settle()
    return store
  }

  /// Stops, waits for what runs, and closes the store; the manager is of no more use.
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

  /// The sync of an id; nil when there is none.
  public func syncStatus(id: Int64) throws(SyncError) -> SyncState? {
    try SyncsSoup.state(id: id, in: store)
  }

  /// The sync of a name; nil when there is none.
  public func syncStatus(named name: String) throws(SyncError) -> SyncState? {
    try SyncsSoup.states(in: store).first { $0.name == name }
  }

  /// Says whether there is a sync of this name.
  public func hasSync(named name: String) throws(SyncError) -> Bool {
    try syncStatus(named: name) != nil
  }

  /// All syncs, by id.
  public func syncs() throws(SyncError) -> [SyncState] { try SyncsSoup.states(in: store) }

  /// Forgets a sync; the records that it brought stay.
  ///
  /// An unknown id is no error.
  public func deleteSync(id: Int64) throws(SyncError) {
    try SyncsSoup.remove(id: id, from: settledStore)
  }

  /// Forgets a sync; the records that it brought stay.
  ///
  /// An unknown name is no error.
  public func deleteSync(named name: String) throws(SyncError) {
    guard let state = try syncStatus(named: name) else { return }
    try deleteSync(id: state.id)
  }
}
