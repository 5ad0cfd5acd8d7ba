import Arguments
import Pipelines
import System

/// `attache pack`: writes the bundles of the newest generations.
struct PackCommand: Command {
  static let name = "pack"
  static let summary = "write the bundles of the newest generations"
  static let discussion = """
    A bundle is one archive per platform: the manifest first, then the stores at the paths where an app looks \
    for them.
    """
  static let examples = [Note("attache pack field-service", "the missing bundles")]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .user("USERNAME", "only this user's snapshot", \.users),
      .dryRun(\.dryRun),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var users: [String] = []
  var dryRun = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    var run = RunOptions()
    run.stages = [.pack]
    run.users = Set(users)
    run.isDryRun = dryRun
    return try await PipelineCall(program: context, options: options, name: pipeline).run(run)
  }
}
