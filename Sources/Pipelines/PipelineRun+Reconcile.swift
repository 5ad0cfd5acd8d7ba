import JSON
import Reconciliation
import Salesforce
import System

extension PipelineRun {
  /// Sends the open edits of every ingested return, and writes the report.
  func reconcile() async throws {
    if let retry = options.retry {
      if options.isDryRun {
        summary.plan.append("reconcile: take up the edits of run \(retry.run) again")
      } else {
        try reopen(retry)
      }
    }
    let reconciler = try reconciler()
    if options.isDryRun { return plan(try await reconciler.plan()) }
    let result: ReconcileSummary
    do {
      result = try await reconciler.run(row)
    } catch {
      reportWhatIsSettled()
      throw error
    }
    summary.verdicts = result.verdicts
    for warning in result.warnings { warn(warning) }
    if let interruption = result.interruption {
      warn(interruption)
      summary.findings.insert(
        result.interruptionKind == .authentication ? .loginFailed : .limitReached)
    }
    if result.edits > 0 { try writeReport() }
  }

  /// Reports what a failing run has settled before it failed: the next run does not take it up again.
  private func reportWhatIsSettled() {
    do {
      try writeReport()
    } catch {
      // The failure of the run is the one to tell; this one comes second.
      warn("no report could be written: \(PipelineError(describing: error).message)")
    }
  }

  private func reopen(_ retry: RunOptions.Retry) throws {
    guard try state.run(id: retry.run) != nil else {
      throw PipelineError(
        .configuration, "retry.no-run", "there is no run \(retry.run)", location: data.state,
        fix: "attache status \(pipeline.name) lists the last runs")
    }
    let count = try state.retry(run: retry.run, verdicts: retry.verdicts)
    if count == 0 { warn("no edit of run \(retry.run) is left to take up again") }
  }

  private func reconciler() throws -> Reconciler {
    let access = access
    let report = report
    let total = try state.openEdits().values.reduce(0, +)
    var settled = 0
    return Reconciler(
      state: state, options: reconcileOptions(), syncUps: rules(),
      sessionFor: { request in
        switch request {
        case .integration: try await access.integrationSession()
        case .user(let username, _): try await access.session(as: username)
        }
      },
      report: { event in
        switch event {
        case .settled:
          settled += 1
          report(.editsSettled(done: settled, of: max(total, settled)))
        case .warning(let text): report(.warning(text))
        case .began, .learned, .sent: break
        }
      })
  }

  private func rules() -> [SyncUpRule] {
    pipeline.stores.flatMap { store in
      let key = StoreKey(scope: store.scope.rawValue, storeName: store.storeName)
      return store.reconciled.compactMap { SyncUpRule(store: key, definition: $0) }
    }
  }

  private func reconcileOptions() -> ReconcileOptions {
    let settings = pipeline.reconcile
    return ReconcileOptions(
      sendAs: settings.sendAs == .integration ? .integration : .user,
      onInactiveUser: settings.onInactiveUser == .integration ? .integration : .hold,
      strict: settings.strict,
      acrossSnapshots: ReconcileOptions.Across(rawValue: settings.acrossSnapshots.rawValue)
        ?? .report,
      orderParentsFirst: settings.orderParentsFirst,
      recreateDeleted: ReconcileOptions.Recreate(rawValue: settings.recreateDeleted.rawValue)
        ?? .whenProvedDeleted,
      quietWindowSeconds: Int64(settings.quietWindowSeconds),
      maxChanges: ReconcileOptions.Guard(
        perSnapshot: settings.maxChangesPerSnapshot,
        deletesPercent: Double(settings.maxDeletes.value),
        deletesAtLeast: PrimeSettings.fewestDeletes),
      confirmed: options.confirmed)
  }

  private func plan(_ plan: ReconcilePlan) {
    for edit in plan.edits {
      let action = edit.action.map { "\($0.rawValue) " } ?? ""
      summary.plan.append(
        "reconcile: \(action)\(edit.soup.soup) \(edit.recordID ?? "")  →  \(edit.verdict.rawValue)")
      summary.verdicts[edit.verdict, default: 0] += 1
    }
    for snapshot in plan.held {
      summary.plan.append(
        "reconcile: the changes of \(snapshot) are held; --confirm "
          + "\(plan.digests[snapshot] ?? "") sends them")
    }
  }

  private func writeReport() throws {
    let model = try ReportModel(state: state, run: row.id)
    if model.edits.isEmpty { return }
    let directory = data.reports + "/" + row.id
    try Files.makeDirectory(directory)
    let shown = ReportOptions(
      mask: Set(pipeline.report.mask), showValues: pipeline.report.showValues)
    for format in ReportFormats.named(pipeline.report.formats.map(\.rawValue)) {
      try format.write(model, to: directory, shown)
    }
    summary.report = directory
    report(.reportWritten(path: directory))
  }
}
