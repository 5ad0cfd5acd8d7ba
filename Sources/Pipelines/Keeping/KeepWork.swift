import Ledger
import Returns
import SmartStore
import Snapshots
import System

/// Obeys `keep`: plans what goes, and removes it.
///
/// Whatever dies in between, the next prune goes on: a generation is noted as pruned before a byte of it goes,
/// and what is taken away whole has a temporary name first, which the next run sweeps. Nothing depends on
/// how far it came: what is not there is not asked for, and what is there may be.
package struct KeepWork {
  private let keep: KeepSettings
  private let index: BundleIndex
  private let data: DataDirectory
  private let ledger: LedgerDatabase
  private let survey: KeepSurvey

  /// The keeping of a pipeline's directory; to be used under its lock.
  init(_ pipeline: Pipeline, _ data: DataDirectory, ledger: LedgerDatabase) {
    keep = pipeline.keep
    index = BundleIndex(data: data, pipeline: pipeline)
    (self.data, self.ledger) = (data, ledger)
    survey = KeepSurvey(
      data: data, ledger: ledger, pack: pipeline.pack,
      returnedMilliseconds: Int64(pipeline.keep.returnedDays) * KeepRule.day)
  }

  /// What goes and what stays, at the time of the newest run that asked the org: whatever this machine's
  /// clock says, nothing is older than that.
  func plan() throws -> KeepPlan {
    guard let now = try ledger.lastOrgTime() else {
      return KeepPlan()
    }
    return try plan(now: now)
  }

  private func plan(now: Int64) throws -> KeepPlan {
    let facts = try survey.facts(now: now)
    var plan = KeepRule.plan(facts, keep)
    plan.now = now
    for one in facts.snapshots.first(where: { $0.id == SnapshotID.global })?.generations ?? [] {
      plan.globals[one.number] = one.goodUntil
    }
    let past = KeepRule.past(now, keep)
    plan.values = KeepRule.values(of: try ledger.settledEdits(before: past), facts, keep)
    plan.runs = try ledger.summarizedRuns(before: past)
    return plan
  }

  /// Plans, and carries the plan out.
  func obey() throws -> KeepPlan {
    let plan = try plan()
    // On a full disk that first for which nothing is written.
    for item in plan.going where item.kind != .generation { try remove(item, by: plan) }
    // What the stable names point to does not go, also where a run could not write them.
    if plan.going.contains(where: { $0.kind == .generation }) { try index.write() }
    for item in plan.going where item.kind == .generation { try remove(item, by: plan) }
    try sweepReasons()
    try ledger.prune(edits: plan.values)
    try ledger.prune(runs: plan.runs)
    return plan
  }

  private func remove(_ item: KeepPlan.Item, by plan: KeepPlan) throws {
    switch item.kind {
    case .generation:
      guard let id = item.snapshot, let number = Int(item.id) else { return }
      try empty(number, of: id, by: plan)
    case .issued:
      guard let id = item.snapshot, let number = Int(item.id) else { return }
      try Files.remove(data.issued(number, of: id))
    case .record:
      guard let id = item.snapshot, let number = Int(item.id) else { return }
      try DurableFile.takeAway(data.generation(number, of: id))
    case .returned: try DurableFile.takeAway(data.done + "/" + item.id)
    case .quarantined: try DurableFile.takeAway(data.quarantine + "/" + item.id)
    case .report: try DurableFile.takeAway(data.report(item.id))
    case .values, .run: break
    }
  }

  /// Takes the stores and bundles out of a generation that nobody gets any more.
  private func empty(_ number: Int, of id: String, by plan: KeepPlan) throws {
    let directory = data.generation(number, of: id)
    var note = try survey.note(of: number, in: id, now: plan.now)
    // Global stores are in the bundles of users.
    if id == SnapshotID.global { note.goodUntil = note.goodUntil ?? plan.globals[number] }
    let all = try Files.list(directory).filter {
      $0 != GenerationRecord.fileName && $0 != PrunedGeneration.fileName
    }
    // The directories of stores before the bundles, of which the note can be made again.
    let stores = all.filter { Files.isDirectory(directory + "/" + $0) }
    var names = stores + all.filter { !stores.contains($0) }
    while true {
      do throws(SystemError) {
        try note.write(into: directory)
        break
      } catch {
        // A full disk has no room even for the note: the stores give it some.
        guard error.isFull, !names.isEmpty else { throw error }
        try Files.remove(directory + "/" + names.removeFirst())
      }
    }
    for name in names { try Files.remove(directory + "/" + name) }
  }

  /// Removes the reasons of refused returns that are gone.
  private func sweepReasons() throws(SystemError) {
    guard Files.isDirectory(data.quarantine) else { return }
    for sha256 in try ReasonFile.digests(in: data.quarantine)
    where !Files.exists(data.quarantine + "/" + sha256) {
      try ReasonFile.remove(of: sha256, in: data.quarantine)
    }
  }
}

extension KeepWork {
  /// Plans for a pipeline, and removes what goes unless it is a dry run; what a run does at its end.
  ///
  /// A pipeline that never ran has nothing to remove.
  package static func prune(
    _ pipeline: Pipeline, root: String, isDryRun: Bool
  ) throws -> KeepPlan {
    let data = DataDirectory(root: root, name: pipeline.name)
    guard Files.exists(data.state) else {
      try LedgerCheck.checkLedger(nil, data)
      return KeepPlan()
    }
    let lock = try PipelineRun.takeLock(data, exclusive: !isDryRun)
    defer { lock.close() }
    let ledger = try data.openLedger(under: lock)
    defer { ledger.close() }
    try LedgerCheck.checkLedger(ledger, data)
    let work = KeepWork(pipeline, data, ledger: ledger)
    if isDryRun { return try work.plan() }
    do {
      return try work.obey()
    } catch let error where MachineTrouble.isFull(error) {
      throw PipelineError(
        .failed, PipelineError.diskFullCode,
        "the disk is full, and nothing more can be removed without some room",
        location: data.path, reason: "\(error)",
        fix: "remove some of \(data.reports) by hand, of which attache report makes anew what is "
          + "asked for, and prune again")
    }
  }
}
