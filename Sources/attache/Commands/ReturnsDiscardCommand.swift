import Arguments
import Pipelines
import System

/// `attache returns discard`: removes refused returns.
struct ReturnsDiscardCommand: Command {
  static let name = "returns discard"
  static let summary = "remove refused returns, and keep who did it and when"
  static let discussion = """
    What is in them is gone then: nobody else has their edits. Who discarded which file, when, and why it was \
    refused stays in quarantine/.
    """
  static let examples = [
    Note("attache returns discard field-service holiday.jpg", "what was no store is gone")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments(
        "return", "the names of files, or the beginnings of their digests", required: true,
        \.words),
      .option("by", "NAME", "who discards them; else the name of the system's user", \.by),
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
      for one in gone { context.print("\(one.name) is discarded") }
    }
    return .done
  }
}
