import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// The user that a session acts as.
package enum SessionRequest: Sendable, Hashable {
  /// The user of a snapshot.
  case user(username: String, id: String)
  /// The pipeline's integration user.
  case integration
}

/// Sends the ledger's edits to the org, and gives each its verdict.
///
/// It is used by one task. Its ledger is read and written on the task's thread, so the task should
/// prefer a `StoreThread`.
package final class Reconciler {
  let state: LedgerDatabase
  let options: ReconcileOptions
  let rules: [ReconciledSync]
  /// Receives how many edits have a verdict of this run, and of how many.
  private let progress: (_ done: Int, _ total: Int) -> Void
  /// The number of edits that the run processes.
  private var total = 0
  /// The number of edits reported as having a verdict.
  private var told = 0
  /// The number of verdicts in the ledger before the run.
  private var givenBefore = 0
  /// How long a request without an answer is watched, in ms of the org's time.
  package static let watchMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1000
  private let issued: IssuedLookup
  /// The target of writes in a dry run; nil if they are sent.
  let presumed: SimulatedOrg?
  let sessionFor: @Sendable (SessionRequest) async throws -> Session?
  /// The readers and writers of this run, by session request.
  private var readers: [SessionRequest: RecordReader?] = [:]
  private var sharedReferring: ReferringRecords?
  /// Logins made in advance; each is used once.
  var logins: [SessionRequest: Result<Session?, any Error>] = [:]
  var run = RunRow.none
  var summary = ReconcileSummary()
  /// Edits that were decided again after the org's answer, which is done only once.
  var redone: Set<Int64> = []
  /// By edit: the index of the first sync up that may still send it; the org refused it for the
  /// earlier ones.
  var firstSync: [Int64: Int] = [:]
  /// Edits that got no answer, did not arrive and were sent again, which is done only once.
  var resent: Set<Int64> = []
  /// Those of them that each have a separate request.
  var alone: Set<Int64> = []
  /// What the run's deletions mean for edits below their records.
  var cascades = Cascades()
  /// By unanswered deletion of this run: the edits of details that are deleted with it.
  var followers: [Int64: [Int64]] = [:]

  /// Creates a reconciler; `sessionFor` returns nil if the pipeline has no such login.
  ///
  /// `issued` is called for edits that are not sent as their user; by default, nothing was issued
  /// to anyone. With `presumed`, nothing is sent: this is a dry run, which has its own ledger.
  package init(
    state: LedgerDatabase, options: ReconcileOptions, syncUps: [ReconciledSync],
    presumed: SimulatedOrg? = nil,
    issued: @escaping IssuedLookup = { _, _ in IssuedIDs() },
    sessionFor: @escaping @Sendable (SessionRequest) async throws -> Session?,
    progress: @escaping (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) {
    self.state = state
    self.options = options
    rules = syncUps
    self.presumed = presumed
    self.issued = issued
    self.sessionFor = sessionFor
    self.progress = progress
  }

  // MARK: running

  /// Processes every open edit once and gives it a verdict of this run.
  ///
  /// It can be repeated after a crash: writes that were sent without an answer are looked up, not
  /// sent again.
  package nonisolated(nonsending) func run(_ run: RunRow) async throws -> ReconcileSummary {
    self.run = run
    summary = ReconcileSummary()
    redone = []
    resent = []
    alone = []
    followers = [:]
    cascades = Cascades()
    firstSync = [:]
    try state.connection.transaction {
      total = try state.beginReconciling(run: run.id, now: run.now, only: options.only)
      (givenBefore, told) = (state.verdictsGiven, 0)
    }
    do {
      if try isIdle(), try standingDeviceConflicts().isEmpty { return try accounted() }
      // The integration user, who verifies deletions, must be able to log in before anything
      // starts.
      if let integration = try await integration() {
        try state.store(integration.session.identity.userID, as: .integrationUser)
      }
      try await checkCorrelation()
      try await settleDoubts()
      try await settleLate()
      tellProgress()
      cascades = try await findCascades()
      try await takeUpDeviceConflicts()
      try await reconcileAll()
      try await settleLate()
    } catch let error as OrgError where error.kind == .cancelled {
      try holdTheRest(InterruptibleWork.run.interruptedText)
      throw CancellationError()
    } catch let error as CancellationError {
      // Everything that this run wrote has to be reported, because a failed run is not resumed.
      try holdTheRest(InterruptibleWork.run.interruptedText)
      throw error
    } catch let error as OrgError {
      (summary.interruption, summary.interruptionCause) = (error.description, error)
      try holdTheRest(error.description)
    } catch is DeadlineReached {
      let deadline = InterruptibleWork.run.deadlineText
      summary.interruption = deadline
      try holdTheRest(deadline)
    }
    return try accounted()
  }

  /// Checks that the org keeps the correlation fields unique, before anything is sent.
  private nonisolated(nonsending) func checkCorrelation() async throws {
    guard !options.correlationFields.isEmpty else { return }
    var refusal: OrgError?
    for snapshotID in try state.snapshotsWithOpenEdits(run: run.id, only: options.only) {
      guard let access = try await asker(of: snapshotID) else { continue }
      do {
        for field in options.correlationFields {
          if let problem = field.problem(try await access.describe(field.sobject)) {
            throw CorrelationError(description: problem)
          }
        }
        return
      } catch let error as OrgError {
        // Another user may be able to see what this one cannot.
        try await checkAlone(error, access)
        if !error.isAboutTheUser { refusal = refusal ?? error }
      }
    }
    if let refusal { throw refusal }
  }

  /// Whether there is nothing to send and nothing to read back.
  private func isIdle() throws -> Bool {
    let start = try state.watchStart(run)
    return try state.snapshotsWithOpenEdits(run: run.id, only: options.only).isEmpty
      && state.operations(.unfinished).isEmpty
      && state.operations(.unread(since: start)).isEmpty
      && state.operations(.late(since: start)).isEmpty
  }

  /// Holds what a guard does not allow; edits approved by a decision are sent.
  func holdGuarded(_ plan: inout SnapshotPlan) throws {
    summary.confirmed.formUnion(plan.confirmed)
    if plan.held.isEmpty { return }
    for digest in plan.held.values.sorted()
    where summary.awaiting[plan.snapshotID]?.contains(digest) != true {
      summary.awaiting[plan.snapshotID, default: []].append(digest)
    }
    let held = plan.sends.filter(plan.isHeld)
    try settle(
      held.flatMap { send in
        let digest = plan.held[send.device] ?? ""
        let words =
          "held: more changes than reconcile.maxChanges allows; to send them, use reconcile --confirm \(digest)"
        // Details are not attempted without their master.
        return ([send] + send.followers).map { ($0.edit, $0.left(.notAttempted, because: words)) }
      })
    let ids = Set(held.map(\.edit.id))
    plan.sends.removeAll { ids.contains($0.edit.id) }
  }

  static let noLogin = "there is no login for the snapshot's user"

  // MARK: sessions

  func planner(_ snapshotID: String, _ access: RecordReader) -> SnapshotPlanner {
    SnapshotPlanner(
      state: state, histories: RecordHistories(state), options: options, rules: rules,
      firstSync: firstSync, redone: redone, cascades: cascades, snapshotID: snapshotID,
      records: access,
      issued: issued, referring: referring(as: access), remade: RemadeRecords(state, access),
      run: run.id)
  }

  /// The source of references to records; a user who sees all records is queried once for all
  /// users.
  private func referring(as access: RecordReader) -> ReferringRecords {
    guard case .some(.some(let integration)) = readers[.integration] else {
      return ReferringRecords(access, isForAll: false, inFlight: options.inFlight)
    }
    let shared =
      sharedReferring
      ?? ReferringRecords(integration, isForAll: true, inFlight: options.inFlight)
    sharedReferring = shared
    return shared
  }

  /// The session for a snapshot's edits.
  nonisolated(nonsending) func access(to snapshotID: String) async throws -> RecordReader? {
    try checkDeadline()
    let integration = try await integration()
    guard options.sendAs == .user, snapshotID != SnapshotID.global else { return integration }
    guard let username = try state.snapshotRow(id: snapshotID)?.username else { return nil }
    let inactive: OrgError?
    do {
      let own = try await reader(.user(username: username, id: snapshotID)) {
        [presumed] in RecordReader($0, prover: integration, presumed: presumed)
      }
      guard let own, own.session.identity.userID != snapshotID else { return own }
      // The name now belongs to another user, so the original user no longer exists. As the new
      // user, the edits could change what the original user may not.
      inactive = nil
    } catch let error as OrgError where error.kind == .authentication {
      inactive = error
    }
    if options.onInactiveUser == .integration, let integration { return integration }
    if let inactive { throw inactive }
    return nil
  }

  /// The reader of the pipeline's integration user, who verifies deletions; nil if the pipeline
  /// names none.
  package nonisolated(nonsending) func integration() async throws -> RecordReader? {
    try await reader(.integration) { [presumed] in RecordReader($0, presumed: presumed) }
  }

  private nonisolated(nonsending) func reader(
    _ request: SessionRequest, _ make: (Session) -> RecordReader
  ) async throws -> RecordReader? {
    if let known = readers[request] { return known }
    let session: Session?
    if let ahead = logins.removeValue(forKey: request) {
      session = try ahead.get()
    } else {
      session = try await sessionFor(request)
    }
    let reader = session.map(make)
    readers[request] = .some(reader)
    return reader
  }

  /// Whether the session for a request is known.
  func isKnown(_ request: SessionRequest) -> Bool {
    readers[request] != nil || logins[request] != nil
  }

  /// Releases what is cached for a snapshot's user, who has no open edits left.
  func forget(_ snapshotID: String) {
    readers = readers.filter { request, _ in
      if case .user(_, snapshotID) = request { false } else { true }
    }
  }

  /// Thrown between two requests after `options.deadline`.
  package struct DeadlineReached: Error {}

  /// Ends the work between two requests after the deadline or a cancellation.
  func checkDeadline() throws {
    try Task.checkCancellation()
    if let deadline = options.deadline, Clock.monotonicNanoseconds() >= deadline {
      throw DeadlineReached()
    }
  }

  // MARK: verdicts

  /// Records an edit's verdict of this run.
  func settle(_ edit: Int64, _ settlement: Settlement) throws {
    try state.settle([(edit, settlement)], run: run.id)
  }

  /// Records verdicts in one transaction.
  func settle(_ settled: [(OpenEdit, Settlement)]) throws {
    guard !settled.isEmpty else { return }
    try state.connection.transaction {
      try state.settle(settled.map { ($0.id, $1) }, run: run.id)
    }
    tellProgress()
  }

  /// Reports how many edits have a verdict.
  ///
  /// An edit can get two: unconfirmed first, and then its outcome.
  func tellProgress() {
    let given = min(state.verdictsGiven - givenBefore, total)
    if given > told { progress(given, total) }
    told = given
  }

  /// Gives the remaining edits, of one snapshot or of all, a verdict: not attempted, or unconfirmed
  /// if they were sent without an answer.
  func holdTheRest(_ words: String, of onlySnapshot: String? = nil) throws {
    var unfinished = try state.operations(.unfinished)
    if let onlySnapshot {
      unfinished = try unfinished.filter {
        try state.openEdit(id: $0.editID)?.snapshotID == onlySnapshot
      }
    }
    var count = 0
    let doubtful = Set(unfinished.filter { $0.state != .planned }.map(\.editID))
    try state.connection.transaction {
      for operation in unfinished where operation.state == .planned {
        try state.finish(operation, .dropped)
      }
    }
    let snapshots = try state.snapshotsWithOpenEdits(run: run.id, only: options.only)
    for snapshotID in snapshots where onlySnapshot == nil || snapshotID == onlySnapshot {
      // Of several edits of one record, each pass returns the first.
      while true {
        let edits = try state.openEdits(run: run.id, snapshotID: snapshotID, only: options.only)
        if edits.isEmpty { break }
        count += edits.count
        try settle(
          edits.map { edit in
            let verdict: Verdict = doubtful.contains(edit.id) ? .unconfirmed : .notAttempted
            return (edit, Settlement(verdict, .because(words)))
          })
      }
    }
    if onlySnapshot != nil, count > 0 {
      let edits = CountText.of(count, "edit", "was", "were")
      summary.warnings.append("\(edits) not attempted: \(words)")
    }
  }

  private func accounted() throws -> ReconcileSummary {
    tellProgress()
    let account = try state.account(run: run.id, only: options.only)
    summary.edits = account.edits
    summary.verdicts = account.verdicts
    let sum = account.verdicts.values.reduce(0, +)
    guard sum == account.edits else {
      throw LedgerError.unaccounted(run: run.id, edits: account.edits, verdicts: sum)
    }
    return summary
  }
}
