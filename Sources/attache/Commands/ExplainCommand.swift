import Arguments
import JSON
import Pipelines
import Reconciliation
import System

/// `attache explain`: shows the history of one record or edit.
struct ExplainCommand: Command {
  static let name = "explain"
  static let summary = "tell the whole life of one record or edit"
  static let discussion = """
    Whose snapshots held the record and since which generation, what devices changed, which returns brought \
    it, every request with its answer, every verdict: in order of time, from the ledger and from what the \
    generations issued. The org is not asked. Values follow report.mask and report.showValues of the \
    pipeline file.
    """
  static let examples = [
    Note("attache explain field-service 37", "edit 37 of a report, and all else of its record"),
    Note("attache explain field-service 001xx000003DGb2AAG", "a record, by its Id"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument(
        "record", "a record's Id, a device's own id of it, or the number of an edit", \.record),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var record = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let story = try Explanation.story(of: record, read, root: call.root(of: read))
    let shown = read.report.reportMask
    if options.json {
      context.print(StoryText.json(story, shown), pretty: true)
    } else {
      for line in StoryText.lines(story, shown) { context.print(VisibleText.line(line)) }
    }
    return .done
  }
}
