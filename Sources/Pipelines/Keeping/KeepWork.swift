import Ledger
import Returns
import SmartStore
import Snapshots
import System

/// Applies the `keep` settings: plans what to remove, and removes it.
///
/// If it is interrupted, the next prune continues. A generation is marked as pruned before any of
/// its files are removed, and a directory is renamed to a temporary name before it is removed,
/// which the next run cleans up. Nothing depends on how far it got.
package struct KeepWork {
  private let keep: KeepSettings
  private let index: BundleIndex
  private let data: DataDirectory
  private let ledger: LedgerDatabase
  private let survey: KeepSurvey
  private let publish: PublishSettings?

  /// Opens a pipeline's directory for pruning.
  ///
  /// The caller must hold the lock. The environment is for the key that signs the list of bundles.
  init(
    _ pipeline: Pipeline, _ data: DataDirectory, ledger: LedgerDatabase,
    variables: [String: String]
  ) {
    (keep, publish) = (pipeline.keep, pipeline.publish)
    index = BundleIndex(data: data, pipeline: pipeline, variables: variables)
    (self.data, self.ledger) = (data, ledger)
    survey = KeepSurvey(
      data: data, ledger: ledger, pack: pipeline.pack,
      returnedMilliseconds: Int64(pipeline.keep.returnedDays) * KeepRule.day)
  }

  /// Returns the plan for the time of the newest run that contacted the org.
  ///
  /// This machine's clock may be wrong, and is not used.
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
    let prunable = try ledger.prunable(before: KeepRule.past(now, keep))
    plan.values = KeepRule.values(of: prunable.edits, facts, keep)
    plan.runs = prunable.runs
    return plan
  }

  /// Makes a plan and applies it.
  func obey() throws -> KeepPlan {
    let plan = try plan()
    // On a full disk, start with what can be removed without writing.
    for item in plan.going where item.kind != .generation { try remove(item, by: plan) }
    // Targets of the stable links must stay, even if a run could not update the links.
    if plan.going.contains(where: { $0.kind == .generation }) { try index.write() }
    let areObjectsNoted = try noteObjects(of: plan)
    for item in plan.going where item.kind == .generation { try remove(item, by: plan) }
    if !areObjectsNoted { _ = try noteObjects(of: plan) }
    try sweepReasons()
    try ledger.prune(edits: plan.values, runs: plan.runs)
    return plan
  }

  /// Notes the generations whose objects the next publication removes from the store, before their
  /// files are removed; returns false if the disk has no space for the note.
  private func noteObjects(of plan: KeepPlan) throws -> Bool {
    guard case .store(let store)? = publish else { return true }
    do throws(SystemError) {
      try PublishNotes.add(plan.going, goingFrom: store.location, in: data)
    } catch {
      guard error.isFull else { throw error }
      return false
    }
    return true
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

  /// Removes the stores and bundles of a generation that is no longer distributed.
  private func empty(_ number: Int, of id: String, by plan: KeepPlan) throws {
    let directory = data.generation(number, of: id)
    var note = try survey.note(of: number, in: id, now: plan.now)
    // Users' bundles contain the global stores.
    if id == SnapshotID.global { note.goodUntil = note.goodUntil ?? plan.globals[number] }
    let all = try Files.list(directory).filter {
      $0 != GenerationRecord.fileName && $0 != PrunedGeneration.fileName
    }
    // Stores before bundles: from the bundles, the note can be written again.
    let stores = all.filter { Files.isDirectory(directory + "/" + $0) }
    var names = stores + all.filter { !stores.contains($0) }
    while true {
      do throws(SystemError) {
        try note.write(into: directory)
        break
      } catch {
        // If a full disk has no space even for the note, removing stores makes some.
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
  /// Prunes a pipeline, or only plans it in a dry run.
  ///
  /// Runs call this at their end.
  ///
  /// If the pipeline never ran, there is nothing to remove.
  package static func prune(
    _ pipeline: Pipeline, root: String, isDryRun: Bool, variables: [String: String] = [:]
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
    let work = KeepWork(pipeline, data, ledger: ledger, variables: variables)
    if isDryRun { return try work.plan() }
    do {
      return try work.obey()
    } catch let error where MachineTrouble.isFull(error) {
      throw PipelineError(
        .failed, PipelineError.diskFullCode,
        "the disk is full, and nothing more can be removed without some free space",
        location: data.path, reason: "\(error)",
        fix: "remove some of \(data.reports) by hand (attache report rebuilds them on request), "
          + "and prune again")
    }
  }
}
