import Arguments
import Pipelines
import System

/// `attache check`: reads a pipeline with all its files, offline, and prints what it means.
struct CheckCommand: Command {
  static let name = "check"
  static let summary = "read a pipeline and everything it names, offline"
  static let discussion = """
    All problems are listed at once, each with file, line, column, JSON path and what to write instead. A \
    pipeline without problems is printed with every default filled in.
    """
  static let examples = [
    Note("attache check field-service", "the effective pipeline, or its problems")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline)
    ] + Options.output.map { $0.within(\.options) }
  }

  var pipeline = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let path = try PipelineFile.locate(pipeline)
    let read = try PipelineFile.read(path: context.absolute(path))
    if !options.quiet { context.print(read.effectiveJSON, pretty: !options.json) }
    return .done
  }
}
