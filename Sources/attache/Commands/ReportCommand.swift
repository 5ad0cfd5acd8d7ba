import Arguments
import JSON
import Ledger
import Pipelines
import Reports
import System

/// `attache report`: shows the report of a run, or its path.
struct ReportCommand: Command {
  static let name = "report"
  static let summary = "show the report of the last run, or of another run"
  static let discussion = """
    Prints the numbers of new verdicts, of open edits from earlier runs, and of other items that need review, then \
    the report's files. For a run that was interrupted before its report, it shows what is known. \
    --format prints the report itself: html the page, json the document, csv the table of its edits. --user \
    selects the edits of one user's devices; a part of the name is enough if it matches one user only.
    """
  static let examples = [
    Note("attache report field-service", "the verdicts of the last reconciliation and its files"),
    Note("attache report field-service --user ada --format csv", "Ada's edits as a table"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument(
        "run", "the run's ID, as shown by attache status (default: the last run with a report)",
        \.run),
      .option("format", "FORM", "the output format", \.format),
      .option(
        "user", "NAME", "only the edits of this user's devices",
        completes: .asked("users", orFiles: false), \.user),
    ] + Options.formatted.map { $0.within(\.options) }
  }

  var pipeline = ""
  var run: String?
  var format = Format.text
  var user: String?
  var options = Options()

  /// The formats of the output.
  enum Format: String, CaseIterable, ArgumentValue { case text, json, html, csv }

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let data = DataDirectory(root: call.root(of: read), name: read.name)
    let ledger = try data.ledgerIfThere()
    defer { ledger?.close() }
    let reports = try written(data)
    guard let name = try run ?? ledger?.latestRun(of: reports) else {
      // A run without open items has no report, which is not an error; neither is a pipeline that never
      // ran.
      if format == .json {
        context.print(.null)
      } else {
        context.print(try Self.withoutReports(ledger, data, read.called))
      }
      return .done
    }
    guard let state = ledger, try state.run(id: name) != nil else {
      throw none("there is no report of a run \"\(name)\"", data, read)
    }
    let whole = try ReportModel(state: state, run: name, called: read.called)
    let model =
      try user.map {
        try ReportModel(
          state: state, run: name, called: read.called, user: try Self.user($0, whole))
      }
      ?? whole
    let isWritten = reports.contains(name)
    if try show(model, isWritten ? data.report(name) : nil, read.report.reportMask, context) {
      return .done
    }
    if !isWritten { context.note(try Self.words(for: model.run, state)) }
    for line in Self.lines(model) { context.print(line) }
    let pruned = try state.editNumbers(.pruned(ofRun: name)).count
    if pruned > 0 {
      context.note("the values of \(CountText.of(pruned, "edit")) are pruned (keep.runsDays)")
    }
    if isWritten {
      for file in try Files.list(data.report(name)) {
        context.print(data.report(name) + "/" + file)
      }
    }
    return .done
  }

  /// Prints the report in one of its formats, from its file or rebuilt.
  ///
  /// Returns false if plain text is requested.
  private func show(
    _ model: ReportModel, _ directory: String?, _ shown: ReportMask, _ context: Program
  ) throws -> Bool {
    guard let (form, file) = file else { return false }
    let written = user == nil ? directory.map { $0 + "/" + file } : nil
    let bytes =
      try written.flatMap { Files.exists($0) ? try Files.read($0) : nil }
      ?? form.bytes(file, model, shown)
    switch format {
    case .text, .json: context.print(document: bytes)
    case .html: context.write(String(decoding: bytes, as: UTF8.self))
    case .csv: context.write(table: bytes)
    }
    return true
  }

  /// The format and the name of the file to print.
  private var file: (form: any ReportFormat.Type, file: String)? {
    switch format {
    case .html: (HTMLReport.self, "report.html")
    case .csv: (CSVReport.self, "records.csv")
    case .json: (JSONReport.self, "report.json")
    case .text: nil
    }
  }

  /// Returns the user whose name, or part of it, is given.
  private static func user(_ word: String, _ model: ReportModel) throws -> String {
    let known = Set(model.everybody + model.usernames.values).sorted()
    let part = word.lowercased()
    let found = known.filter { $0.lowercased().contains(part) }
    if let whole = known.first(where: { $0.lowercased() == part }) { return whole }
    if found.count == 1 { return found[0] }
    throw UsageError(
      found.isEmpty ? "no user name contains \"\(word)\"" : "\"\(word)\" matches several users",
      hint: "name one of \((found.isEmpty ? known : found).joined(separator: ", "))",
      command: "attache report")
  }

  private func written(_ data: DataDirectory) throws -> [String] {
    guard Files.isDirectory(data.reports) else { return [] }
    return try Files.list(data.reports).filter { !$0.hasPrefix(".") }
  }

  private func none(
    _ words: String, _ data: DataDirectory, _ read: Pipeline
  ) -> PipelineError {
    PipelineError(
      .configuration, "report.none", words, location: data.reports,
      fix: "attache status \(read.called) lists the last runs")
  }

  /// Returns why there is no report of any run.
  private static func withoutReports(
    _ ledger: LedgerDatabase?, _ data: DataDirectory, _ called: String
  ) throws -> String {
    guard let ledger else { return "there is no report yet: nothing has run in \(data.path)" }
    let last = try ledger.runs(limit: 1).first
    if let last, last.ended == nil {
      return "run \(last.id) was interrupted, or is still active, and has no report yet; an "
        + "interrupted run is resumed by attache run \(called)"
    }
    if let last, let words = Self.failure(of: last) {
      return "run \(last.id) \(words), before there was anything to report: its error is in its "
        + "output and in the file of its --log-file; attache run \(called) runs it again"
    }
    return "no run had anything to report: attache status \(called) lists the last runs"
  }

  /// How a run failed, such as "failed with exit status 6 (the org is unreachable)"; nil if it did
  /// not.
  private static func failure(of run: RunRow) -> String? {
    guard let status = run.exitStatus.map({ ExitStatus(rawValue: $0) }), status != .done,
      status != .needsAttention
    else { return nil }
    let number = String(status.rawValue)
    let meaning = ExitStatus.meanings.first { $0.status == number }?.meaning
    return "failed with exit status \(number)" + (meaning.map { " (\($0))" } ?? "")
  }

  /// Returns why a run has no report, and where its verdicts are reported.
  private static func words(for run: RunRow, _ state: LedgerDatabase) throws -> String {
    let others = try state.reports(.showing(run: run.id)).filter { $0 != run.id }
    if !others.isEmpty {
      return "run \(run.id) was interrupted before its report; see that of "
        + others.joined(separator: ", ")
    }
    if run.summary == RunRow.prunedSummary {
      return
        "the report of run \(run.id) is pruned (keep.runsDays); this is what the ledger still has"
    }
    if run.ended == nil {
      return "run \(run.id) is not finished; this is what it has resolved so far"
    }
    return run.hasReport
      ? "the report of run \(run.id) is missing: it was not written, or was removed; this is what the "
        + "ledger has"
      : "run \(run.id) " + (failure(of: run).map { $0 + ", and " } ?? "") + "had nothing to report"
  }

  private static func lines(_ model: ReportModel) -> [String] {
    func counts(_ verdicts: [Verdict: Int], _ more: String) -> [String] {
      Verdict.allCases.compactMap { verdict in
        verdicts[verdict].map { "\($0)\t\(verdict.rawValue)\(more)" }
      }
    }
    var lines =
      counts(model.edits.totals.verdicts, "")
      + counts(model.stillOpen.totals.verdicts, ", still open")
    for kind in Finding.Kind.allCases where kind.wantsPerson {
      let count =
        model.findings([kind]).count + model.findings([kind], earlier: true).count
      if count > 0 { lines.append("\(count)\t\(SummaryText.name(kind))") }
    }
    return lines
  }
}
