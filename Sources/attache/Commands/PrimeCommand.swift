import Arguments
import Pipelines
import System

/// `attache prime`: fetches the changes of each user into new generations.
struct PrimeCommand: Command {
  static let name = "prime"
  static let summary = "fetch what changed in the org, as each user sees it, into new generations"
  static let discussion = """
    Records are fetched as the snapshot's user, so a store contains what that user can see. If neither \
    a user's records nor the user's open edits (which each new store carries again) have changed, no new \
    generation is written.
    """
  static let examples = [
    Note("attache prime field-service --user ada@example.com", "one user's snapshot")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .user("USERNAME", "only this user's snapshot", \.users),
      .maxDeletes(\.maxDeletes),
      .dryRun(\.dryRun),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var users: [String] = []
  var maxDeletes: Percentage?
  var dryRun = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    var run = RunOptions()
    run.stages = [.prime]
    run.users = Set(users)
    run.isDryRun = dryRun
    run.maxDeletes = maxDeletes
    return try await PipelineCall(program: context, options: options, name: pipeline).run(run)
  }
}
