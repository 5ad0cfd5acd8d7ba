import Arguments
import JSON
import Ledger
import Pipelines
import Reconciliation
import System

/// `attache status`: what is open, and when things last happened.
struct StatusCommand: Command {
  static let name = "status"
  static let summary = "show what is open: edits, returns that wait, snapshots, last runs"
  static let discussion = """
    Reads the ledger and the directories; the org is not asked. Doubts and refused edits stay here until a \
    later return or a person settles them.
    """
  static let examples = [Note("attache status field-service", "the state of one pipeline")]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline)
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let path = try PipelineFile.locate(pipeline)
    let read = try PipelineFile.read(path: context.absolute(path))
    let status = try PipelineStatus.read(read, root: call.root(of: read))
    if options.json {
      context.print(status.json)
    } else if !options.quiet {
      for line in lines(status) { context.print(line) }
    }
    return .done
  }

  private func lines(_ status: PipelineStatus) -> [String] {
    var lines = ["pipeline \(status.pipeline)"]
    for snapshot in status.snapshots {
      lines.append("  \(snapshot.username): generation \(snapshot.generation)")
    }
    lines.append("inbox: \(EventText.count(status.waiting.count, "file"))")
    lines += status.waiting.map { "  \($0)" }
    lines.append("quarantine: \(EventText.count(status.quarantined, "return"))")
    if !status.processing.isEmpty {
      lines.append("taken and not finished: \(EventText.count(status.processing.count, "return"))")
    }
    let open = status.unsettled.values.reduce(0, +)
    lines.append("edits not settled: \(open)")
    for verdict in Verdict.allCases {
      if let count = status.unsettled[verdict], count > 0 {
        lines.append("  \(count) \(verdict.rawValue)")
        lines += edits(status.open.filter { $0.verdict == verdict })
      }
    }
    lines += findings(status.findings)
    lines.append("last runs:")
    for run in status.runs {
      let end = run.exitStatus.map { "exit status \($0)" } ?? "not ended"
      lines.append("  \(run.id): \(end)")
    }
    return lines
  }

  /// More lines of one sort are not shown on a terminal; `--json` has them all.
  private static let mostLines = 20

  private func edits(_ edits: [ReportEdit]) -> [String] {
    var lines = edits.prefix(Self.mostLines).map { edit in
      "    edit \(edit.number): \(edit.recordName) of \(edit.owner), since "
        + "\(Dates.utcSeconds(edit.foundAt))"
    }
    let more = edits.count - lines.count
    if more > 0 { lines.append("    and \(more) more; --json lists them") }
    return lines
  }

  private func findings(_ findings: [Finding]) -> [String] {
    var lines = findings.isEmpty ? [] : ["for a person to look at: \(findings.count)"]
    for finding in findings.prefix(Self.mostLines) {
      let name = finding.text("name") ?? finding.text("username") ?? finding.subject
      lines.append("  \(finding.state): \(name): \(finding.text("reason") ?? "")")
      if let path = finding.text("path") { lines.append("    \(path)") }
    }
    let more = findings.count - Self.mostLines
    if more > 0 { lines.append("  and \(more) more; --json lists them") }
    return lines
  }
}
