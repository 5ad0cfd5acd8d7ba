import Arguments
import JSON
import Ledger
import Pipelines
import Salesforce
import System

/// Finds, runs and shows a pipeline for one call of the command line.
struct PipelineCall {
  let program: Program
  let options: Options
  let name: String

  /// The pipeline, and the directory of all snapshots.
  ///
  /// `mayBeNew` is for commands that also work before the first run.
  func pipeline(mayBeNew: Bool = false) throws -> (pipeline: Pipeline, root: String) {
    let pipeline = try read(variables: program.variables, mayBeNew: mayBeNew)
    return (pipeline, root(of: pipeline))
  }

  /// Reads a pipeline whose data are under its name, or will be restored there.
  ///
  /// With `variables`, the variables that its file names must be set. Unless the directory that
  /// `--data` names `mayBeNew`, it must exist.
  func read(
    variables: [String: String]? = nil, isRestoring: Bool = false, mayBeNew: Bool = false
  ) throws -> Pipeline {
    let pipeline = try readFile(variables: variables)
    try LedgerCheck.checkName(pipeline, root: root(of: pipeline), isRestoring: isRestoring)
    if !isRestoring, !mayBeNew { try Self.checkData(options, program) }
    return pipeline
  }

  /// Throws if the directory that `--data` names does not exist, or is not a data directory.
  ///
  /// Without this check, a command that only reads would take a misspelt name for that of a
  /// pipeline that never ran.
  static func checkData(_ options: Options, _ program: Program) throws(UsageError) {
    guard let data = options.data else { return }
    let path = try program.directory(data)
    // Missing permissions are reported with their fix when the ledger is opened.
    if Files.denied(path) != nil { return }
    guard Files.exists(path) else {
      throw UsageError(
        "there is no data directory \(data)", hint: "correct --data; attache run creates it")
    }
    if DataDirectory.isRoot(path) { return }
    try refuseDirectoryOfPipeline(data, path)
    throw UsageError(
      "\(data) is not a data directory: no pipeline has files in it", hint: "correct --data")
  }

  static func refuseDirectoryOfPipeline(_ data: String, _ path: String) throws(UsageError) {
    guard !DataDirectory.isRoot(path), DataDirectory.isPipeline(path),
      let parent = Files.parent(of: path)
    else { return }
    throw UsageError(
      "\(data) is the directory of one pipeline, not the data directory",
      hint: "name the directory above it: --data \(ShellWord.quoted(parent))")
  }

  /// Throws if a run would refuse the name of its data directory, its inbox, or the location of a
  /// file that it writes.
  func checkPlaces(of pipeline: Pipeline) throws {
    if let data = options.data {
      try Self.refuseDirectoryOfPipeline(data, program.directory(data))
    }
    let root = root(of: pipeline)
    try LedgerCheck.checkName(pipeline, root: root)
    try DataDirectory(root: root, name: pipeline.name).checkPlaces(of: pipeline)
  }

  /// Reads a pipeline even if its data are under another name; a run reports that by a
  /// notification.
  private func readFile(variables: [String: String]?) throws -> Pipeline {
    let path = program.absolute(try PipelineFile.locate(name))
    var pipeline = try PipelineFile.read(path: path, variables: variables)
    pipeline.called = called(pipeline)
    program.use(pipeline: pipeline.called)
    if let data = options.data {
      try Self.refuseDirectoryOfPipeline(data, program.directory(data))
    }
    return pipeline
  }

  /// The word that names a pipeline in a printed command, with the data directory.
  func called(_ pipeline: Pipeline) -> String {
    guard let data = options.data else { return pipeline.called }
    return "\(pipeline.called) --data \(ShellWord.quoted(program.absolute(data)))"
  }

  /// Returns `--data`, or `$ATTACHE_DATA`, or `/var/lib/attache` for a pipeline in `/etc/attache`,
  /// or `../snapshots` relative to the directory of any other.
  func root(of pipeline: Pipeline) -> String { root(in: pipeline.directory) }

  /// The same for a pipeline in a directory.
  func root(in directory: String) -> String {
    if let data = options.data { return program.absolute(data) }
    if let data = program.variables["ATTACHE_DATA"], !data.isEmpty { return program.absolute(data) }
    let installed = PipelineFile.installed
    if directory == installed.pipelines { return installed.data }
    return (Files.parent(of: directory) ?? directory) + "/snapshots"
  }

  /// Runs stages, shows their events and the summary, and returns the exit status.
  ///
  /// The plan of an undo already states that nothing was done.
  func run(_ runOptions: RunOptions, isUndoPlan: Bool = false) async throws -> ExitStatus {
    let pipeline: Pipeline
    let root: String
    do {
      pipeline = try readFile(variables: program.variables)
      root = self.root(of: pipeline)
      try checkOutputs(of: pipeline, root)
    } catch { return try ended(error) }
    let watch = RunWatch(pipeline: pipeline.name)
    let log: LogFile?
    do throws(PipelineError) {
      log = try options.logFile.map { path throws(PipelineError) in
        try LogFile(program.absolute(path), options.logFormat)
      }
    } catch {
      let end = watch.end(error.kind.exitStatus, summary: nil, error: error, of: runOptions)
      await close(end, pipeline, nil, isDryRun: runOptions.isDryRun, spent: 0)
      return try ended(error)
    }
    let (outcome, spent) = await outcome(runOptions, pipeline, root, watch, log)
    switch outcome {
    case .success(let summary):
      let status = summary.exitStatus
      show(summary, status, isDryRun: runOptions.isDryRun, isUndoPlan: isUndoPlan)
      let end = watch.end(status, summary: summary, of: runOptions)
      await close(end, pipeline, log, isDryRun: runOptions.isDryRun, spent: spent)
      return status
    case .failure(let error):
      let failure = PipelineError(describing: error)
      let end = watch.end(
        failure.kind.exitStatus, summary: nil, error: failure, of: runOptions)
      // The report has what the run resolved and found before it failed.
      if !options.json, let path = end.report { program.note("report: \(path)") }
      await close(end, pipeline, log, isDryRun: runOptions.isDryRun, spent: spent)
      return try ended(error)
    }
  }

  /// Checks where the run will write its log and its metrics, whatever else fails.
  private func checkOutputs(of pipeline: Pipeline, _ root: String) throws(PipelineError) {
    let data = DataDirectory(root: root, name: pipeline.name)
    try data.checkOutputs(of: pipeline)
    guard let log = options.logFile else { return }
    try data.checkOutput("log file", at: program.absolute(log), named: "--log-file", of: pipeline)
  }

  /// Returns the outcome of the run, and how many signals it consumed.
  ///
  /// A signal and the deadline are separate errors.
  private func outcome(
    _ runOptions: RunOptions, _ pipeline: Pipeline, _ root: String, _ watch: RunWatch,
    _ log: LogFile?
  ) async -> (Result<RunSummary, any Error>, spent: Int) {
    let progress = Progress(program, quiet: options.quiet || options.json)
    // The status line shows the retries of a run, so the trace need not.
    let observer = program.verbosity > 0 || program.debugHTTP != nil ? OrgObserver.current : nil
    let (program, json) = (program, options.json)
    let seconds = runOptions.deadlineSeconds ?? pipeline.org.runDeadlineSeconds
    // Events come from several threads; each is handled completely before the next.
    let turn = Locked(())
    let (outcome, signal, isLate) = await OrgObserver.$current.withValue(observer) {
      await Interruption.run(deadlineSeconds: seconds) {
        try await PipelineRun.execute(
          pipeline, root: root, variables: program.variables, options: runOptions
        ) { event in
          turn.withLock { _ in
            let seen = watch.see(event)
            log?.add(seen)
            if let text = EventText.status(of: event) {
              ServiceManager.tell("STATUS=\(VisibleText.line(text))", program.variables)
            }
            if json { program.print(seen.json) } else { progress.show(event) }
          }
        }
      }
    }
    progress.finish()
    let spent = signal == nil ? 0 : 1
    guard case .failure = outcome else { return (outcome, spent) }
    if let signal {
      return (.failure(Interruption.error(.run, signal: signal)), spent)
    }
    if isLate {
      let error = Interruption.late(.run, seconds: seconds, setting: "org.runDeadlineSeconds")
      return (.failure(error), spent)
    }
    return (outcome, spent)
  }

  /// Sends the notifications, and shows the cost of the run on a terminal.
  private func close(
    _ end: RunEnd, _ pipeline: Pipeline, _ log: LogFile?, isDryRun: Bool, spent: Int
  ) async {
    log?.add(end)
    if program.errorIsTerminal, !options.quiet, !options.json {
      for line in ClosingTable.lines(end) { program.note(line) }
    }
    if !isDryRun {
      let notices = RunNotices(pipeline, variables: program.variables)
      for failure in await Interruption.brief(spent: spent, { await notices.tell(end) }).0 {
        warn(failure, of: end)
        log?.add(warning: failure, of: end)
      }
    }
    if let trouble = log?.trouble { warn(trouble, of: end) }
  }

  /// Prints a warning that came after the end: as JSON if the results are JSON.
  private func warn(_ text: String, of end: RunEnd) {
    if options.json { program.note(end.warning(text)) } else { program.note("warning: \(text)") }
  }

  private func ended(_ error: any Error) throws -> ExitStatus {
    guard options.json else { throw error }
    let diagnostic = Diagnostic(error, pipeline: program.calledPipeline)
    program.print(
      .object([
        "type": "summary", "status": JSONValue(Int(diagnostic.status.rawValue)),
        "result": .null, "warnings": [], "error": diagnostic.json,
      ]))
    return diagnostic.status
  }

  private func show(
    _ summary: RunSummary, _ status: ExitStatus, isDryRun: Bool, isUndoPlan: Bool
  ) {
    if options.json {
      program.print(
        .object([
          "type": "summary", "status": JSONValue(Int(status.rawValue)), "result": summary.json,
          "warnings": .array(summary.warnings.map { .string($0) }),
        ]))
      return
    }
    if options.quiet {
      // With `--quiet`, print where to look, because the exit status alone does not show it.
      if let line = SummaryText.attention(summary) { program.note(line) }
      return
    }
    for line in summary.plan { program.print(line) }
    if isDryRun, summary.plan.isEmpty { program.print("nothing to do") }
    for line in SummaryText.lines(summary, isDryRun: isDryRun) { program.print(styled: line) }
    if isDryRun, !isUndoPlan { program.print("dry run: nothing was sent or changed") }
  }
}

extension Verdict {
  /// The style on a terminal, which highlights the verdicts that need a decision.
  var style: StyledLine.Style {
    if isSettled { return .bold }
    return isWaiting ? .yellow : .red
  }
}

/// The summary of a run in a few lines.
enum SummaryText {
  /// Returns the edits by verdict, and the items that need review.
  static func lines(_ summary: RunSummary, isDryRun: Bool) -> [StyledLine] {
    var lines: [StyledLine] = []
    let total = summary.verdicts.values.reduce(0, +)
    if total > 0 {
      let heading = isDryRun ? "expected outcome of " : ""
      lines.append("\(heading)\(CountText.of(total, "edit")):")
      for verdict in Verdict.allCases {
        guard let count = summary.verdicts[verdict], count > 0 else { continue }
        let step = summary.steps[verdict].map { "  → \($0)" } ?? ""
        lines.append("  \(pad(count, 6))  \(verdict.rawValue, verdict.style)\(step)")
      }
    }
    let open = summary.open.values.reduce(0, +)
    if open > 0 {
      let verb = open == 1 ? "is" : "are"
      lines.append("\(CountText.of(open, "edit")) \(verb) open, counting earlier runs")
    }
    for kind in Finding.Kind.allCases {
      guard let count = summary.waiting[kind], count > 0 else { continue }
      let who = kind == .userSkipped ? skipped(summary.skipped) : ""
      lines.append("\(name(kind)): \(count)\(who)")
    }
    if let work = summary.work, work.isWaiting {
      let snapshots = CountText.of(work.snapshots, "snapshot")
      lines.append("\(CountText.of(work.orders, "order")) of \(snapshots) written for workers")
    }
    for command in summary.confirm { lines.append("to send the held changes: \(command)") }
    if let report = summary.report { lines.append("report: \(report)") }
    return lines
  }

  /// The names of skipped users in parentheses, of many only the first.
  private static func skipped(_ users: [String]) -> String {
    if users.isEmpty { return "" }
    let more = users.count > 5 ? "; …" : ""
    return " (\(users.prefix(5).joined(separator: "; "))\(more))"
  }

  /// One line about the items that need review; nil if there are none.
  static func attention(_ summary: RunSummary) -> String? {
    var parts: [String] = []
    let open = summary.open.values.reduce(0, +)
    if open > 0 { parts.append("open edits: \(open)") }
    for kind in Finding.Kind.allCases {
      if let count = summary.waiting[kind], count > 0 { parts.append("\(name(kind)): \(count)") }
    }
    if parts.isEmpty, !summary.findings.isEmpty {
      parts = summary.findings.map(\.rawValue).sorted()
    }
    if parts.isEmpty { return nil }
    var place = summary.confirm.map { "; to send the held changes: \($0)" }.joined()
    place += summary.report.map { "; report: \($0)" } ?? ""
    return "attache: \(summary.pipeline): \(parts.joined(separator: ", "))\(place)"
  }

  /// The label of a kind of finding.
  static func name(_ kind: Finding.Kind) -> String {
    switch kind {
    case .returnAccepted: "returns accepted"
    case .returnKnown: "returns already known"
    case .returnQuarantined: "returns in quarantine"
    case .returnLeft: "files left in the inbox"
    case .userSkipped: "users skipped"
    case .incomplete: "snapshots that may lack records"
    case .removalsHeld: "snapshots whose removals are held"
    case .changesHeld: "snapshots whose changes are held"
    case .warning: "warnings"
    }
  }

  private static func pad(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
