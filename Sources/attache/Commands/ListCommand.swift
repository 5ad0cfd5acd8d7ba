import Arguments
import JSON
import Pipelines
import System

/// `attache list`: lists the pipelines with their last run.
struct ListCommand: Command {
  static let name = "list"
  static let summary = "list all pipelines: last run, exit status, open edits"
  static let discussion = """
    The pipelines are the files in pipelines/ and in /etc/attache. The org is not contacted. An invalid file \
    is listed with its fault, and the exit status stays 0: attache check explains the fault.
    """
  static let examples = [Note("attache list", "every pipeline that can be called by name")]
  static var parameters: [Parameter<Self>] { Options.pipeline.map { $0.within(\.options) } }

  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    try PipelineCall.checkData(options, context)
    let lines = PipelinesInReach.names(context).map { line($0, context) }
    if options.json {
      context.print(["pipelines": .array(lines.map(\.json))])
    } else if lines.isEmpty {
      for line in PipelinesInReach.noneWords { context.note(line) }
    } else {
      let table = TextTable.lines(
        header: ["pipeline", "last run", "exit status", "open edits"], rows: lines.map(\.cells),
        isCut: context.outputIsTerminal)
      for line in table { context.print(line) }
    }
    return .done
  }

  /// One row of the list.
  private struct Line {
    let name: String
    var file = ""
    var status: PipelineStatus?
    var fault: String?

    var open: Int { status?.unsettled.values.reduce(0, +) ?? 0 }

    var cells: [String] {
      guard let status else { return [name, fault ?? "", "-", "-"] }
      guard let run = status.runs.first else { return [name, "never run", "-", String(open)] }
      let end = run.exitStatus.map { String($0) } ?? "not finished"
      return [name, Dates.utcSeconds(run.started), end, String(open)]
    }

    var json: JSONValue {
      var object: JSONObject = ["name": .string(name), "file": .string(file)]
      if let fault { object["fault"] = .string(fault) }
      guard let status else { return .object(object) }
      object["pipeline"] = .string(status.pipeline)
      object["data"] = .string(status.directory)
      object["lastRun"] = .null
      if let run = status.runs.first {
        object["lastRun"] = [
          "run": .string(run.id), "started": .string(Dates.utc(run.started)),
          "ended": run.ended.map { .string(Dates.utc($0)) } ?? .null,
          "exitStatus": run.exitStatus.map { JSONValue(Int($0)) } ?? .null,
        ]
      }
      object["openEdits"] = JSONValue(open)
      return .object(object)
    }
  }

  private func line(_ name: String, _ context: Program) -> Line {
    var line = Line(name: name)
    let call = PipelineCall(program: context, options: options, name: name)
    do {
      line.file = context.absolute(try PipelineFile.locate(name))
      let pipeline = try call.read()
      line.status = try PipelineStatus.read(pipeline, root: call.root(of: pipeline))
    } catch let error as Problems {
      let count = error.list.count
      line.fault = "\(CountText.of(count, "problem")): attache check \(name)"
    } catch {
      line.fault = PipelineError(describing: error).message
    }
    return line
  }
}
