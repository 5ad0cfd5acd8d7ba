import Arguments
import JSON
import Pipelines
import Reconciliation
import System

/// `attache report`: where a run's report is, and what it says in short.
struct ReportCommand: Command {
  static let name = "report"
  static let summary = "show a run's report: the last one, or a run's"
  static let examples = [
    Note("attache report field-service", "the verdicts of the last reconciliation and its files")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument(
        "pipeline", "the pipeline file, or a name in pipelines/", completes: .files, \.pipeline),
      .argument("run", "the run; else the last that has a report", \.run),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var run: String?
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let path = try PipelineFile.locate(pipeline)
    let read = try PipelineFile.read(path: context.absolute(path))
    let data = DataDirectory(root: call.root(of: read), name: read.name)
    let reports = Files.isDirectory(data.reports) ? try Files.list(data.reports) : []
    // A run's number ends its name; the newest report is the last of them.
    let newest = reports.max { Self.number($0) < Self.number($1) }
    guard let name = run ?? newest, reports.contains(name) else {
      throw PipelineError(
        .configuration, "report.none",
        run.map { "there is no report of a run \($0)" } ?? "no run has a report yet",
        location: data.reports, fix: "attache status \(pipeline) lists the last runs")
    }
    let directory = data.reports + "/" + name
    let state = try StateDatabase(path: data.state)
    let model = try ReportModel(state: state, run: name)
    state.close()
    if options.json {
      context.print(document: try Files.read(directory + "/report.json"))
      return .done
    }
    for verdict in Verdict.allCases {
      guard let count = model.counts[verdict], count > 0 else { continue }
      context.print("\(count)\t\(verdict.rawValue)")
    }
    for file in try Files.list(directory) { context.print(directory + "/" + file) }
    return .done
  }

  private static func number(_ run: String) -> Int {
    run.split(separator: "-").last.flatMap { Int($0) } ?? 0
  }
}
