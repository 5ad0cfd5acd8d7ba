import Bundles
import JSON
import Ledger
import Reports
import Returns
import System

/// Counts the items that need review, and writes the report.
struct RunReport {
  let run: RunContext

  /// Updates the findings from the quarantine.
  ///
  /// Every run reports a refused return until an operator removes it, or its reason. A return that
  /// the ledger does not know, for example after a recovery, is reported as new once.
  func reviewQuarantine() throws {
    if run.options.isDryRun { return }
    let changes = try Quarantine.changes(
      run.data.quarantine, since: run.ledger.findings(.open))
    for finding in changes.gone {
      try run.ledger.settleFindings(.returnQuarantined, subject: finding.subject, by: run.row.id)
    }
    for item in changes.untold { try run.note(.returnQuarantined, item.sha256, item.detail) }
  }

  /// Records a refused return, and reports it as new even if the same content was refused before.
  func noteQuarantined(_ taken: TakenReturn) throws {
    try run.ledger.settleFindings(.returnQuarantined, subject: taken.sha256, by: run.row.id)
    guard
      let item = try Quarantine.list(run.data.quarantine).first(where: { $0.sha256 == taken.sha256 }
      )
    else { return }
    try run.note(.returnQuarantined, item.sha256, item.detail)
  }

  // MARK: report

  /// Counts the items that need review from this run, from earlier runs, and from interrupted ones.
  func takeStock() throws {
    if run.options.isDryRun { return }
    try reviewQuarantine()
    run.summary.open = try run.ledger.unsettledEdits()
    if run.summary.open.values.contains(where: { $0 > 0 }) {
      run.summary.findings.insert(.unsettledEdits)
    }
    run.summary.waiting = [:]
    run.summary.skipped = []
    for finding in try run.ledger.findings(.open) {
      run.summary.waiting[finding.kind, default: 0] += 1
      if finding.kind == .userSkipped {
        let earlier = finding.run == run.row.id ? "" : ", in an earlier run"
        run.summary.skipped.append((finding.text("username") ?? finding.subject) + earlier)
      }
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

  /// Writes the report if it has anything to review.
  ///
  /// Its content is recorded in the ledger first. If the run is interrupted while writing the
  /// files, the resumed run writes them again under the same name; after a day, `finishReports`
  /// does.
  func write() throws {
    if run.options.isDryRun { return }
    let hasNews = try run.ledger.hasNews(for: run.row.id)
    // Already written after the edits, and nothing has changed since.
    if run.summary.report != nil, !hasNews, !run.options.stages.contains(.prime) { return }
    let isWaiting = try !run.ledger.findings(.open).isEmpty || !run.ledger.unsettledEdits().isEmpty
    guard hasNews || isWaiting else { return }
    try run.ledger.note(.report(.begun), run: run.row.id)
    let model = try ReportModel(
      state: run.ledger, run: run.row.id, called: run.pipeline.called)
    guard model.isWorthTelling else {
      return try run.ledger.note(.report(.dropped), run: run.row.id)
    }
    try Self.write(model, run.pipeline, run.data)
    try run.ledger.note(.report(.written), run: run.row.id)
    if run.summary.report == nil { run.report(.reportWritten(path: run.data.report(run.row.id))) }
    run.summary.report = run.data.report(run.row.id)
  }

  /// The directory of a dry run's report, whose files may be replaced, unlike those of a run's
  /// report.
  static func rehearsalDirectory(_ place: String) -> MarkedDirectory {
    MarkedDirectory(place, maker: "attache run --dry-run --report")
  }

  /// Writes the expected report of a dry run to a directory of the user's, in all formats.
  func rehearse(in place: String) throws {
    // In the dry run's own copy of the ledger.
    try run.ledger.note(.report(.begun), run: run.row.id)
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
    // In a resumed run, each file is replaced atomically.
    if Files.isDirectory(directory) {
      try ReportFormats.write(formats, model, to: directory, shown)
      return
    }
    let temporary = DurableFile.temporaryName(for: directory)
    try Files.makeDirectory(temporary)
    try ReportFormats.write(formats, model, to: temporary, shown)
    try DurableFile.publishDirectory(temporary: temporary, final: directory)
  }

  /// Completes the reports of interrupted runs that are not resumed.
  ///
  /// A report whose directory exists is written again in full; the content of a missing one passes
  /// to the next report.
  static func finishReports(
    _ state: LedgerDatabase, _ pipeline: Pipeline, _ data: DataDirectory
  ) throws {
    for id in try state.reports(.unfinished) {
      if Files.isDirectory(data.report(id)) {
        let model = try ReportModel(state: state, run: id, called: pipeline.called)
        try write(model, pipeline, data)
        try state.note(.report(.written), run: id)
      } else {
        try state.note(.report(.dropped), run: id)
      }
    }
  }
}
