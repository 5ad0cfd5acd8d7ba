import Salesforce
import SmartStore

/// What a running sync works with: the store, the org, and those who wait for its progress.
package final class SyncContext {
  /// The state of the sync as it is saved.
  package private(set) var state: SyncState
  /// The options of the sync.
  let options: SyncOptions
  /// What the manager was told beyond the syncs.
  let settings: SyncSettings
  /// The store to read from; a prime puts a copy in its place when the first change comes.
  package var store: Store
  /// The platforms of the stores that are filled; a prime fills several.
  package var platforms: [Platform]
  /// What the run did so far.
  package var report = SyncReport()
  /// SOQL literals for `:name` in queries.
  package var variables: [String: String] = [:]
  /// Whether the soups were empty when the run began: nothing in them was changed locally.
  var isInitialLoad = false
  /// Whether elements that no sync brought may be in the soups.
  var mayHoldOrphans = false
  /// The greatest modification date that earlier runs have seen, in milliseconds, where this run asks
  /// only for what changed; nil where it asks for everything.
  package var seenUntil: Int64?
  /// Whether it is wished that the fetch tells what was deleted since.
  var asksDeletions = false
  /// When each record of a soup last changed as far as the stores have it, in milliseconds, by soup
  /// and id; nil where only the cursor tells what is new.
  package var knownStamps: [String: [String: Int64]]?
  /// Records whose trees were changed locally, so that others of the tree were left out, by soup.
  package var leftTrees: [String: Set<String>] = [:]
  /// What to do when a briefcase rule failed.
  package var ruleErrorPolicy = RuleErrorPolicy.standard
  private let login: @Sendable () async throws(OrgError) -> Session
  private let save: (SyncState) throws(SyncError) -> Void
  private let shouldStop: () -> Bool

  /// A context; `save` stores a state and tells of it, `login` gives the session of the store's user.
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

  /// The id of the sync; what it brings bears it.
  var syncID: Int64 { state.id }
  /// The soup that the sync's definition names.
  var soupName: String { state.soupName }

  /// The session of the store's user, from a login the first time.
  func session() async throws(SyncError) -> Session {
    try await SyncError.inOrg { try await login() }
  }

  /// The org's clock in milliseconds; nil where no answer has told it yet.
  func serverDate() async throws(SyncError) -> Int64? {
    try await session().serverDate
  }

  /// The org for a custom target.
  var org: SyncOrg { SyncOrg(login) }

  /// Throws `stopped` when the manager was asked to stop; to be called before each request.
  func checkStop() throws(SyncError) {
    if shouldStop() { throw SyncError(.stopped, "the sync was stopped") }
    if Task.isCancelled { throw SyncError(.cancelled, "the sync was cancelled") }
  }

  /// Changes the state; it is saved with the next update.
  package func set(_ change: (inout SyncState) -> Void) { change(&state) }

  /// Changes the state, saves it and tells those who wait.
  func update(_ change: (inout SyncState) -> Void) throws(SyncError) {
    change(&state)
    try save(state)
  }

  /// Goes on without an answer, unless no other request can be answered either.
  package func giveUp(on error: SyncError, _ what: String) throws(SyncError) {
    switch error.cause?.kind {
    case nil, .authentication?, .certificate?, .cancelled?, .configuration?: throw error
    default: warn("\(what): \(error.message)")
    }
  }

  /// What is told of when the org does not say how old the records of a type are.
  static func unreadDates(of type: String) -> String {
    "the modification dates of \(type) could not be read"
  }

  /// What is told of when the org does not say what became of records of a type that it does not find.
  static func unprovedDeletion(of type: String) -> String {
    "the deletion of records of \(type) could not be proved"
  }

  /// Notes that a person should know of something.
  func warn(_ message: String) { report.warnings.append(message) }
}
