import Arguments
import Pipelines

/// `attache prime`: fetch what changed for each user, into new generations.
struct PrimeCommand: Command {
  static let name = "prime"
  static let summary = "fetch what changed for each user, into new generations"
  static let discussion = """
    Records are fetched as the snapshot's user, so a store holds what that user may see. Where nothing \
    changed no file is touched.
    """
  static let examples = [
    Note("attache prime field-service --user ada@example.com", "one user's snapshot")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument(
        "pipeline", "the pipeline file, or a name in pipelines/", completes: .files, \.pipeline),
      .option("user", "USERNAME", "only this user's snapshot", \.users),
      .flag(
        "max-deletes", "allow more deletions than prime.ghosts.maxDeletes, once", \.allowsDeletes),
      .flag("dry-run", short: "n", "show the plan, send and write nothing", \.dryRun),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var users: [String] = []
  var allowsDeletes = false
  var dryRun = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    var run = RunOptions()
    run.stages = [.prime]
    run.users = Set(users)
    run.isDryRun = dryRun
    run.allowsAllDeletes = allowsDeletes
    return try await PipelineCall(program: context, options: options, name: pipeline).run(run)
  }
}
