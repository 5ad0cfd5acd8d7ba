import JSON
import Ledger
import SmartStore
import System

/// The state that the stages of one run share: its pipeline, ledger, clock and results so far.
final class RunContext {
  let pipeline: Pipeline
  let options: RunOptions
  let data: DataDirectory
  let access: OrgAccess
  let ledger: LedgerDatabase
  let row: RunRow
  let times: RunTimes
  /// The environment, for secrets that are read on demand.
  let variables: [String: String]
  let report: @Sendable (RunEvent) -> Void
  var summary = RunSummary()
  /// Whether the syncs were validated against the org, or that was tried.
  var isChecked = false
  /// The check for further users; nil before it ran, and if the org could not be asked.
  var preflight: Preflight?
  /// The unmet needs of the users asked so far.
  var findings = PreflightFindings()
  /// The problems that stop all syncs down for every user; nil if there are none.
  var primeProblems: Problems?
  /// The findings that were already reported.
  var toldProblems: Set<Problem> = []
  /// The requests that the check sent, and the bytes it received.
  var checkSpent = (requests: 0, bytes: 0)
  /// The requests that workers sent for the run, and the bytes they received.
  var workersSpent = (requests: 0, bytes: 0)
  /// The users, once listed.
  var listed: Result<[SnapshotUser], any Error>?
  /// The keys for sealed returns, once derived, which takes a while.
  var returnKeys: [SQLCipherKey]?
  /// The ledger's recoveries, once read.
  ///
  /// No run changes the values that are used.
  private var knownRecoveries: [Recovery]?
  /// The key that signs stamps; nil in a dry run, which signs none.
  private var stampKey: ProvenanceKey?
  /// The key that signs manifests; nil if the pipeline does not sign, or the run does not pack.
  let signer: ManifestSigner?

  /// The ID of every dry run.
  private static let dryRun = "dry-run"

  /// The run's time, in ms by the org's clock.
  ///
  /// It is later than that of every earlier run (`RunClock`).
  var now: Int64 { row.now }

  init(
    _ pipeline: Pipeline, options: RunOptions, data: DataDirectory, access: OrgAccess,
    ledger: LedgerDatabase, row: RunRow, times: RunTimes, stampKey: ProvenanceKey?,
    signer: ManifestSigner?, variables: [String: String],
    report: @escaping @Sendable (RunEvent) -> Void
  ) {
    (self.pipeline, self.options, self.data, self.access) = (pipeline, options, data, access)
    (self.ledger, self.row, self.stampKey) = (ledger, row, stampKey)
    (self.times, self.signer) = (times, signer)
    (self.variables, self.report) = (variables, report)
    // The entries of a dry run in its copy of the ledger have no lasting ID.
    summary.run = options.isDryRun ? Self.dryRun : row.id
    summary.pipeline = pipeline.name
  }

  /// Returns the ledger's recoveries, oldest first.
  func recoveries() throws -> [Recovery] {
    if let knownRecoveries { return knownRecoveries }
    let found = try ledger.recoveries()
    knownRecoveries = found
    return found
  }

  /// Returns the key that signs stamps.
  func stamps() throws -> ProvenanceKey {
    if let stampKey { return stampKey }
    let key = try options.isDryRun ? copiedKey() : ProvenanceKey.take(ledger, data)
    stampKey = key
    return key
  }

  /// Returns the key for a dry run.
  ///
  /// If the key must be created or changed, that happens to a copy.
  private func copiedKey() throws -> ProvenanceKey {
    var copy = data
    copy.stampKey = data.returns + "/stamp.key"
    // Remove it now, in case the run is interrupted later.
    defer { try? Files.remove(copy.stampKey) }
    if Files.exists(data.stampKey) { try Files.copy(data.stampKey, to: copy.stampKey) }
    return try ProvenanceKey.take(ledger, copy)
  }

  /// The requests sent so far, including those of workers, and the bytes received.
  var spent: (requests: Int, bytes: Int) {
    (access.spent.requests + workersSpent.requests, access.spent.bytes + workersSpent.bytes)
  }

  /// Returns what a stage has asked of the org since it started.
  ///
  /// In a run with both stages, the check of the syncs counts as the prime's, which needs nearly
  /// all of it.
  func spent(
    in stage: Stage, since before: (requests: Int, bytes: Int)
  ) -> (requests: Int, bytes: Int) {
    let now = spent
    let hasBoth = options.stages.isSuperset(of: [.reconcile, .prime])
    let share = hasBoth ? (stage == .prime ? 1 : stage == .reconcile ? -1 : 0) : 0
    return (
      now.requests - before.requests + share * checkSpent.requests,
      now.bytes - before.bytes + share * checkSpent.bytes
    )
  }

  /// Records a finding in the ledger at once, so that it is reported even if the run is
  /// interrupted.
  func note(_ kind: Finding.Kind, _ subject: String, _ detail: JSONObject) throws {
    // A dry run with a report works on a copy of the ledger, and its report shows the finding.
    if options.isDryRun, options.rehearsal == nil { return }
    try ledger.note(kind, subject, detail, run: row.id)
  }

  /// Shows a warning once, and keeps it for the summary and the report.
  func warn(_ text: String) {
    if summary.warnings.contains(text) { return }
    summary.warnings.append(text)
    report(.warning(text))
    // The warning was shown; if the ledger cannot be written, the run will stop anyway.
    try? note(.warning, text, [:])
  }
}
