import Arguments
import JSON
import Ledger
import Pipelines
import Reports
import System

/// `attache status`: shows open items and the last runs.
struct StatusCommand: Command {
  static let name = "status"
  static let summary = "show open edits, waiting returns, snapshots and the last runs"
  static let discussion = """
    Reads the ledger and the directories; the org is not contacted. An open edit is listed until a \
    later return or an operator resolves it. --all shows every pipeline that `attache list` lists. --disk \
    shows the disk use by kind and snapshot, and what attache prune would remove.
    """
  static let examples = [
    Note("attache status field-service", "the state of one pipeline"),
    Note("attache status field-service --disk", "the disk use"),
    Note("attache status --all", "the state of every pipeline"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument(
        "pipeline", "the pipeline file, or a name in pipelines/ or /etc/attache",
        completes: .asked("pipelines", orFiles: true), \.pipeline),
      .flag("all", short: "a", "show every pipeline in pipelines/ and /etc/attache", \.all),
      .flag("disk", "show the disk use instead", \.disk),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline: String?
  var all = false
  var disk = false
  var options = Options()

  func validate() throws(UsageError) {
    if all == (pipeline != nil) {
      throw UsageError(
        all ? "--all and PIPELINE exclude each other" : "PIPELINE is missing",
        hint: "name one pipeline, or write --all")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    if let pipeline { return try show(pipeline, context) }
    try PipelineCall.checkData(options, context)
    var statuses: [ExitStatus] = []
    let names = PipelinesInReach.names(context)
    if names.isEmpty, !options.json, !options.quiet {
      for line in PipelinesInReach.noneWords { context.note(line) }
    }
    for name in names {
      if !statuses.isEmpty, !options.json, !options.quiet { context.print("") }
      do {
        statuses.append(try show(name, context))
      } catch {
        // A pipeline that cannot be read does not hide the others.
        let diagnostic = Diagnostic(error, pipeline: context.calledPipeline)
        if options.json {
          context.print(diagnostic.json)
        } else {
          context.print("pipeline \(name)")
          for line in diagnostic.lines { context.note(line) }
        }
        statuses.append(diagnostic.status)
      }
    }
    return ExitStatus.told(of: statuses)
  }

  private func show(_ name: String, _ context: Program) throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: name)
    let read = try call.read()
    if disk { return try showDisk(read, root: call.root(of: read), context) }
    let status = try PipelineStatus.read(read, root: call.root(of: read))
    if options.json {
      context.print(status.json)
    } else if !options.quiet {
      for line in lines(status) { context.print(styled: line) }
    }
    return .done
  }

  private func showDisk(
    _ pipeline: Pipeline, root: String, _ context: Program
  ) throws -> ExitStatus {
    let data = DataDirectory(root: root, name: pipeline.name)
    let use = try DiskUse.read(data)
    let plan: KeepPlan?
    do {
      plan = try KeepWork.prune(pipeline, root: root, isDryRun: true)
    } catch let error as PipelineError where error.kind == .locked {
      plan = nil
    }
    if options.json {
      context.print(
        .object([
          "pipeline": .string(pipeline.name), "disk": use.json,
          "prune": plan.map { .object($0.totals) } ?? .null,
        ]))
      return .done
    }
    if options.quiet { return .done }
    let names = try PipelineStatus.read(pipeline, root: root).snapshots.reduce(into: [:]) {
      $0[$1.id] = $1.username
    }
    let rows = use.parts.map { part in
      [
        part.kind, part.snapshot.map { names[$0] ?? $0 } ?? "", String(part.count),
        ByteCount.text(Int(part.bytes)),
      ]
    }
    let table = TextTable.lines(
      header: ["what", "whose", "count", "size"], rows: rows, isCut: context.outputIsTerminal)
    for line in table { context.print(line) }
    context.print("\(ByteCount.text(Int(use.bytes))) in \(data.path)")
    guard let plan else {
      context.print("a run is active: what attache prune would remove is unknown")
      return .done
    }
    for line in KeepText.lines(plan, isDone: false) { context.print(line) }
    return .done
  }

  private func lines(_ status: PipelineStatus) -> [StyledLine] {
    var lines: [StyledLine] = ["pipeline \(status.pipeline, .bold)"]
    if !status.hasRun { lines.append("nothing has run in \(status.directory)") }
    for snapshot in status.snapshots {
      lines.append("  \(snapshot.username): generation \(snapshot.generation)")
    }
    lines.append("inbox: \(CountText.of(status.waiting.count, "file"))")
    lines += status.waiting.map { "  \($0)" as StyledLine }
    lines.append("quarantine: \(CountText.of(status.quarantined, "return"))")
    if !status.processing.isEmpty {
      lines.append("in processing: \(CountText.of(status.processing.count, "return"))")
    }
    if status.unjudged > 0 {
      lines.append("edits waiting for the next reconciliation: \(status.unjudged)")
    }
    let open = status.unsettled.values.reduce(0, +)
    lines.append("open edits: \(open)")
    for verdict in Verdict.allCases {
      if let count = status.unsettled[verdict], count > 0 {
        lines.append("  \(count) \(verdict.rawValue, verdict.style)")
        lines += edits(status.open.filter { $0.verdict == verdict }).map { StyledLine($0) }
      }
    }
    lines += findings(status.findings).map { StyledLine($0) }
    lines.append(status.runs.isEmpty ? "last runs: none" : "last runs:")
    if status.runs.isEmpty, status.hasRun { lines.append("data: \(status.directory)") }
    for run in status.runs {
      let end = run.exitStatus.map { "exit status \($0)" } ?? "not finished"
      lines.append("  \(run.id): \(end)")
    }
    return lines
  }

  private func edits(_ edits: [ReportEdit]) -> [String] {
    ShortList.lines(edits, indent: "    ") { edit in
      [
        "    edit \(edit.number): \(edit.recordName) of \(edit.owner), since "
          + "\(Dates.utcSeconds(edit.foundAt))"
      ]
    }
  }

  private func findings(_ findings: [Finding]) -> [String] {
    let head = findings.isEmpty ? [] : ["items that need review: \(findings.count)"]
    return head
      + ShortList.lines(findings, indent: "  ") { finding in
        let name = finding.text("name") ?? finding.text("username") ?? finding.subject
        let line = "  \(finding.state): \(name): \(finding.text("reason") ?? "")"
        return [line] + (finding.text("path").map { ["    \($0)"] } ?? [])
      }
  }
}
