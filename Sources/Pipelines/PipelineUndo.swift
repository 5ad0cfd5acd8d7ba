import Ledger
import Reconciliation
import System

/// Undoing what a run changed in the org: which edits, and the runs that show it and do it.
package struct PipelineUndo: Sendable {
  /// What there is to undo of a run.
  package struct Plan: Sendable {
    /// The run.
    package var run: String
    /// The edits whose changes are to be undone.
    package var edits: [Int64]
    /// Those whose changes are undone already, with the run that did it.
    package var undone: [(edit: Int64, run: String)]
    /// Those of which that is to be decided later, and why.
    package var refused: [DecisionRefusal]
    /// What confirms it: it names the edits, what they changed and what was there before, and stays the
    /// same while it is carried out.
    package var digest: String
  }

  private let pipeline: Pipeline
  private let data: DataDirectory

  /// The undoing of a pipeline's runs; `root` is the directory that holds `<pipeline>/`.
  package init(_ pipeline: Pipeline, root: String) {
    self.pipeline = pipeline
    data = DataDirectory(root: root, name: pipeline.name)
  }

  /// What there is to undo of a run, or of some of its edits.
  ///
  /// The ledger alone is asked. Throws a `PipelineError` for a name that no run has, for a run that is not
  /// over, for one that undid something itself, and for edits by which it changed nothing.
  package func plan(run name: String, edits named: [Int64] = []) throws -> Plan {
    guard Files.exists(data.state) else { throw unknown(name) }
    let lock = try PipelineRun.takeLock(data, exclusive: false)
    defer { lock.close() }
    let ledger = try data.openLedger(under: lock)
    defer { ledger.close() }
    guard let run = try ledger.run(id: name) else { throw unknown(name) }
    if run.ended == nil { throw notOver(name) }
    let written = try ledger.editsWritten(by: name)
    if written.isEmpty, try ledger.hasUndone(run: name) { throw ofUndo(name) }
    var refused: [DecisionRefusal] = []
    var plan = Plan(run: name, edits: [], undone: [], refused: [], digest: "")
    var lines = ""
    let chosen = named.isEmpty ? written + (try ledger.editsUnderWay(of: name)) : named
    for edit in Set(chosen).sorted() {
      if let words = try refusal(edit, of: name, isWritten: written.contains(edit), ledger) {
        refused.append(DecisionRefusal(edit, words))
        continue
      }
      guard let change = try ledger.change(by: edit) else {
        refused.append(DecisionRefusal(edit, Self.neverSent))
        continue
      }
      lines += change.line
      if let by = change.undoneBy {
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

  /// The run that carries a plan out, or shows what it would do.
  package func runOptions(_ plan: Plan, by name: String, isDryRun: Bool) -> RunOptions {
    var options = RunOptions()
    options.stages = [.reconcile]
    options.undo = RunOptions.Undo(run: plan.run, edits: plan.edits)
    options.only = Set(plan.edits)
    options.by = name
    options.isDryRun = isDryRun
    return options
  }

  /// The command that carries a plan out.
  package func command(_ plan: Plan, edits: [Int64]) -> String {
    let numbers = edits.map { " \($0)" }.joined()
    return
      "attache reconcile undo \(pipeline.called) \(plan.run)\(numbers) --confirm \(plan.digest)"
  }

  /// Why an edit is not undone; nil where it can be tried.
  private func refusal(
    _ edit: Int64, of run: String, isWritten: Bool, _ ledger: LedgerDatabase
  ) throws -> String? {
    guard let found = try ledger.decidable(edit) else {
      return DecisionRefusal.unknown(edit).reason
    }
    if try ledger.isToBeUndone(edit) { return nil }
    if try ledger.isPruned(edit) {
      return
        "the values that it took the place of are pruned (keep.runsDays): nothing is left to undo it with"
    }
    let verdict = found.subject.verdict
    if verdict == .unconfirmed {
      return "it is unconfirmed: no answer says yet what its request did: attache reconcile "
        + "\(pipeline.called) asks the org; undo it then"
    }
    if let verdict, !verdict.isSettled, isWritten {
      return "it is \(verdict.rawValue): decide about it first"
    }
    if isWritten { return nil }
    return "run \(run) changed nothing in the org by it"
      + (verdict.map { " (it is \($0.rawValue) now)" } ?? "")
  }

  /// Why the new record of a device is not undone that was left with the deletion of its parent.
  private static let neverSent =
    "its new record was never sent, as its device deleted the parent: enter it in the org, or on a device"

  // MARK: errors

  private func unknown(_ run: String) -> PipelineError {
    PipelineError(
      .usage, "undo.no-run", "there is no run \(run)", location: data.state,
      fix: "attache status \(pipeline.called) lists the last runs; reports are named after theirs")
  }

  private func notOver(_ run: String) -> PipelineError {
    PipelineError(
      .configuration, "undo.not-over", "run \(run) is not over", location: data.state,
      fix: "attache run \(pipeline.called) goes on with it; undo it then")
  }

  private func ofUndo(_ run: String) -> PipelineError {
    PipelineError(
      .configuration, "undo.of-undo", "run \(run) undid what another run had changed",
      reason: "an undo is not undone: the values that it took back may be nobody's any more",
      fix: "its report has them; enter them in the org, or on a device")
  }

  private func refused(_ refusals: [DecisionRefusal], _ run: String) -> PipelineError {
    PipelineError(
      refusals.contains { $0 == .unknown($0.edit) } ? .usage : .configuration, "undo.refused",
      "nothing was undone",
      reason: refusals.map(\.description).joined(separator: "; "),
      fix: "attache report \(pipeline.called) \(run) shows what the run changed")
  }

  /// That a plan is not the one that was confirmed.
  package func notConfirmed(_ plan: Plan) -> PipelineError {
    PipelineError(
      .configuration, "undo.other-plan", "the digest is not that of this plan: nothing was undone",
      reason: "the plan of run \(plan.run) with these edits has the digest \(plan.digest)",
      fix: "look at it without --confirm first")
  }
}
