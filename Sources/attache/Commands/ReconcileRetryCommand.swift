import Arguments
import Ledger
import Pipelines
import System

/// `attache reconcile retry`: takes up again what a run could not settle.
struct ReconcileRetryCommand: Command {
  static let name = "reconcile retry"
  static let summary = "take up again the edits that a run could not settle"
  static let discussion = """
    Mend what the report names first: a value that is too long, a record that is not shared. Then the edits \
    of that run which failed, were blocked, not visible or not permitted are considered anew, with their \
    field lists and merge modes as they stand in the configuration now. It is attache decide --again for \
    the edits of one run.
    """
  static let examples = [
    Note(
      "attache reconcile retry field-service 20260131T020000Z-12",
      "its failed, blocked, not visible and not permitted edits")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument("run", "the run, as attache status and the report name it", \.run),
      .flag("failed", "only the edits that failed", \.failed),
      .flag(
        "conflicts", "only the conflicts: compared again with what the org holds now", \.conflicts),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var run = ""
  var failed = false
  var conflicts = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    var verdicts: Set<Verdict> = []
    if failed { verdicts.insert(.failed) }
    if conflicts { verdicts.insert(.conflict) }
    if verdicts.isEmpty { verdicts = [.failed, .blocked, .notVisible, .notPermitted] }
    var options = RunOptions()
    options.stages = [.reconcile]
    options.retry = RunOptions.Retry(run: run, verdicts: verdicts)
    options.by = ProcessEnvironment.userName()
    return try await PipelineCall(program: context, options: self.options, name: pipeline)
      .run(options)
  }
}
