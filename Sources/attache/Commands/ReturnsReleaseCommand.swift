import Arguments
import Pipelines
import System

/// `attache returns release`: releases refused returns.
struct ReturnsReleaseCommand: Command {
  static let name = "returns release"
  static let summary = "put refused returns back, so that the next ingest proves them again"
  static let discussion = """
    For a return whose reason is mended: a passphrase, a limit, a pipeline that has its stores again. One that \
    is refused again goes to quarantine again.
    """
  static let examples = [
    Note("attache returns release field-service ada.sqlite", "the next run takes it in")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments(
        "return", "the names of files, or the beginnings of their digests", required: true,
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
      for one in released { context.print("\(one.name) is proved again by the next ingest") }
    }
    return .done
  }
}
