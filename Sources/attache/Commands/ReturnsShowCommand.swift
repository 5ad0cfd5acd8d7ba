import Arguments
import Pipelines
import System

/// `attache returns show`: shows one return.
struct ReturnsShowCommand: Command {
  static let name = "returns show"
  static let summary = "show one return: its location, its reason, and the outcome of its edits"
  static let discussion = """
    A return is named by its file name, or by at least 4 characters of its digest.
    """
  static let examples = [
    Note("attache returns show field-service ada.sqlite", "its location, and its edits")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument(
        "return", "the file name, or a prefix of the digest, at least 4 characters", \.word),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var word = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let returns = try call.returns()
    let found = try returns.find(word)
    if found.isEmpty { throw try returns.unknown(word) }
    if options.json {
      context.print(.array(found.map(\.json)))
    } else {
      for one in found {
        for line in ReturnText.lines(one, isWhole: true, context) { context.print(line) }
      }
    }
    return .done
  }
}
