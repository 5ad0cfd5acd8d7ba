import JSON
import Ledger
import Returns
import SQLite
import Snapshots
import System

/// Recovers a pipeline whose ledger does not know what was sent last, because it was lost, restored
/// from a backup or cloned.
///
/// A recovery starts a new epoch. From then on stamps are made with another key, so a return tells
/// whether its bundle is from before. Edits in such a return, and open edits, may have been sent by
/// a run that the ledger does not know: new records are first searched for in the org, and no
/// update overwrites a later change of another user.
package struct PipelineRecovery {
  /// The options of a recovery.
  package struct Request: Sendable {
    /// The backup to restore; nil for the existing data directory.
    package var backup: String?
    /// Whether the operator states that the directory is a restored or cloned one, even if nothing
    /// in it shows that.
    package var isRestored = false
    /// Whether the org has been replaced, such as a sandbox by a refresh.
    package var newOrg = false
    /// Whether to change nothing.
    package var isDryRun = false
    /// What the store has where the pipeline publishes.
    package var published = Published()
    /// The name of the operator.
    package var by: String
    /// The time, in ms of the wall clock.
    package var now: Int64

    package init(by: String, now: Int64 = Clock.wallMilliseconds()) {
      (self.by, self.now) = (by, now)
    }
  }

  /// What devices can get from the store where the pipeline publishes.
  package struct Published: Sendable {
    /// The latest generation of each user.
    package var generations: [String: Int64] = [:]
    /// The users who can get other bundles than there are here, or later ones.
    package var outdated: Set<String> = []
  }

  private let pipeline: Pipeline
  private let root: String
  private let request: Request

  private init(_ pipeline: Pipeline, _ root: String, _ request: Request) {
    (self.pipeline, self.root) = (pipeline, root)
    var request = request
    // Another directory has published, of which this one is an older copy.
    if !request.published.outdated.isEmpty { request.isRestored = true }
    self.request = request
  }

  /// Recovers a pipeline, or returns what a recovery would do.
  ///
  /// The org is not contacted. If interrupted, the recovery can simply be repeated.
  ///
  /// - Throws: `PipelineError` if nothing indicates a loss, if the key of the stamps is gone, if a
  ///   run is active, or if the file is not a backup.
  package static func perform(
    _ pipeline: Pipeline, root: String, _ request: Request
  ) throws -> RecoveryFindings {
    try PipelineRecovery(pipeline, root, request).perform()
  }

  private func perform() throws -> RecoveryFindings {
    let data = DataDirectory(root: root, name: pipeline.name)
    guard let backup = request.backup else {
      guard Files.isDirectory(data.path) else {
        throw PipelineError(
          .configuration, "recover.nothing", "there is no data directory to recover",
          location: data.path,
          fix:
            "start with a backup: attache recover \(pipeline.called) --from FILE; a pipeline that never ran "
            + "needs no recovery")
      }
      let lock = try PipelineRun.takeLock(data, exclusive: !request.isDryRun)
      defer { lock.close() }
      return try recover(data)
    }
    do {
      return try BackupRestore(pipeline: pipeline, root: root).perform(backup) { unpacked, _ in
        var findings = try recover(unpacked)
        findings.from = backup
        if request.isDryRun { throw DryRunDone(findings: findings) }
        return findings
      }
    } catch let done as DryRunDone {
      return done.findings
    }
  }

  /// Ends the dry run of a backup before anything is moved into place.
  private struct DryRunDone: Error { var findings: RecoveryFindings }

  // MARK: survey

  private func recover(_ data: DataDirectory) throws -> RecoveryFindings {
    try DataFormat.check(data)
    guard Files.exists(data.stampKey) else { throw noKey(data) }
    var findings = RecoveryFindings()
    findings.isNewOrg = request.newOrg
    let key = Int64(try ProvenanceKey.number(in: data))
    findings.ledger = try state(of: data)
    let isThere = ![.lost, .damaged].contains(findings.ledger)
    let ledger = isThere ? try LedgerDatabase(path: data.state) : nil
    defer { ledger?.close() }
    findings.otherFile = try ledger.flatMap { try LedgerCheck.otherFile(than: pipeline, $0) }
    try look(through: data, ledger, key, &findings)
    let isHalfDone = try isThere && !ProvenanceKey.isNoted(by: ledger, in: data)
    let isNew = !findings.releasable.isEmpty && findings.isFirst
    let hasSign = isHalfDone || !findings.again.isEmpty || isNew
    if findings.ledger == .sound, !hasSign, !request.isRestored, !request.newOrg,
      request.backup == nil
    {
      throw PipelineError(
        .configuration, "recover.no-sign",
        "nothing indicates that the ledger has lost anything", location: data.path,
        fix:
          "if the whole directory was restored from a backup, or this machine is a clone of another, use "
          + "--restored; for a refreshed sandbox, --new-org")
    }
    if request.isDryRun { return findings }
    try carryOut(data, ledger, key, &findings)
    return findings
  }

  private func noKey(_ data: DataDirectory) -> PipelineError {
    PipelineError(
      .configuration, "stamp-key.missing",
      "the key of the stamps is missing: returns of the bundles issued so far could not be verified",
      location: data.stampKey,
      fix:
        "restore the file from a backup (attache backup includes it), or start with one: --from FILE"
    )
  }

  private func state(of data: DataDirectory) throws -> RecoveryFindings.LedgerState {
    guard Files.exists(data.state) else { return .lost }
    let ledger: LedgerDatabase
    do {
      ledger = try LedgerDatabase(path: data.state)
    } catch let error as LedgerError {
      if case .unsupportedVersion = error { throw error }
      return .damaged
    } catch let error as SQLiteError where error.isDamage {
      return .damaged
    }
    defer { ledger.close() }
    do {
      guard try ledger.connection.text("PRAGMA quick_check(1)") == "ok" else { return .damaged }
    } catch  where error.isDamage {
      return .damaged
    }
    if try ledger.noted(.backup) != nil { return .backup }
    do {
      try LedgerCheck.checkLedger(ledger, data)
    } catch let error as PipelineError where error.code == LedgerCheck.behindCode {
      return .behind
    }
    return .sound
  }

  /// Finds published generations, reports and files that the ledger does not know.
  private func look(
    through data: DataDirectory, _ ledger: LedgerDatabase?, _ key: Int64,
    _ findings: inout RecoveryFindings
  ) throws {
    var epochs = [key, try ledger?.epoch ?? 0]
    var runs = [try ledger?.runNumber ?? 0]
    for row in try ledger?.snapshotRows() ?? [] { findings.generations[row.id] = row.generation }
    for id in try data.snapshots() {
      let directory = SnapshotDirectory(path: data.snapshot(id))
      if let current = try? directory.current() {
        epochs.append(Int64(current.epoch))
        runs.append(Int64(current.run))
      }
      let newest = Int64(try data.generations(of: id).last ?? 0)
      findings.generations[id] = max(findings.generations[id] ?? 0, newest)
    }
    findings.outdated = request.published.outdated.count
    for (id, generation) in request.published.generations {
      findings.generations[id] = max(findings.generations[id] ?? 0, generation)
    }
    if let last = try data.lastReport(beyond: 0, since: nil) { runs.append(Int64(last.run)) }
    findings.lastRun = runs.max() ?? 0
    findings.isFirst = try ledger?.recoveries().isEmpty ?? true
    findings.known = try ledger?.lastOrgTime()
    findings.epoch = epoch(after: epochs.max() ?? 0, known: findings.known)
    findings.again = try PipelineReturns.directories(in: data.done).map(Files.name(of:)).filter {
      try ledger?.returned(sha256: $0) == nil
    }
    findings.waiting = try ledger?.neededFiles().openEdits.count ?? 0
    findings.releasable = try Quarantine.list(data.quarantine).compactMap { item in
      item.detail["code"]?.string == Refusal.Code.earlierLedger.rawValue
        ? item.detail["name"]?.string ?? item.sha256 : nil
    }
  }

  /// Returns the number of the new epoch.
  ///
  /// No other recovery has it, not even one from the same backup.
  ///
  /// It is the current time in seconds if this machine's clock is plausible, that is, later than
  /// the last known time. Otherwise it is random.
  private func epoch(after last: Int64, known: Int64?) -> Int64 {
    let past = max(last, (known ?? 0) / 1000 - 24 * 60 * 60)
    let now = request.now / 1000
    return now > past ? now : past + 1 + Int64.random(in: 0..<1 << 31)
  }

  // MARK: changes

  private func carryOut(
    _ data: DataDirectory, _ ledger: LedgerDatabase?, _ key: Int64,
    _ findings: inout RecoveryFindings
  ) throws {
    if findings.ledger == .damaged { findings.aside = try putAside(data) }
    let state = try ledger ?? LedgerDatabase(path: data.state)
    defer { if ledger == nil { state.close() } }
    // A ledger that replaced a lost one without a recovery knows nothing of what that one sent.
    let recoveries = try state.recoveries()
    let knowsAll = ledger != nil && (key <= 1 || !recoveries.isEmpty)
    for (id, generation) in findings.generations { try note(id, generation, data, state) }
    if !request.published.outdated.isEmpty {
      let known = try state.noted(.fromScratch) ?? []
      try state.store(known.union(request.published.outdated), as: .fromScratch)
    }
    // Returns that the ledger does not know are ingested again. They are moved before the ledger is
    // changed, so that an interrupted recovery can be repeated.
    try Files.makeDirectory(data.processing)
    for sha256 in findings.again {
      var taken = TakenReturn(directory: data.done + "/" + sha256)
      try taken?.noteIngestedAgain()
      try DurableFile.rename(data.done + "/" + sha256, to: data.processing + "/" + sha256)
    }
    // A recovery that was interrupted before the key was written had started the epoch that ends
    // here.
    let before = recoveries.last?.epoch ?? key
    let organization = try state.organizationID ?? Self.organization(of: data)
    let recovery = Recovery(
      epoch: findings.epoch, before: before,
      organizationID: organization ?? (request.newOrg ? Self.unknown : nil),
      known: knowsAll ? findings.known ?? 0 : 0, afterRun: findings.lastRun,
      time: request.now, by: request.by,
      detail: findings.ledger.rawValue + (request.isRestored ? Recovery.restored : ""),
      generations: findings.generations)
    let advance = try ProvenanceKey.advance(data, to: Int(findings.epoch))
    try state.recover(
      recovery, stampKeyDigest: advance.digest, newOrganization: request.newOrg)
    if !request.newOrg, let organization { try state.pinOrganization(id: organization) }
    try advance.write()
  }

  /// Returns the org of the existing generations, from their stores' paths; nil if there are none.
  private static func organization(of data: DataDirectory) throws -> String? {
    for id in try data.snapshots() where id != SnapshotID.global {
      let directory = SnapshotDirectory(path: data.snapshot(id))
      for number in try data.generations(of: id).reversed() {
        guard let record = try? directory.record(of: number) else { continue }
        for store in record.stores {
          if let found = store.entry.path.firstMatch(of: /00D[0-9A-Za-z]{15}/) {
            return String(found.output)
          }
        }
      }
    }
    return nil
  }

  /// Stands for an unknown org, which equals no other.
  private static let unknown = "unknown"

  /// Moves an unreadable ledger aside, so that it can be examined.
  private func putAside(_ data: DataDirectory) throws -> String {
    let aside = "\(data.state).damaged-\(Dates.utcDigits(request.now))"
    for suffix in ["-wal", "-shm", ""] where Files.exists(data.state + suffix) {
      try DurableFile.rename(data.state + suffix, to: aside + suffix)
    }
    return aside
  }

  /// Records in the ledger what the files of a snapshot show.
  private func note(
    _ id: String, _ generation: Int64, _ data: DataDirectory, _ state: LedgerDatabase
  ) throws {
    var row = try state.snapshotRow(id: id) ?? SnapshotRow(id: id, userID: nil, username: nil)
    if row.generation == generation, row.username != nil { return }
    let directory = SnapshotDirectory(path: data.snapshot(id))
    let record = try? directory.record(of: Int(generation))
    if id != SnapshotID.global {
      row.userID = row.userID ?? id
      row.username = row.username ?? record?.notes["username"]?.string
    }
    // For a newer generation, its included returns and its last ghost listing are unknown.
    if row.generation != generation {
      (row.generation, row.included, row.ghostRuns) = (generation, [], [:])
    }
    try state.save(row)
  }
}
