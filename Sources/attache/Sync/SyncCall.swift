import Snapshots
import Arguments
import MobileSync
import Pipelines
import Returns
import Salesforce
import SmartStore
import System

/// One call of `attache sync run`: opens the store, sets up the syncs and runs them one after
/// another.
///
/// The order is that of an app: log in, set up the store, set up the syncs, run them by name. The
/// first failing sync ends the call, because a later sync down could overwrite unsent changes.
struct SyncCall: Sendable {
  /// The content of the files.
  struct Plan: Sendable {
    var syncs: SyncsConfig?
    var soups: StoreConfig?
    /// The name of the sync file in messages.
    var syncsFile = ""
  }

  /// The result of a call.
  struct Result: Sendable {
    var outcomes: [SyncOutcome] = []
    /// The names of the syncs that were not started.
    var notRun: [String] = []
    var warnings: [String] = []
    var failure: PipelineError?
  }

  let command: SyncRunCommand
  let program: Program
  let plan: Plan
  let org: Org
  /// Called with each state of each sync.
  let show: @Sendable (SyncState) -> Void
  /// Called with each warning.
  let warn: @Sendable (String) -> Void

  func run() async throws -> Result {
    do { return try await work() } catch let error as OrgError {
      throw Self.told(error)
    }
  }

  /// Rewords an org's refusal for the command line, which has no pipeline file.
  private static func told(_ error: OrgError) -> PipelineError {
    var told = PipelineError(describing: error)
    switch told.code {
    case "org.login":
      told.fix = "check the login options, and that the user may use the connected app"
    case "org.unreachable": told.fix = "check --org-url and the network, and run it again"
    default: break
    }
    if error.code == APIBudget.code { told.fix = Self.budgetFix }
    return told
  }

  /// Rewords a sync's refusal: the fault is in the files, or in the user's permissions.
  private static func told(_ error: SyncError) -> PipelineError {
    var told = PipelineError(describing: error)
    if error.errorCode == APIBudget.code { told.fix = Self.budgetFix }
    guard error.code == .queryRefused, error.errorCode.map(wrongQueries.contains) == true else {
      return told
    }
    return PipelineError(
      .configuration, told.code, told.message, location: told.location, reason: told.reason,
      fix: told.fix
        ?? "check the sync's query, and that the user has access to its object and fields; "
        + "replace a sync that the store already has with --config and --replace")
  }

  private static let wrongQueries: Set<String> = [
    "INVALID_FIELD", "INVALID_TYPE", "MALFORMED_QUERY", "MALFORMED_SEARCH",
  ]

  private static let budgetFix =
    "run it again when the org's 24-hour window has freed requests: a tenth of its daily requests is "
    + "left for other clients"

  private func work() async throws -> Result {
    let named = program.absolute(command.store)
    let path = try program.target(of: named)
    let session = try await org.session(username: command.login.username)
    let file = try SyncStore(path, mayCreate: plan.soups != nil)
    defer { file.discardUnfinished() }
    let store = try file.open(command.platform.flatMap { Platform(rawValue: $0.rawValue) })
    var result = Result()
    if path != named {
      let text = "\(named) is a link: the syncs use the store \(path), and the link stays"
      result.warnings.append(text)
      warn(text)
    }
    if let warning = try Provenance.checkOwner(of: store, session.identity) {
      result.warnings.append(warning)
      warn(warning)
    }
    var settings = SyncSettings()
    // Unsent changes must survive the records that are fetched later.
    settings.keepsUnsentChanges = command.all
    if let share = command.maxDeletes { settings.maxDeletesPercent = share.value }
    let manager = try await SyncManager(
      store: store, org: org, username: command.login.username, settings: settings)
    do {
      let names = try await setUp(manager, session, &result)
      try await run(names, manager, &result)
    } catch {
      if try await close(manager) { try file.publish() }
      throw error
    }
    if try await close(manager) { try file.publish() }
    return result
  }

  /// Closes the store so that it is a single file without a `-wal`; returns whether it has all
  /// records that it should have.
  private func close(_ manager: SyncManager) async throws -> Bool {
    let isWhole = await manager.withStore { !$0.isSpoiled }
    if isWhole { try await manager.withStore { try $0.checkpoint() } }
    try await manager.close()
    return isWhole
  }

  // MARK: setup

  /// Creates the missing soups and syncs, and returns the syncs to run, in order.
  private func setUp(
    _ manager: SyncManager, _ session: Session, _ result: inout Result
  ) async throws -> [String] {
    if let soups = plan.soups { try await manager.setUpStore(from: soups) }
    if let syncs = plan.syncs {
      let replacing: SyncReplacement = command.replace ? .all : .none
      let setUp = try await manager.setUpSyncs(from: syncs, replacing: replacing)
      for name in setUp.differing {
        let text =
          "sync \"\(name)\" in the store differs from \(plan.syncsFile) and was kept; "
          + "--replace applies the new definition"
        result.warnings.append(text)
        warn(text)
      }
    }
    let known = try await manager.syncs()
    let names = known.compactMap(\.name)
    for name in command.names where !names.contains(name) {
      throw SyncStore.unknown(name, known, "attache \(SyncRunCommand.name)")
    }
    let ordered = command.all ? order(known) : command.names
    let run = known.filter { $0.name.map(ordered.contains) == true }
    for state in run { try await checkSoups(of: state, manager) }
    try await checkNames(run, among: known, session)
    return ordered
  }

  /// Refuses syncs that spell a field in a different case than the org, before anything is sent or
  /// fetched.
  ///
  /// No row has such a field, so dates would not be compared, and an edit would count as sent and
  /// be overwritten.
  private func checkNames(
    _ states: [SyncState], among known: [SyncState], _ session: Session
  ) async throws {
    let preflight = Preflight(
      states.compactMap(\.definition), among: known.compactMap(\.definition), file: command.store)
    let faults: [Preflight.Fault]
    do throws(OrgError) {
      faults = try await preflight.faults(session, as: .user).filter(\.isInOtherCase)
    } catch {
      guard error.kind != .cancelled else { throw error }
      // If the error persists, the syncs report it.
      return
    }
    if faults.isEmpty { return }
    throw PipelineError(
      .configuration, "sync.names", "the syncs name fields in a different case than the org",
      reason: faults.map(\.problem.description).joined(separator: "; "),
      fix: "correct the sync file, and apply it with --config FILE and --replace")
  }

  /// Refuses a sync whose soup is missing, before anything is sent.
  private func checkSoups(of state: SyncState, _ manager: SyncManager) async throws {
    let soups = state.soupNames
    let missing = try await manager.withStore { store in
      try soups.first { try !store.hasSoup($0) }
    }
    guard let missing else { return }
    throw PipelineError(
      .configuration, "sync.soup",
      "the store has no soup \"\(missing)\", which sync \"\(state.name ?? "")\" needs",
      fix: "name the file with the soup with --store-config FILE")
  }

  /// Returns all named syncs, or those of the file if there is one: sync ups before sync downs.
  private func order(_ known: [SyncState]) -> [String] {
    let listed = plan.syncs?.syncs.map(\.syncName)
    let named = known.filter { state in
      state.name.map { listed?.contains($0) ?? true } ?? false
    }
    let ordered = named.sorted { one, other in
      (listed?.firstIndex(of: one.name ?? "") ?? 0)
        < (listed?.firstIndex(of: other.name ?? "") ?? 0)
    }
    return [SyncType.syncUp, .syncDown].flatMap { type in
      ordered.filter { $0.type == type }.compactMap(\.name)
    }
  }

  // MARK: runs

  private func run(
    _ names: [String], _ manager: SyncManager, _ result: inout Result
  ) async throws {
    for (place, name) in names.enumerated() {
      let run = try await manager.reSync(named: name)
      let watcher = Task {
        for await state in run { show(state) }
      }
      do throws(SyncError) {
        try await run.finish()
      } catch {
        result.failure = Self.told(error)
        result.notRun = Array(names[(place + 1)...])
      }
      await watcher.value
      var outcome = SyncOutcome(state: await run.lastState, report: await run.report)
      if result.failure == nil, command.cleanGhosts, outcome.state.type == .syncDown {
        await clean(name, manager, &outcome, &result)
      }
      // The sync and the removal of ghosts may have the same warnings.
      let told = outcome.report.warnings
      outcome.warnings = told + outcome.warnings.filter { !told.contains($0) }
      for text in outcome.warnings {
        result.warnings.append("sync \"\(name)\": \(text)")
        warn("sync \"\(name)\": \(text)")
      }
      result.outcomes.append(outcome)
      if result.failure != nil { return }
    }
  }

  private func clean(
    _ name: String, _ manager: SyncManager, _ outcome: inout SyncOutcome, _ result: inout Result
  ) async {
    do throws(SyncError) {
      let ghosts = try await manager.cleanResyncGhosts(named: name)
      outcome.ghosts = ghosts.removed.values.reduce(0, +)
      outcome.warnings += ghosts.warnings
    } catch {
      guard error.code == .tooManyDeletes else {
        result.failure = Self.told(error)
        return
      }
      outcome.isGuarded = true
      outcome.warnings.append(error.message + "; " + DeletionGuard.fixByOption)
    }
  }
}

extension SyncState {
  /// The soups that the sync reads or fills; empty if unknown.
  fileprivate var soupNames: [String] {
    guard let target = try? syncTarget() else { return [] }
    guard type == .syncUp else { return target.filledSoups(soupName: soupName) }
    guard let up = target.of(SyncUpTarget.self) else { return [soupName] }
    return up.family.map { [$0.parent.soupName, $0.children.soupName] } ?? [soupName]
  }
}
