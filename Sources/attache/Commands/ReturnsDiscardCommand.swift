import Arguments
import Pipelines
import System

/// `attache returns discard`: removes refused returns.
struct ReturnsDiscardCommand: Command {
  static let name = "returns discard"
  static let summary = "remove refused returns, and record who removed them"
  static let discussion = """
    The content is lost, with edits that exist nowhere else. A record of who discarded which file, when, and why \
    it was refused stays in quarantine/.
    """
  static let examples = [
    Note("attache returns discard field-service holiday.jpg", "remove a file that is not a store")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments(
        "return", "file names, or prefixes of digests, at least 4 characters", required: true,
        \.words),
      .option(
        "by", "NAME", "the name recorded with the removal (default: the system's user name)", \.by),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var words: [String] = []
  var by: String?
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let gone = try call.returns().discard(words, by: by ?? ProcessEnvironment.userName())
    if options.json {
      context.print(.array(gone.map(\.json)))
    } else if !options.quiet {
      for one in gone { context.print("\(one.name) was discarded") }
    }
    return .done
  }
}
