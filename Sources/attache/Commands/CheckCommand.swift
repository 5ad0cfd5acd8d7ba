import Arguments
import Pipelines
import System

/// `attache check`: reads a pipeline with all its files, offline, and prints what it means.
struct CheckCommand: Command {
  static let name = "check"
  static let summary = "read a pipeline and everything it names, offline"
  static let discussion = """
    All problems are listed at once, each with file, line, column, JSON path and what to write instead. A \
    pipeline without problems is printed with every default filled in. Private keys and certificates of \
    authorities are read too, and what is wrong in one is named; a file that is not there, or not yours to \
    read, is told and no problem, and so is a pipeline that has another name than its file.
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
    let reading = PipelineFile.reading(path: context.absolute(path), thoroughly: true)
    let pipeline = try reading.checked()
    if !options.quiet {
      for note in reading.notes { context.note("attache: \(note)") }
      context.print(pipeline.effectiveJSON, pretty: !options.json)
    }
    return .done
  }
}
