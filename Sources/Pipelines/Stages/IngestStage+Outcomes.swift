import Bundles
import JSON
import Ledger
import Returns
import SQLite
import SmartStore
import Snapshots
import System

extension IngestStage {
  /// Reports the outcome of a file to the ledger, the progress output and the summary.
  ///
  /// `path` is where the file is now, and `sha256` the digest of its content, if it was read.
  func tell(
    _ outcome: ReturnOutcome, of name: String, at path: String, sha256: String? = nil
  ) throws {
    func report(_ event: RunEvent) {
      if run.options.isDryRun {
        run.summary.plan.append("ingest: \(name)\(outcome.planned)")
      } else {
        run.report(event)
      }
    }
    switch outcome {
    case .accepted(let stamp, let edits, let new, let known, let leftAlone):
      run.summary.returns.ingested += 1
      run.summary.edits.found += edits
      run.summary.edits.new += new
      run.summary.edits.known += known
      let username = try run.ledger.snapshotRow(id: stamp.user)?.username
      report(
        .returnIngested(
          name: name, snapshot: stamp.user, username: username, edits: edits, new: new,
          leftAlone: leftAlone))
    case .known:
      run.summary.returns.known += 1
      // Unless this run accepted the file itself, and was interrupted between two copies.
      let isOwn = try sha256.map {
        try !run.ledger.findings(.about(.returnAccepted, $0, by: run.row.id)).isEmpty
      }
      if isOwn != true { try run.note(.returnKnown, path, ["name": .string(name)]) }
      let username = try sha256.flatMap(run.ledger.returned(sha256:)).flatMap {
        try run.ledger.snapshotRow(id: $0.snapshotID)?.username
      }
      report(.returnKnown(name: name, username: username))
    case .quarantined(let taken, let refusal):
      run.summary.returns.quarantined += 1
      try RunReport(run: run).noteQuarantined(taken)
      report(
        .returnQuarantined(
          name: name, code: refusal.code.rawValue,
          reason: "\(refusal.sentence); \(fix(refusal, of: name, at: path))"))
    case .left(let refusal):
      run.summary.returns.left += 1
      try run.note(
        .returnLeft, path,
        [
          "name": .string(name), "path": .string(path),
          "code": .string(refusal.code.rawValue), "reason": .string(refusal.sentence),
          "fix": .string(refusal.fix),
        ])
      report(
        .returnLeft(
          name: name, code: refusal.code.rawValue, reason: "\(refusal.sentence); \(refusal.fix)"))
    }
  }

  /// The fix of a quarantined return as it is printed.
  private func fix(_ refusal: Refusal, of name: String, at path: String) -> String {
    ReturnFix.text(
      refusal.fix, pipeline: run.pipeline.called, name: name,
      path: TakenReturn(directory: path)?.path)
  }

  /// Runs the work on one return and turns its errors into a refusal of that return.
  ///
  /// Cancellation, machine faults and ledger errors are rethrown.
  ///
  /// `places` maps paths of ours that an error message may contain to the names that operators
  /// know.
  func alone<Answer>(
    _ name: String, places: [(path: String, name: String)], _ work: () throws -> Answer
  ) throws -> Result<Answer, Refusal> {
    do {
      return .success(try work())
    } catch let refusal as Refusal {
      return .failure(refusal)
    } catch {
      if try isOwnTrouble(error) { throw error }
      var words = PipelineError(describing: error).reason ?? "\(error)"
      for place in places { words = words.replacing(place.path, with: place.name) }
      return .failure(
        Refusal(
          .failed, "\(name) cannot be read: \(words)",
          fix: "ingest it again, and report it to the administrator if it is refused again"))
    }
  }

  /// Whether an error is not caused by the return: a cancellation, the ledger or this machine.
  func isOwnTrouble(_ error: any Error) throws -> Bool {
    switch error {
    case is CancellationError, is LedgerError, is PipelineError: return true
    case let error as SQLiteError where error.path == run.data.state: return !error.isOfTheValues
    default:
      switch MachineTrouble(of: error) {
      case nil: return false
      case .certain: return true
      // Blame the disk only if it fails on another file too.
      case .possible: return MachineTrouble.isMet(in: run.data.returns)
      }
    }
  }
}
