import Arguments
import Pipelines
import System

/// `attache reconcile`: sends the edits of all ingested returns and reports each one.
struct ReconcileCommand: Command {
  static let name = "reconcile"
  static let summary = "send the edits of returned stores to the org, and report each one"
  static let discussion = """
    The pipeline's sync ups process all open edits, with their field lists and merge modes. The plan is \
    recorded in the ledger before the first request. A write that an interrupted run left unconfirmed is looked \
    up in the org, never resent blindly. The report lists the outcome of every edit.
    """
  static let examples = [
    Note("attache reconcile field-service --dry-run", "the plan with the verdicts; nothing is sent")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option(
        "confirm", "DIGEST",
        "send changes that were held back because they exceed reconcile.maxChanges; "
          + "the run prints DIGEST",
        \.confirm),
      .flag("dry-run", short: "n", "show the plan without sending anything", \.dryRun),
      .report(\.report),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var confirm: [String] = []
  var dryRun = false
  var report: String?
  var options = Options()

  func validate() throws(UsageError) {
    if report != nil, !dryRun {
      throw UsageError(
        "--report needs --dry-run",
        hint: "add --dry-run, or remove --report: a run writes its report to its own directory")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    var run = RunOptions()
    run.stages = [.reconcile]
    run.confirmed = Set(confirm)
    run.isDryRun = dryRun
    run.rehearsal = report.map(context.absolute)
    return try await PipelineCall(program: context, options: options, name: pipeline).run(run)
  }
}
