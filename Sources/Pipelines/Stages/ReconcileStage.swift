import JSON
import Ledger
import MobileSync
import Reconciliation
import Reports
import Salesforce
import System

struct ReconcileStage {
  let run: RunContext

  /// Sends the open edits of every ingested return, and writes the report.
  ///
  /// A dry run assumes that every write succeeds.
  func perform() async throws {
    let before = run.access.spent
    // A dry run has its own copy of the ledger.
    if run.options.isDryRun { try run.ledger.decide(run.options.decisions, by: run.options.by) }
    if let undo = run.options.undo {
      try run.ledger.decide(
        undo.edits.map { PendingDecision($0, .undo(run: undo.run)) }, by: run.options.by)
    }
    try await learnUsernames()
    try await PreflightStage(run: run).perform(before: .reconcile)
    let presumed = run.options.isDryRun ? SimulatedOrg() : nil
    var row = run.row
    row.now = run.times.org
    let result = try await reconciler(presumed).run(row)
    run.summary.verdicts = result.verdicts
    if result.verdicts[.notUndone] != nil || result.verdicts[.partlyUndone] != nil {
      run.summary.findings.insert(.notUndone)
    }
    for warning in result.warnings { run.warn(warning) }
    if let interruption = result.interruption {
      run.warn(interruption)
      let kind = result.interruptionCause.map { PipelineError(describing: $0).kind }
      run.summary.findings.insert(RunFinding(ofEnd: kind ?? .tryLater))
    }
    if result.interruption == nil {
      for digest in run.options.confirmed.subtracting(result.confirmed).sorted() {
        run.warn(
          "--confirm \(digest) matches no held plan: it is mistyped, or the "
            + "edits have changed")
      }
    }
    try adviseOnEdits()
    if let presumed { return try plan(result, presumed, since: before) }
    if result.interruption == nil { try await learnNames() }
    try noteHeld(result.awaiting, isWhole: run.options.only == nil && result.interruption == nil)
    // Written at once, because the following stages may take hours, or fail.
    if result.edits > 0 { try RunReport(run: run).write() }
  }

  /// Notes the next step for each verdict of this run's edits.
  private func adviseOnEdits() throws {
    for verdict in run.summary.verdicts.keys {
      let left = try run.ledger.editsLeft(by: run.row.id, verdict)
      run.summary.steps[verdict] = DecisionRule.nextStep(
        of: verdict, for: left.subjects, edit: left.edit, in: run.pipeline.called)
    }
  }

  /// Updates the users' names if this run also primes, so that a renamed user sends under the new
  /// name at once.
  private func learnUsernames() async throws {
    let only = run.options.only
    guard run.options.stages.contains(.prime),
      try !run.ledger.snapshotsWithOpenEdits(run: run.row.id, only: only).isEmpty
    else { return }
    // The stage that serves the users reports errors in the list of users.
    let users = (try? await PipelineUsers(run: run).listed()) ?? []
    try Task.checkCancellation()
    for user in users {
      guard var row = try run.ledger.snapshotRow(id: user.id),
        row.username?.lowercased() != user.username.lowercased()
      else { continue }
      row.username = user.username
      try run.ledger.save(row)
    }
  }

  /// Looks up, in one request, the users who changed records in the org and whose names the report
  /// lacks.
  private func learnNames() async throws {
    let unnamed = try run.ledger.unnamedPeople(run: run.row.id)
    if unnamed.isEmpty { return }
    let found: [String: JSONObject]
    do throws(OrgError) {
      let session = try await run.access.anySession()
      found = try await session.records("User", ids: unnamed, fields: ["Id", "Name"])
    } catch {
      // The report then shows the ID; nothing else depends on the name.
      return
    }
    for (id, user) in found {
      if let name = user["Name"]?.string { try run.ledger.store(name, as: .person(id)) }
    }
  }

  /// Records the snapshots whose changes wait for a confirmation.
  ///
  /// If `isWhole`, closes those of all other snapshots; a run of some edits, or one that stopped,
  /// has not examined all.
  private func noteHeld(_ awaiting: [String: [String]], isWhole: Bool) throws {
    for (id, digests) in awaiting.sorted(by: { $0.key < $1.key }) {
      let confirm = Self.confirming(digests, of: run.pipeline)
      run.summary.confirm.append(confirm)
      let username = try run.ledger.snapshotRow(id: id)?.username ?? id
      let words = "more changes than reconcile.maxChanges allows"
      try run.note(
        .changesHeld, id,
        [
          "snapshot": .string(id), "username": .string(username), "reason": .string(words),
          "fix": .string("review the held edits; to send them: \(confirm)"),
        ])
    }
    if isWhole { try run.ledger.settleFindings(.changesHeld, by: run.row.id) }
  }

  /// The command that sends the held changes.
  private static func confirming(_ digests: [String], of pipeline: Pipeline) -> String {
    "attache reconcile \(pipeline.called) "
      + digests.map { "--confirm \($0)" }.joined(separator: " ")
  }

  private func reconciler(_ presumed: SimulatedOrg?) throws -> Reconciler {
    let access = run.access
    let report = run.report
    return Reconciler(
      state: run.ledger, options: reconcileOptions(), syncUps: try Self.rules(of: run.pipeline),
      presumed: presumed,
      issued: { [records = IssuedRecords(data: run.data)] in try records.find($0, $1) },
      sessionFor: { request in
        switch request {
        case .integration: try await access.integrationSession()
        case .user(let username, _): try await access.session(as: username)
        }
      },
      progress: { done, total in report(.editsSettled(done: done, of: total)) })
  }

  /// Returns the sync ups that a pipeline's stores name, in the order of the file.
  static func rules(of pipeline: Pipeline) throws -> [ReconciledSync] {
    try pipeline.stores.flatMap { store in
      let key = StoreKey(scope: store.scope, storeName: store.storeName)
      return try store.reconciled.flatMap { sync in
        try ReconciledSync.all(of: sync, in: key) { soup in
          store.syncs.syncs.reduce(into: []) { $0.formUnion($1.objectTypes(of: soup)) }
        }
      }
    }
  }

  private func reconcileOptions() -> ReconcileOptions {
    let settings = run.pipeline.reconcile
    var result = ReconcileOptions()
    result.sendAs = settings.sendAs
    result.onInactiveUser = settings.onInactiveUser
    result.conditionalUpdates = settings.conditionalUpdates
    result.deviceConflicts = settings.deviceConflicts
    result.orderParentsFirst = settings.orderParentsFirst
    result.recreateDeleted = settings.recreateDeleted
    result.unansweredWaitSeconds = Int64(settings.unansweredWaitSeconds)
    result.maxChanges.perSnapshot = settings.maxChangesPerSnapshot
    result.maxChanges.deletes.maxDeletesPercent = settings.maxDeletes.value
    result.confirmed = run.options.confirmed
    result.mergesFields = settings.mode == .mergeFields
    result.inFlight = run.pipeline.org.concurrency
    result.correlationFields = settings.correlationFields
    result.bulkAbove = settings.bulkAbove
    result.only = run.options.only
    return result
  }

  /// Forecasts the cost of the writes, in addition to the requests that the dry run sent itself.
  private func forecast(since before: (requests: Int, bytes: Int)) throws {
    let planned = run.summary.planned
    if planned.isEmpty { return }
    let sent = Dictionary(grouping: planned.filter { $0.action != nil }) {
      [$0.snapshotID, $0.soup.store.text, $0.soup.soup]
    }
    // The maximum per request for the changes of one user and soup.
    let writes = sent.values.reduce(0) {
      $0 + ($1.count + RequestLimits.composite - 1) / RequestLimits.composite
    }
    let spent = run.spent(in: .reconcile, since: before)
    let forecast = StageForecast(
      cost: StageCost(
        .reconcile, requests: spent.requests + writes, records: planned.count,
        bytes: spent.bytes),
      last: try RunHistory(.reconcile, run.ledger).last)
    run.summary.forecasts.append(forecast)
    run.summary.plan += forecast.lines
  }

  /// Reports the results of a dry run.
  private func plan(
    _ result: ReconcileSummary, _ presumed: SimulatedOrg,
    since before: (requests: Int, bytes: Int)
  ) throws {
    run.summary.planned = try run.ledger.plannedEdits(run: run.row.id, presumed)
    for edit in run.summary.planned {
      if edit.isUndo {
        run.summary.plan.append(UndoText.line(edit, run.pipeline.report.reportMask))
        continue
      }
      let action = edit.action.map { "\($0.rawValue) " } ?? ""
      run.summary.plan.append(
        "reconcile: \(action)\(edit.soup.soup) \(edit.recordID ?? "")  →  \(edit.verdict.rawValue)")
    }
    try forecast(since: before)
    for (snapshot, digests) in result.awaiting.sorted(by: { $0.key < $1.key }) {
      run.summary.plan.append(
        "reconcile: changes of \(snapshot) are held; to send them: "
          + Self.confirming(digests, of: run.pipeline))
    }
  }
}
