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
  static let examples = [
    Note("attache run field-service", "the whole pipeline"),
    Note("attache run field-service --until orders", "leave the prime to workers (attache work)"),
    Note("attache run field-service --from collect", "publish what the workers primed"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option("only", "STAGES", "only these stages", commas: true, \.only),
      .option(
        "until", "PART", "ingest and reconcile, and write orders for workers (attache work)",
        \.until),
      .option("from", "PART", "collect what workers made of the orders, and pack", \.from),
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
  var until: UntilPart?
  var from: FromPart?
  var users: [String] = []
  var maxDeletes: Percentage?
  var confirm: [String] = []
  var deadline: PositiveNumber?
  var apiBudget: PositiveNumber?
  var dryRun = false
  var report: String?
  var options = Options()

  func validate() throws(UsageError) {
    let parts = [
      (until != nil, "until orders"), (from != nil, "from collect"),
    ].filter(\.0).map(\.1)
    if let part = parts.first {
      let others = [
        (parts.count > 1, parts.last ?? ""), (!only.isEmpty, "only"), (dryRun, "dry-run"),
        (from != nil && !users.isEmpty, "user"), (from != nil && maxDeletes != nil, "max-deletes"),
        (from != nil && !confirm.isEmpty, "confirm"),
        (from != nil && apiBudget != nil, "api-budget"),
      ]
      if let other = others.first(where: \.0)?.1 {
        throw UsageError("--\(part) cannot be combined with --\(other)", hint: "remove one of them")
      }
    }
    if report != nil, !dryRun {
      throw UsageError(
        "--report needs --dry-run",
        hint: "add --dry-run, or remove --report: a run writes its report to its own directory")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    var run = RunOptions()
    if !only.isEmpty { run.stages = Set(only) }
    if until != nil { run.part = .orders }
    if from != nil { (run.part, run.stages) = (.collect, [.prime, .pack]) }
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

/// The parts before which a run can end.
enum UntilPart: String, ArgumentValue, CaseIterable {
  case orders
}

/// The parts with which a run can start.
enum FromPart: String, ArgumentValue, CaseIterable {
  case collect
}
