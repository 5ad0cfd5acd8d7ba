import Salesforce
import SmartStore

/// What a running sync uses: the store, the org, and the observers of its progress.
package final class SyncContext {
  /// The sync's state as last set.
  package private(set) var state: SyncState
  /// The options of the sync.
  let options: SyncOptions
  /// The manager's settings.
  let settings: SyncSettings
  /// The store to read from; a prime replaces it with a copy at the first change.
  package var store: Store
  /// The platforms of the stores being filled; a prime fills several.
  package var platforms: [Platform]
  /// The outcome of the run so far.
  package var report = SyncReport()
  /// The SOQL literals for `:name` in queries.
  package var variables: [String: String] = [:]
  /// Whether the soups were empty when the run started, so that nothing in them was changed
  /// locally.
  var isInitialLoad = false
  /// Whether the soups may contain elements that no sync fetched.
  var mayHoldOrphans = false
  /// The greatest modification date seen by earlier runs, in milliseconds, if this run fetches only
  /// changes; nil if it fetches everything.
  package var seenUntil: Int64?
  /// Whether the fetch should also report deletions since then.
  var asksDeletions = false
  /// The modification date of each record in the stores, in milliseconds, by soup and ID; nil if
  /// only the cursor identifies changes.
  package var knownStamps: [String: [String: Int64]]?
  /// Records whose trees have local changes, so that the other records of the tree were skipped, by
  /// soup.
  package var leftTrees: [String: Set<String>] = [:]
  /// What to do if a briefcase rule fails.
  package var ruleErrorPolicy = RuleErrorPolicy.standard
  /// What is known about calls with several parts.
  package var wide = WideCalls()
  /// The name under which the sync is known there; nil if nothing is kept for other runs.
  package var wideSync: String?
  /// The records that the users of a run fetch for each other; nil if this user fetches all.
  package var pool: RecordPool?
  private let login: @Sendable () async throws(OrgError) -> Session
  private let save: (SyncState) throws(SyncError) -> Void
  private let shouldStop: () -> Bool

  /// Creates a context; `save` stores a state and reports it, `login` returns the session of the
  /// store's user.
  package init(
    _ state: SyncState, options: SyncOptions, settings: SyncSettings, store: Store,
    login: @escaping @Sendable () async throws(OrgError) -> Session,
    save: @escaping (SyncState) throws(SyncError) -> Void = { _ in },
    shouldStop: @escaping () -> Bool = { false }
  ) {
    self.state = state
    self.options = options
    self.settings = settings
    self.store = store
    platforms = [store.platform]
    self.login = login
    self.save = save
    self.shouldStop = shouldStop
  }

  /// The sync's ID, which is written to each record that the sync fetches.
  var syncID: Int64 { state.id }
  /// The soup that the sync's definition names.
  var soupName: String { state.soupName }

  /// Returns the session of the store's user, logging in the first time.
  func session() async throws(SyncError) -> Session {
    try await SyncError.inOrg { try await login() }
  }

  /// The width of the sync's calls for one kind of response.
  func width(_ content: WideCalls.Content) -> CallWidth { wide.width(wideSync ?? "", content) }

  /// The name of the ranges of a query; nil if nothing is kept for other runs.
  ///
  /// It includes the object, because IDs of another one do not cut its records.
  func rangesName(of query: SyncQuery) -> String? {
    wideSync.map { "\($0) \(query.objectName)" }
  }

  /// Returns the org's time in milliseconds; nil before the first response.
  func serverDate() async throws(SyncError) -> Int64? {
    try await session().serverDate
  }

  /// The org as a custom target sees it.
  var org: SyncOrg { SyncOrg(login) }

  /// Throws `stopped` if the manager was asked to stop; call it before each request.
  func checkStop() throws(SyncError) {
    if shouldStop() { throw SyncError(.stopped, "the sync was stopped") }
    if Task.isCancelled { throw SyncError(.cancelled, "the sync was cancelled") }
  }

  /// Changes the state without saving it; the next `update(_:)` saves it.
  package func set(_ change: (inout SyncState) -> Void) { change(&state) }

  /// Changes the state, saves it and notifies the observers.
  func update(_ change: (inout SyncState) -> Void) throws(SyncError) {
    change(&state)
    try save(state)
  }

  /// Continues with a warning, unless the error means that every other request would fail too.
  package func giveUp(on error: SyncError, _ what: String) throws(SyncError) {
    switch error.cause?.kind {
    case nil, .authentication?, .certificate?, .cancelled?, .configuration?: throw error
    default: warn("\(what): \(error.message)")
    }
  }

  /// The warning if the org does not return the modification dates of a type's records.
  static func unreadDates(of type: String) -> String {
    "the modification dates of \(type) could not be read"
  }

  /// The warning if the org does not confirm that records it does not find are deleted.
  static func unprovedDeletion(of type: String) -> String {
    "the deletion of records of \(type) could not be verified"
  }

  /// Adds a warning to the report.
  func warn(_ message: String) { report.warnings.append(message) }
}
