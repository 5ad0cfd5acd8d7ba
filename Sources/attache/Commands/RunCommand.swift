import Arguments
import Pipelines
import System

/// `attache run`: runs the stages ingest, reconcile, prime and pack.
struct RunCommand: Command {
  static let name = "run"
  static let summary = "run all stages: ingest, reconcile, prime, pack"
  static let discussion = """
    The command for cron. It validates returned stores and records their edits, sends and reports the edits, \
    fetches changes from the org, and writes new bundles. An interrupted run is resumed.
    """
  static let examples = [Note("attache run field-service", "the whole pipeline")]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option("only", "STAGES", "only these stages", commas: true, \.only),
      .user("USERNAME", "prime and pack only this user's snapshot", \.users),
      .maxDeletes(\.maxDeletes),
      .option(
        "confirm", "DIGEST",
        "send changes that were held back because they exceed reconcile.maxChanges; "
          + "the run prints DIGEST",
        \.confirm),
      .deadline(\.deadline),
      .option(
        "api-budget", "REQUESTS", "limit API requests (never above org.apiBudget)",
        \.apiBudget),
      .dryRun(\.dryRun),
      .report(\.report),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var only: [Stage] = []
  var users: [String] = []
  var maxDeletes: Percentage?
  var confirm: [String] = []
  var deadline: PositiveNumber?
  var apiBudget: PositiveNumber?
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
    if !only.isEmpty { run.stages = Set(only) }
    run.confirmed = Set(confirm)
    run.deadlineSeconds = deadline?.value
    run.apiBudget = apiBudget?.value
    run.users = Set(users)
    run.isDryRun = dryRun
    run.rehearsal = report.map(context.absolute)
    run.maxDeletes = maxDeletes
    return try await PipelineCall(program: context, options: options, name: pipeline).run(run)
  }
}

extension Stage: ArgumentValue {}
