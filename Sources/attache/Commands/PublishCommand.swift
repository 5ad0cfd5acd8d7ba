import Arguments
import Pipelines
import System

/// `attache publish`: publishes the newest bundles where the pipeline says.
struct PublishCommand: Command {
  static let name = "publish"
  static let summary = "publish the newest bundles to the object store, or by the command"
  static let discussion = """
    Every file is compared with the store, also those that earlier runs published. Missing bundles, deltas and \
    signatures are written first, then each user's latest.json, which names them. Runs do the same after they pack, \
    but only for users with something new. A command is called for every file, because what it published is not known.
    """
  static let examples = [
    Note("attache publish field-service --dry-run", "the files that the store lacks"),
    Note("attache publish field-service", "publish them"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .flag("dry-run", short: "n", "list the files that would be written", \.dryRun),
      .deadline(\.deadline),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var dryRun = false
  var deadline: PositiveNumber?
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let (root, isDryRun) = (call.root(of: read), dryRun)
    let seconds = deadline?.value ?? read.org.runDeadlineSeconds
    let (outcome, signal, isLate) = await Interruption.run(deadlineSeconds: seconds) {
      try await Publisher.publish(
        read, root: root, variables: context.variables, isDryRun: isDryRun)
    }
    switch outcome {
    case .success(let summary): return show(summary, context)
    case .failure(let error):
      if let signal { throw Interruption.error(.publication, signal: signal) }
      if isLate {
        throw Interruption.late(.publication, seconds: seconds, setting: "org.runDeadlineSeconds")
      }
      throw error
    }
  }

  private func show(_ summary: PublishSummary, _ context: Program) -> ExitStatus {
    if options.json {
      context.print(summary.json(isPlan: dryRun))
    } else if !options.quiet {
      if dryRun {
        for path in summary.paths { context.print("would be written: \(path)") }
        for user in summary.users { context.print("would be written: \(user)'s latest.json") }
      }
      context.print((dryRun ? "dry run: " : "publish: ") + summary.text)
    }
    for failure in summary.failures { context.note("not published: \(failure)") }
    if summary.failures.isEmpty { return .done }
    return summary.isForLater ? .tryLater : .configuration
  }
}
