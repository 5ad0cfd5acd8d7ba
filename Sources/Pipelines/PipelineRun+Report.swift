import Bundles
import JSON
import Ledger
import Reconciliation
import Returns
import System

extension PipelineRun {
  // MARK: what is found

  /// Keeps what was found besides verdicts: in the ledger at once, so that it is told even if the
  /// run dies.
  func note(_ kind: Finding.Kind, _ subject: String, _ detail: JSONObject) throws {
    if options.isDryRun { return }
    try state.note(kind, subject, detail, run: row.id)
  }

  /// Tells the user something, and keeps it for the summary and the report.
  func warn(_ text: String) {
    summary.warnings.append(text)
    report(.warning(text))
    // The warning itself was given; a ledger that cannot be written stops the run soon enough.
    try? note(.warning, text, [:])
  }

  /// Looks into the quarantine.
  ///
  /// A refused return is told of by every run until somebody takes it away, or its reason; one that
  /// no ledger knows, as of a version before, is news once.
  func reviewQuarantine() throws {
    if options.isDryRun { return }
    let lying = try Quarantine.list(data.quarantine)
    let known = try state.openFindings().filter { $0.kind == .returnQuarantined }
    let names = Set(lying.map(\.sha256))
    for finding in known where !names.contains(finding.subject) {
      try state.settleFindings(.returnQuarantined, subject: finding.subject, by: row.id)
    }
    let told = Set(known.map(\.subject))
    for item in lying where !told.contains(item.sha256) {
      try note(.returnQuarantined, item.sha256, item.detail)
    }
  }

  /// Keeps that a return was refused: told anew, also if the same content was refused before.
  func noteQuarantined(_ taken: TakenReturn) throws {
    try state.settleFindings(.returnQuarantined, subject: taken.sha256, by: row.id)
    guard
      let item = try Quarantine.list(data.quarantine).first(where: { $0.sha256 == taken.sha256 })
    else { return }
    try note(.returnQuarantined, item.sha256, item.detail)
  }

  // MARK: the report

  /// Counts what waits for a person: from this run, from earlier ones, and from runs that died.
  func takeStock() throws {
    if options.isDryRun { return }
    try reviewQuarantine()
    summary.open = try state.unsettledEdits()
    if summary.open.values.contains(where: { $0 > 0 }) { summary.findings.insert(.unsettledEdits) }
    summary.waiting = [:]
    for finding in try state.openFindings() {
      summary.waiting[finding.kind, default: 0] += 1
      switch finding.kind {
      case .userSkipped: summary.findings.insert(.skippedUser)
      case .incomplete: summary.findings.insert(.incompleteData)
      case .removalsHeld, .changesHeld: summary.findings.insert(.guardTripped)
      case .returnQuarantined, .returnLeft: summary.findings.insert(.quarantined)
      case .returnAccepted, .returnKnown, .warning: break
      }
    }
  }

  /// Writes the report, where there is anything for a person in it.
  ///
  /// What is in it is entered in the ledger first; a run that dies over the files is resumed and
  /// writes them again under the same name, and after a day `finishReports` sees to it.
  func writeReport() throws {
    if options.isDryRun { return }
    let hasNews = try state.hasNews()
    // Written behind the edits already, and nothing was found or settled since.
    if summary.report != nil, !hasNews, !options.stages.contains(.prime) { return }
    let isWaiting = try !state.openFindings().isEmpty || !state.unsettledEdits().isEmpty
    guard hasNews || isWaiting else { return }
    try state.beginReport(run: row.id)
    let model = try ReportModel(state: state, run: row.id)
    guard model.isWorthTelling else { return try state.dropReport(run: row.id) }
    try Self.write(model, pipeline, data)
    try state.endReport(run: row.id)
    if summary.report == nil { report(.reportWritten(path: data.report(row.id))) }
    summary.report = data.report(row.id)
  }

  private static func write(
    _ model: ReportModel, _ pipeline: Pipeline, _ data: DataDirectory
  ) throws {
    let shown = ReportOptions(
      mask: Set(pipeline.report.mask), showValues: pipeline.report.showValues)
    let formats = ReportFormats.named(pipeline.report.formats.map(\.rawValue))
    let directory = data.report(model.run.id)
    // Of a run that is gone on with: each file is replaced as a whole.
    if Files.isDirectory(directory) {
      for format in formats { try format.write(model, to: directory, shown) }
      return
    }
    let temporary = DurableFile.temporaryName(for: directory)
    try Files.makeDirectory(temporary)
    for format in formats { try format.write(model, to: temporary, shown) }
    try DurableFile.publishDirectory(temporary: temporary, final: directory)
  }

  /// Sees to the reports of runs that died over them and are not gone on with: one that is there is
  /// written again, whole; what one that is not there was to tell passes to the next.
  static func finishReports(
    _ state: LedgerDatabase, _ pipeline: Pipeline, _ data: DataDirectory
  ) throws {
    for id in try state.unfinishedReports() {
      if Files.isDirectory(data.report(id)) {
        try write(try ReportModel(state: state, run: id), pipeline, data)
        try state.endReport(run: id)
      } else {
        try state.dropReport(run: id)
      }
    }
  }

  // MARK: the end

  /// Ends the run when every stage is done that it, or the run that it goes on with, was asked for.
  func end() throws -> RunSummary {
    if options.isDryRun { return summary }
    try takeStock()
    try writeReport()
    if let left = try stagesLeft() {
      warn("run \(row.id), which died, is not over yet: \(left) waits for the next run")
      return summary
    }
    try state.endRun(id: row.id, exitStatus: summary.exitStatus, summary: summary.json.text)
    return summary
  }

  /// Ends a run that failed, with a report of what it settled and found before.
  ///
  /// It is over; only one that died is gone on with, and with its clock. A failure of a part of what
  /// a dead run had left to do does not end that one.
  func fail(_ error: any Error) {
    if options.isDryRun { return }
    do {
      try takeStock()
      try writeReport()
    } catch {
      // The failure of the run is the one to tell; this one comes second.
      warn("no report could be written: \(PipelineError(describing: error).message)")
    }
    let failure = PipelineError(describing: error)
    do {
      let asked = Set(options.stages.map(\.rawValue))
      let rest = try state.run(id: row.id).map { $0.wanted.subtracting($0.finished) } ?? []
      guard rest.isSubset(of: asked) else { return }
      try state.endRun(
        id: row.id, exitStatus: failure.kind.exitStatus, summary: summary.json.text)
    } catch {
      // A ledger that cannot be written takes the run for one that died, and rightly so.
      warn("the ledger could not be written: \(PipelineError(describing: error).message)")
    }
  }

  /// The stages that are still to be done, in words; nil for none.
  private func stagesLeft() throws -> String? {
    guard let now = try state.run(id: row.id) else { return nil }
    let left = Stage.allCases.map(\.rawValue).filter {
      now.wanted.contains($0) && !now.finished.contains($0)
    }
    return left.isEmpty ? nil : left.joined(separator: ", ")
  }
}
