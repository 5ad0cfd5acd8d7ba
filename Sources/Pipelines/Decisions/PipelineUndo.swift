import JSON
import Ledger
import Reconciliation
import System

/// Undoes what a run changed in the org: selects the edits, and describes the runs that show and
/// apply the undo.
package struct PipelineUndo: Sendable {
  /// The changes of a run that can be undone.
  package struct Plan: Sendable {
    package var run: String
    /// The edits whose changes will be undone.
    package var edits: [Int64]
    /// The edits that are already undone, each with the run that did it.
    package var undone: [(edit: Int64, run: String)]
    /// The edits that cannot be undone, each with the reason.
    package var refused: [DecisionRefusal]
    /// The digest that confirms the plan.
    ///
    /// It covers the edits, what they changed and the values before, and does not change while the
    /// plan is applied.
    package var digest: String
  }

  private let pipeline: Pipeline
  private let data: DataDirectory

  /// Opens the undo of a pipeline; `root` is the directory that holds `<pipeline>/`.
  package init(_ pipeline: Pipeline, root: String) {
    self.pipeline = pipeline
    data = DataDirectory(root: root, name: pipeline.name)
  }

  /// Returns the plan to undo a run, or some of its edits.
  ///
  /// Only the ledger is read. Throws a `PipelineError` if no run has the name, if the run is not
  /// finished, if it is an undo itself, or if it changed nothing by the named edits.
  package func plan(run name: String, edits named: [Int64] = []) throws -> Plan {
    guard Files.exists(data.state) else { throw unknown(name) }
    let lock = try PipelineRun.takeLock(data, exclusive: false)
    defer { lock.close() }
    let ledger = try data.openLedger(under: lock)
    defer { ledger.close() }
    guard let run = try ledger.run(id: name) else { throw unknown(name) }
    if run.ended == nil { throw notOver(name) }
    let sent = try ledger.sentEdits(by: name)
    let written = sent.written
    if written.isEmpty, sent.hasUndone { throw ofUndo(name) }
    var refused: [DecisionRefusal] = []
    var plan = Plan(run: name, edits: [], undone: [], refused: [], digest: "")
    var lines = ""
    let chosen = named.isEmpty ? written + sent.underWay : named
    for edit in Set(chosen).sorted() {
      if let words = try refusal(edit, of: name, isWritten: written.contains(edit), ledger) {
        refused.append(DecisionRefusal(edit, words))
        continue
      }
      guard let change = try ledger.change(by: edit) else {
        refused.append(DecisionRefusal(edit, Self.neverSent))
        continue
      }
      lines += Self.line(of: change)
      if change.purpose == .undo, let by = change.run?.id {
        plan.undone.append((edit, by))
      } else {
        plan.edits.append(edit)
      }
    }
    if !named.isEmpty, !refused.isEmpty { throw self.refused(refused, name) }
    plan.refused = refused
    plan.digest = ChangeGuard.confirmation(of: "\(name)\n\(lines)")
    return plan
  }

  /// A line that names a change and what undoes it.
  private static func line(of change: OperationRow) -> String {
    let kind =
      switch change.action {
      case .create: "created"
      case .delete: "deleted"
      case .update, .upsert, .undelete: "changed"
      }
    let former = (change.seen ?? [:]).text
    let left = JSONValue.object(change.left ?? [:]).text
    return "\(change.editID) \(kind) \(change.recordID ?? "") \(former) \(left)\n"
  }

  /// Returns the options of the run that applies a plan, or of its dry run.
  package func runOptions(_ plan: Plan, by name: String, isDryRun: Bool) -> RunOptions {
    var options = RunOptions()
    options.stages = [.reconcile]
    options.undo = RunOptions.Undo(run: plan.run, edits: plan.edits)
    options.only = Set(plan.edits)
    options.by = name
    options.isDryRun = isDryRun
    return options
  }

  /// Returns the command that applies a plan.
  package func command(_ plan: Plan, edits: [Int64]) -> String {
    let numbers = edits.map { " \($0)" }.joined()
    return
      "attache reconcile undo \(pipeline.called) \(plan.run)\(numbers) --confirm \(plan.digest)"
  }

  /// Returns why an edit cannot be undone; nil if it can be tried.
  private func refusal(
    _ edit: Int64, of run: String, isWritten: Bool, _ ledger: LedgerDatabase
  ) throws -> String? {
    guard let found = try ledger.decidable(edit) else {
      return DecisionRefusal.unknown(edit).reason
    }
    if found.subject.isToBeUndone { return nil }
    if found.isPruned {
      return
        "the values that it replaced are pruned (keep.runsDays), so it cannot be undone"
    }
    let verdict = found.subject.verdict
    if verdict == .unconfirmed {
      return "it is unconfirmed, the outcome of its request is unknown: attache reconcile "
        + "\(pipeline.called) asks the org; undo it then"
    }
    if let verdict, !verdict.isSettled, isWritten {
      return "its verdict is \(verdict.rawValue): decide it first"
    }
    if isWritten { return nil }
    return "run \(run) did not change the org for it"
      + (verdict.map { " (its verdict is now \($0.rawValue))" } ?? "")
  }

  /// The refusal for a new record that was not sent because its parent was deleted.
  private static let neverSent =
    "its new record was never sent, because its device deleted the parent: enter it in the org, or on a device"

  // MARK: errors

  private func unknown(_ run: String) -> PipelineError {
    PipelineError(
      .unknownName, "undo.no-run", "there is no run \"\(run)\"", location: data.state,
      fix:
        "attache status \(pipeline.called) lists the last runs; each report shows the ID of its run"
    )
  }

  private func notOver(_ run: String) -> PipelineError {
    PipelineError(
      .configuration, "undo.not-over", "run \(run) is not finished", location: data.state,
      fix: "attache run \(pipeline.called) resumes it; undo it then")
  }

  private func ofUndo(_ run: String) -> PipelineError {
    PipelineError(
      .configuration, "undo.of-undo", "run \(run) undid what another run had changed",
      reason: "an undo cannot be undone, because the values that it removed may be outdated",
      fix: "enter them in the org or on a device; the report of that run has them")
  }

  private func refused(_ refusals: [DecisionRefusal], _ run: String) -> PipelineError {
    PipelineError(
      refusals.contains { $0 == .unknown($0.edit) } ? .unknownName : .configuration,
      "undo.refused", "nothing was undone",
      reason: refusals.map(\.description).joined(separator: "; "),
      fix: "attache report \(pipeline.called) \(run) shows what the run changed")
  }

  /// The error for a digest that does not match the plan.
  package func notConfirmed(_ plan: Plan) -> PipelineError {
    PipelineError(
      .configuration, "undo.other-plan", "the digest does not match this plan: nothing was undone",
      reason: "the plan of run \(plan.run) with these edits has the digest \(plan.digest)",
      fix: "run it without --confirm first, to see the plan")
  }
}
