import Bundles
import JSON
import Ledger
import Reconciliation
import Returns
import System

/// Counts what waits for a person, and writes the report.
struct RunReport {
  let run: RunContext

  /// Looks into the quarantine.
  ///
  /// A refused return is told of by every run until somebody takes it away, or its reason; one that
  /// no ledger knows, as of a version before, is news once.
  func reviewQuarantine() throws {
    if run.options.isDryRun { return }
    let lying = try Quarantine.list(run.data.quarantine)
    let known = try run.ledger.openFindings().filter { $0.kind == .returnQuarantined }
    let names = Set(lying.map(\.sha256))
    for finding in known where !names.contains(finding.subject) {
      try run.ledger.settleFindings(.returnQuarantined, subject: finding.subject, by: run.row.id)
    }
    let told = Set(known.map(\.subject))
    for item in lying where !told.contains(item.sha256) {
      try run.note(.returnQuarantined, item.sha256, item.detail)
    }
  }

  /// Keeps that a return was refused: told anew, also if the same content was refused before.
  func noteQuarantined(_ taken: TakenReturn) throws {
    try run.ledger.settleFindings(.returnQuarantined, subject: taken.sha256, by: run.row.id)
    guard
      let item = try Quarantine.list(run.data.quarantine).first(where: { $0.sha256 == taken.sha256 }
      )
    else { return }
    try run.note(.returnQuarantined, item.sha256, item.detail)
  }

  // MARK: the report

  /// Counts what waits for a person: from this run, from earlier ones, and from runs that died.
  func takeStock() throws {
    if run.options.isDryRun { return }
    try reviewQuarantine()
    run.summary.open = try run.ledger.unsettledEdits()
    if run.summary.open.values.contains(where: { $0 > 0 }) {
      run.summary.findings.insert(.unsettledEdits)
    }
    run.summary.waiting = [:]
    for finding in try run.ledger.openFindings() {
      run.summary.waiting[finding.kind, default: 0] += 1
      switch finding.kind {
      case .userSkipped: run.summary.findings.insert(.skippedUser)
      case .incomplete: run.summary.findings.insert(.incompleteData)
      case .removalsHeld, .changesHeld: run.summary.findings.insert(.guardTripped)
      case .returnQuarantined, .returnLeft: run.summary.findings.insert(.quarantined)
      case .returnAccepted, .returnKnown, .warning: break
      }
    }
    run.report(.leftOpen(edits: run.summary.open, findings: run.summary.waiting))
  }

  /// Writes the report, where there is anything for a person in it.
  ///
  /// What is in it is entered in the ledger first; a run that dies over the files is resumed and
  /// writes them again under the same name, and after a day `finishReports` sees to it.
  func write() throws {
    if run.options.isDryRun { return }
    let hasNews = try run.ledger.hasNews(for: run.row.id)
    // Written behind the edits already, and nothing was found or settled since.
    if run.summary.report != nil, !hasNews, !run.options.stages.contains(.prime) { return }
    let isWaiting = try !run.ledger.openFindings().isEmpty || !run.ledger.unsettledEdits().isEmpty
    guard hasNews || isWaiting else { return }
    try run.ledger.beginReport(run: run.row.id)
    let model = try ReportModel(
      state: run.ledger, run: run.row.id, called: run.pipeline.called)
    guard model.isWorthTelling else { return try run.ledger.dropReport(run: run.row.id) }
    try Self.write(model, run.pipeline, run.data)
    try run.ledger.endReport(run: run.row.id)
    if run.summary.report == nil { run.report(.reportWritten(path: run.data.report(run.row.id))) }
    run.summary.report = run.data.report(run.row.id)
  }

  /// The directory of a rehearsed report, whose files are replaced; those of a run's report are not.
  static func rehearsalDirectory(_ place: String) -> MarkedDirectory {
    MarkedDirectory(
      place, maker: "attache run --dry-run --report",
      names: Set(ReportFormats.all.flatMap { $0.files }))
  }

  /// Writes the report that a dry run foresees into a directory of the user's, in every form.
  func rehearse(in place: String) throws {
    // In the dry run's own copy of the ledger.
    try run.ledger.beginReport(run: run.row.id)
    let model = try ReportModel(
      state: run.ledger, run: run.row.id, called: run.pipeline.called, isRehearsal: true)
    let shown = run.pipeline.report.reportMask
    try Self.rehearsalDirectory(place).claim()
    try ReportFormats.write(ReportFormats.all, model, to: place, shown)
    run.report(.reportWritten(path: place))
    run.summary.report = place
  }

  private static func write(
    _ model: ReportModel, _ pipeline: Pipeline, _ data: DataDirectory
  ) throws {
    let shown = pipeline.report.reportMask
    let formats = ReportFormats.named(pipeline.report.formats.map(\.rawValue))
    let directory = data.report(model.run.id)
    // Of a run that is gone on with: each file is replaced as a whole.
    if Files.isDirectory(directory) {
      try ReportFormats.write(formats, model, to: directory, shown)
      return
    }
    let temporary = DurableFile.temporaryName(for: directory)
    try Files.makeDirectory(temporary)
    try ReportFormats.write(formats, model, to: temporary, shown)
    try DurableFile.publishDirectory(temporary: temporary, final: directory)
  }

  /// Sees to the reports of runs that died over them and are not gone on with: one that is there is
  /// written again, whole; what one that is not there was to tell passes to the next.
  static func finishReports(
    _ state: LedgerDatabase, _ pipeline: Pipeline, _ data: DataDirectory
  ) throws {
    for id in try state.unfinishedReports() {
      if Files.isDirectory(data.report(id)) {
        let model = try ReportModel(state: state, run: id, called: pipeline.called)
        try write(model, pipeline, data)
        try state.endReport(run: id)
      } else {
        try state.dropReport(run: id)
      }
    }
  }
}
