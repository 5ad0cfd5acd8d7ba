import Arguments
import JSON
import Pipelines
import Salesforce
import System

/// `attache org check`: checks a pipeline's logins, and validates its syncs against the org.
struct OrgCheckCommand: Command {
  static let name = "org check"
  static let summary =
    "check logins, and validate the syncs against the org's objects and fields"
  static let discussion = """
    Logs in as the integration user and as up to three of the pipeline's users, and prints the org, its \
    limits, and how many records of each object the briefcases assign to each user. An empty briefcase usually means \
    that it is assigned to another connected app. Whatever the syncs need and the org lacks is listed at once, \
    with its line in the sync file: objects and fields that do not exist or that a user cannot read, set or \
    edit, fields that are not external IDs, filters on fields that cannot be queried, and date fields that are \
    not dates. With --sharing, all users log in, and their briefcases are listed: for each sync and object, the \
    command prints how many users read the records alike, which records are fetched separately and why, and how \
    many records a first prime fetches. If the org replaces a refresh token, the new one is written to its file; nothing else is written.
    """
  static let examples = [Note("attache org check field-service", "before the first run")]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .flag("sharing", "print which records users fetch for each other (prime.share)", \.sharing),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var sharing = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let (read, root) = try call.pipeline(mayBeNew: true)
    let check = try await OrgCheck.run(
      read, root: root, variables: context.variables, sharing: sharing)
    if options.json {
      context.print(check.json)
    } else if !options.quiet {
      for line in check.lines { context.print(line) }
    }
    return check.exitStatus
  }
}

extension OrgCheck {
  /// The exit status of a command that checked the org.
  var exitStatus: ExitStatus {
    ExitStatus.told(
      of: (findings.isEmpty ? [] : [.configuration]) + (failures.isEmpty ? [] : [.authentication]))
  }
}
