import JSON
import Ledger
import SmartStore
import System

/// What the stages of one run share: its pipeline, its ledger, its clock, and what it came to so far.
final class RunContext {
  let pipeline: Pipeline
  let options: RunOptions
  let data: DataDirectory
  let access: OrgAccess
  let ledger: LedgerDatabase
  let row: RunRow
  /// What time it is for it, beside its own one.
  let times: RunTimes
  /// The environment, for secrets that are asked for when they are needed.
  let variables: [String: String]
  let report: @Sendable (RunEvent) -> Void
  var summary = RunSummary()
  /// Whether the syncs were held against the org, or that was tried.
  var isChecked = false
  /// What holds them against it for further users; nil before, and where the org could not be asked.
  var preflight: Preflight?
  /// What the org lacks for the users who were asked.
  var findings = PreflightFindings()
  /// What keeps the syncs down from their work for everybody; nil where nothing does.
  var primeProblems: Problems?
  /// What of the findings a person was told.
  var toldProblems: Set<Problem> = []
  /// What that took: requests and the bytes of their answers.
  var checkSpent = (requests: 0, bytes: 0)
  /// Who the users are, once somebody asked.
  var listed: Result<[SnapshotUser], any Error>?
  /// What opens sealed returns, once it was asked for: deriving it takes a while.
  var returnKeys: [SQLCipherKey]?
  /// The ledger's recoveries, once they were asked for: no run changes what is asked of them.
  private var knownRecoveries: [Recovery]?
  /// What stamps are made with; nil in a dry run, which makes none.
  private var stampKey: ProvenanceKey?

  /// The name of every dry run.
  private static let dryRun = "dry-run"

  /// The run's one clock, in milliseconds of the org's time; it stands after every run before (`RunClock`).
  var now: Int64 { row.now }

  init(
    _ pipeline: Pipeline, options: RunOptions, data: DataDirectory, access: OrgAccess,
    ledger: LedgerDatabase, row: RunRow, times: RunTimes, stampKey: ProvenanceKey?,
    variables: [String: String],
    report: @escaping @Sendable (RunEvent) -> Void
  ) {
    (self.pipeline, self.options, self.data, self.access) = (pipeline, options, data, access)
    (self.ledger, self.row, self.stampKey) = (ledger, row, stampKey)
    self.times = times
    (self.variables, self.report) = (variables, report)
    // What a dry run enters into its copy of the ledger has no name that lasts.
    summary.run = options.isDryRun ? Self.dryRun : row.id
    summary.pipeline = pipeline.name
    summary.called = pipeline.called
  }

  /// The ledger's recoveries, the first one first.
  func recoveries() throws -> [Recovery] {
    if let knownRecoveries { return knownRecoveries }
    let found = try ledger.recoveries()
    knownRecoveries = found
    return found
  }

  /// What stamps are made with.
  func stamps() throws -> ProvenanceKey {
    if let stampKey { return stampKey }
    let key = try options.isDryRun ? copiedKey() : ProvenanceKey.take(ledger, data)
    stampKey = key
    return key
  }

  /// The key as a dry run takes it: where it has to be made or moved, that happens to a copy.
  private func copiedKey() throws -> ProvenanceKey {
    var copy = data
    copy.stampKey = data.returns + "/stamp.key"
    // Not left behind by a run that dies later.
    defer { try? Files.remove(copy.stampKey) }
    if Files.exists(data.stampKey) { try Files.copy(data.stampKey, to: copy.stampKey) }
    return try ProvenanceKey.take(ledger, copy)
  }

  /// What a stage has asked of the org since it began.
  ///
  /// Of a run with both, holding the syncs against the org is counted as the prime's: it is nearly all for it.
  func spent(
    in stage: Stage, since before: (requests: Int, bytes: Int)
  ) -> (requests: Int, bytes: Int) {
    let now = access.spent
    let hasBoth = options.stages.isSuperset(of: [.reconcile, .prime])
    let share = hasBoth ? (stage == .prime ? 1 : stage == .reconcile ? -1 : 0) : 0
    return (
      now.requests - before.requests + share * checkSpent.requests,
      now.bytes - before.bytes + share * checkSpent.bytes
    )
  }

  /// Keeps what was found besides verdicts: in the ledger at once, so that it is told even if the
  /// run dies.
  func note(_ kind: Finding.Kind, _ subject: String, _ detail: JSONObject) throws {
    // The ledger of a rehearsal is a copy, and its report tells of it.
    if options.isDryRun, options.rehearsal == nil { return }
    try ledger.note(kind, subject, detail, run: row.id)
  }

  /// Tells the user something, once, and keeps it for the summary and the report.
  func warn(_ text: String) {
    if summary.warnings.contains(text) { return }
    summary.warnings.append(text)
    report(.warning(text))
    // The warning itself was given; a ledger that cannot be written stops the run soon enough.
    try? note(.warning, text, [:])
  }
}
