import Arguments
import Pipelines
import System

/// `attache returns release`: releases refused returns.
struct ReturnsReleaseCommand: Command {
  static let name = "returns release"
  static let summary = "release refused returns, so that the next ingest validates them again"
  static let discussion = """
    For returns whose cause of refusal is fixed: a passphrase, a limit, or a store missing from the pipeline. \
    A return that is refused again is quarantined again.
    """
  static let examples = [
    Note("attache returns release field-service ada.sqlite", "the next run ingests it")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments(
        "return", "file names, or prefixes of digests, at least 4 characters", required: true,
        \.words),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var words: [String] = []
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let released = try call.returns().release(words)
    if options.json {
      context.print(.array(released.map(\.json)))
    } else if !options.quiet {
      for one in released {
        context.print("\(one.name) will be validated again by the next ingest")
      }
    }
    return .done
  }
}
