import Arguments
import JSON
import Pipelines
import Salesforce
import System

/// `attache org check`: whether a pipeline's logins work, and what its users would get.
struct OrgCheckCommand: Command {
  static let name = "org check"
  static let summary = "try a pipeline's logins and show limits and briefcases"
  static let discussion = """
    Logs in as the integration user and as up to three of the pipeline's users, and prints the org, its \
    limits, and how many records of each object the briefcases assign to each. An empty briefcase mostly means \
    that it is assigned to another connected app. Nothing is written but a refresh token that the org replaces.
    """
  static let examples = [Note("attache org check field-service", "before the first run")]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline)
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let (read, root) = try call.pipeline()
    let check = try await OrgCheck.run(read, root: root, variables: context.variables)
    if options.json {
      context.print(check.json)
    } else if !options.quiet {
      for line in check.lines { context.print(line) }
    }
    return check.failures.isEmpty ? .done : .authentication
  }
}
