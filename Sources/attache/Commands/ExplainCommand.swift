import Arguments
import JSON
import Pipelines
import Reports
import System

/// `attache explain`: shows the history of one record or edit.
struct ExplainCommand: Command {
  static let name = "explain"
  static let summary = "show the history of one record or edit"
  static let discussion = """
    Lists, in the order in which things happened, which snapshots have the record and since which generation, \
    what the devices changed, which returns contained it, every request with its answer, and every verdict, from \
    the ledger and the issued records (the list of what each bundle contained). Times are by the org's clock, except those of a device. The org is not \
    contacted. Values follow report.mask and report.showValues of the pipeline file.
    """
  static let examples = [
    Note(
      "attache explain field-service 37",
      "edit 37 of a report, and the rest of its record's history"),
    Note("attache explain field-service 001xx000003DGb2AAG", "a record, by its ID"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument(
        "record", "a record's ID, a device's local ID, or the number of an edit", \.record),
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
