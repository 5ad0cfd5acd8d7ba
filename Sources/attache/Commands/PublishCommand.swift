import Arguments
import Pipelines
import System

/// `attache publish`: publishes the newest bundles where the pipeline says.
struct PublishCommand: Command {
  static let name = "publish"
  static let summary = "publish the newest bundles to the object store, or by the command"
  static let discussion = """
    Every file is compared with the store, also those that earlier runs published. Bundles, deltas and signatures \
    are written once, then each user's latest.json, which names them. Runs do the same after they pack, but \
    only for users with something new.
    """
  static let examples = [
    Note("attache publish field-service --dry-run", "how many users and files"),
    Note("attache publish field-service", "publish them"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .flag("dry-run", short: "n", "count the files without a request", \.dryRun),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var dryRun = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let summary = try await Publisher.publish(
      read, root: call.root(of: read), variables: context.variables, isDryRun: dryRun)
    if options.json {
      context.print(summary.json)
    } else if !options.quiet {
      let users = CountText.of(summary.users.count, "user")
      let files = CountText.of(summary.files, "file")
      context.print(
        dryRun
          ? "dry run: \(files) of \(users) would be compared with \(summary.location)"
          : "published \(files) of \(users) to \(summary.location)")
      if summary.removed > 0 {
        context.print("removed \(CountText.of(summary.removed, "object")) of pruned generations")
      }
    }
    for failure in summary.failures { context.note("not published: \(failure)") }
    return summary.failures.isEmpty ? .done : .configuration
  }
}
