import Ledger
import Returns
import SmartStore
import System

/// One execution of a pipeline: its lock, its ledger, its clock and its stages.
///
/// The run is one task on its own thread, where it may block. Snapshots are primed in separate
/// tasks with their own threads.
package struct PipelineRun {
  private let context: RunContext
  private var reporting: RunReport { RunReport(run: context) }

  /// Runs a pipeline's stages and returns a summary.
  ///
  /// `root` is the directory that holds `<pipeline>/`. Throws `PipelineError`, or the error of a
  /// module. If it throws, everything published before stays, and the next run continues from
  /// there.
  package static func execute(
    _ pipeline: Pipeline, root: String, variables: [String: String], options: RunOptions,
    report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    let thread = StoreThread(name: "run")
    // Checked before any request, so that a mistyped name costs nothing.
    if let names = try pipeline.users.names() {
      try PipelineUsers.check(options.users, areAmong: names, in: pipeline)
    }
    for path in options.files { try IngestStage.checkFile(path) }
    if let place = options.rehearsal { try RunReport.rehearsalDirectory(place).check() }
    return try await withTaskExecutorPreference(thread) {
      try await perform(pipeline, root, variables, options, report)
    }
  }

  private static func perform(
    _ pipeline: Pipeline, _ root: String, _ variables: [String: String], _ options: RunOptions,
    _ report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    let data = DataDirectory(root: root, name: pipeline.name)
    try LedgerCheck.checkRights(data)
    try data.checkPlaces(of: pipeline)
    if let place = options.rehearsal {
      try data.checkOutput("report", at: place, named: "--report", of: pipeline)
    }
    try LedgerCheck.checkName(pipeline, root: root)
    if options.isDryRun { return try await dryRun(pipeline, data, variables, options, report) }
    try data.prepare(inbox: data.inbox(pipeline.inbox.path))
    let lock = try lock(data)
    defer { lock.close() }
    try data.removeLeftovers()
    try checkDisk(pipeline, data)
    try DataFormat.record(in: data)
    // Do not create an expected but missing directory: a backup is restored to its place.
    if !Files.exists(data.state) { try LedgerCheck.checkLedger(nil, data) }
    let ledger = try LedgerDatabase(path: data.state)
    defer { ledger.close() }
    return try await perform(pipeline, data, ledger, variables, options, report)
  }

  /// Performs a dry run on a copy of the ledger, without leaving a trace.
  private static func dryRun(
    _ pipeline: Pipeline, _ data: DataDirectory, _ variables: [String: String],
    _ options: RunOptions, _ report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    let scratch = try ScratchDirectory(variables)
    defer { scratch.remove() }
    let copy = scratch.path + "/state.sqlite"
    var data = data
    if Files.exists(data.state) {
      // A shared lock writes no note, and waits only for a run.
      let lock = try lock(data, exclusive: false)
      defer { lock.close() }
      for suffix in ["", "-wal"] where Files.exists(data.state + suffix) {
        try Files.copy(data.state + suffix, to: copy + suffix)
      }
      try DataFormat.check(data)
    }
    data.returns = scratch.path
    try Files.makeDirectory(data.processing)
    let ledger = try LedgerDatabase(path: copy)
    defer { ledger.close() }
    return try await perform(pipeline, data, ledger, variables, options, report)
  }

  private static func perform(
    _ pipeline: Pipeline, _ data: DataDirectory, _ ledger: LedgerDatabase,
    _ variables: [String: String], _ options: RunOptions,
    _ report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    try LedgerCheck.checkLedger(ledger, data)
    try LedgerCheck.checkFile(pipeline, ledger, data)
    // Done before the run starts, because no run works without the key.
    let stampKey = options.isDryRun ? nil : try ProvenanceKey.take(ledger, data)
    // Read now, so that no generation is published that could not be signed.
    let signer = options.stages.contains(.pack) ? try ManifestSigner(pipeline, variables) : nil
    let access = try OrgAccess(
      pipeline, data, variables: variables, mostRequests: options.apiBudget,
      pause: options.retryPause
    ) { event in
      if let event = RunEvent(event) { report(event) }
    }
    let began: (RunRow, RunTimes, resumed: Bool)
    do {
      began = try await begin(pipeline, data, options, ledger, access)
    } catch {
      // If the ledger cannot be written either, the first error counts.
      if !options.isDryRun { try? recordFailedStart(error, pipeline, ledger) }
      throw error
    }
    if !options.isDryRun, let organization = try ledger.organizationID {
      // No demo with another org may empty it any more.
      try MarkedDirectory.unmark(data.path, unlessFor: organization)
    }
    let (row, times, resumed) = began
    let context = RunContext(
      pipeline, options: options, data: data, access: access, ledger: ledger, row: row,
      times: times, stampKey: stampKey, signer: signer, variables: variables,
      report: report)
    let run = PipelineRun(context: context)
    report(
      .runStarted(
        run: context.summary.run, pipeline: pipeline.name,
        resumed: resumed && !options.isDryRun))
    if let last = try ledger.recoveries().last, last.afterRun + 1 == row.number {
      context.warn(
        "the ledger was recovered at \(Dates.utcSeconds(last.time)) by \(last.by): edits from older bundles "
          + "are first looked up in the org")
    }
    var isChecked = false
    do {
      // Checked before the run changes anything.
      try await PipelineUsers(run: context).checkAsked()
      var publication = RunPublication(run: context)
      try await publication.check()
      isChecked = true
      // Results of earlier orders do not have what this run changes.
      let hadOrders = try options.part != .collect && run.supersedeOrders()
      if hadOrders, options.part == .whole { await RunOrders(run: context).removeRemains() }
      try await run.performStages(publication)
      context.summary.requests += context.spent.requests
      let summary = try run.end()
      if options.part != .collect { return summary }
      await RunOrders(run: context).removeRemains()
      return context.summary
    } catch {
      run.fail(error, isChecked: isChecked)
      throw error
    }
  }

  /// Lets no result of earlier orders be adopted; false if there are none.
  private func supersedeOrders() throws -> Bool {
    if context.options.isDryRun { return false }
    guard try context.ledger.notedOrders() != nil else { return false }
    try context.ledger.note(orders: nil)
    context.warn("the orders that were written before are superseded, and their results not used")
    return true
  }

  /// The seconds that a run waits for another holder of its lock, such as a dry run that copies the
  /// ledger.
  private static let lockSeconds = 2

  /// The seconds that a run waits for a backup.
  private static let backupSeconds = 600
  /// The name of a backup in messages about the holder of the lock.
  static let backupNote = "a backup"

  static func takeLock(
    _ data: DataDirectory, exclusive: Bool = true, note: String = ""
  ) throws -> FileLock {
    try LedgerCheck.checkRights(data)
    // A shared lock is not enough for it.
    if !exclusive { try data.convertLedger() }
    return try lock(data, exclusive: exclusive, note: note)
  }

  private static func lock(
    _ data: DataDirectory, exclusive: Bool = true, note: String = ""
  ) throws -> FileLock {
    func wait(_ seconds: Int) throws(LockError) -> FileLock {
      try FileLock.waiting(
        data.lock, exclusive: exclusive, note: note, seconds: seconds,
        isCancelled: { Task.isCancelled })
    }
    do throws(LockError) {
      do throws(LockError) { return try wait(lockSeconds) } catch {
        guard case .held(let holder) = error, holder.hasSuffix(backupNote) else { throw error }
        return try wait(backupSeconds)
      }
    } catch {
      switch error {
      case .held(let holder):
        throw PipelineError(lockedBy: holder, at: data.lock)
      case _ where MachineTrouble.isFull(error): throw PipelineError(describing: error)
      default: throw PipelineError(.failed, "run.lock", error.description)
      }
    }
  }

  private static func checkDisk(_ pipeline: Pipeline, _ data: DataDirectory) throws {
    let free = ProcessLimits.freeBytes(at: data.path)
    let needed = Int64(pipeline.limits.freeDiskMiB) << 20
    guard let free, free < needed else { return }
    throw PipelineError(
      .failed, PipelineError.diskFullCode, "too little disk space is free to start a run",
      location: data.path,
      reason: "\(free >> 20) MiB are free and limits.freeDiskMiB is \(pipeline.limits.freeDiskMiB)",
      fix: PipelineError.makingRoom(pipeline.called)
        + "; or lower limits.freeDiskMiB in the pipeline file")
  }

  /// Returns the run to resume, and its time: a run that was interrupted less than a day ago,
  /// whatever stages are requested now, or a new run.
  private static func begin(
    _ pipeline: Pipeline, _ data: DataDirectory, _ options: RunOptions, _ ledger: LedgerDatabase,
    _ access: OrgAccess
  ) async throws -> (RunRow, RunTimes, resumed: Bool) {
    // A pipeline that has never contacted the org cannot tell whether returns come from it.
    let isUnknown = try ledger.organizationID == nil && options.stages.contains(.ingest)
    let asksOrg =
      options.part != .collect
      && !options.stages.isDisjoint(with: [.reconcile, .prime])
    let needsOrg = asksOrg || isUnknown
    var now = Clock.wallMilliseconds()
    if needsOrg {
      let session = try await access.anySession()
      let isPinned = try ledger.organizationID != nil
      if isPinned || !options.isDryRun {
        try ledger.pinOrganization(id: session.identity.organizationID)
      }
      if !options.isDryRun { try ledger.store(session.instanceURL, as: .instance) }
      if let pinned = pipeline.org.id, pinned != session.identity.organizationID {
        throw LedgerError.foreignOrganization(
          pinned: pinned, found: session.identity.organizationID)
      }
      now = session.serverDate ?? now
    }
    let stages = Set(options.stages.map(\.rawValue))
    let clock = try RunClock(ledger).time(at: now)
    let open = try ledger.openRun(now: needsOrg ? clock : nil, adding: stages)
    if options.part == .collect {
      guard let open, let list = try ledger.notedOrders(), list.isOf(open) else {
        throw RunOrders.nothingToCollect
      }
      try list.checkSettings(
        of: pipeline,
        fix: "restore the pipeline, store and sync files, and collect again; or write new orders: "
          + "attache run PIPELINE --until orders")
    }
    if !options.isDryRun { try RunReport.finishReports(ledger, pipeline, data) }
    if let open {
      let arrivals = try RunClock(ledger).arrivals(of: open, at: now, data)
      return (open, RunTimes(org: now, arrivals: arrivals), true)
    }
    let row = try ledger.beginRun(
      pipeline: pipeline.name, now: clock, configHash: pipeline.configHash(),
      host: ProcessEnvironment.hostName(), stages: stages)
    return (row, RunTimes(org: now, arrivals: clock), false)
  }

  /// Records a run that failed before its first stage, such as one that did not reach the org.
  ///
  /// It has no stages, because its time is not the org's. An interrupted run stays the one to
  /// resume.
  private static func recordFailedStart(
    _ error: any Error, _ pipeline: Pipeline, _ ledger: LedgerDatabase
  ) throws {
    if try ledger.openRun(now: nil) != nil { return }
    let row = try ledger.beginRun(
      pipeline: pipeline.name, now: Clock.wallMilliseconds(), configHash: pipeline.configHash(),
      host: ProcessEnvironment.hostName())
    let status = PipelineError(describing: error).kind.exitStatus.rawValue
    try ledger.note(.ended(exitStatus: status, summary: "{}"), run: row.id)
  }

  private func performStages(_ publication: RunPublication) async throws {
    for stage in Stage.allCases where context.options.stages.contains(stage) {
      try Task.checkCancellation()
      context.report(.stageStarted(stage))
      try note(.started(stage: stage.rawValue))
      let (before, start) = (context.spent, Clock.monotonicNanoseconds())
      switch stage {
      case .ingest: try await IngestStage(run: context).perform()
      case .reconcile: try await ReconcileStage(run: context).perform()
      case .prime: try await PrimeStage(run: context).perform()
      case .pack: try PackStage(run: context).perform()
      }
      let isOrdered = stage == .prime && context.options.part == .orders
      // The stage is finished when its results are collected.
      if !isOrdered { try note(.finished(stage: stage.rawValue)) }
      let spent = context.spent(in: stage, since: before)
      let used = records(of: stage)
      let cost = StageCost(
        stage, requests: spent.requests,
        records: used - (stage == .prime ? context.summary.sharedRecords : 0), used: used,
        bytes: spent.bytes,
        milliseconds: Int((Clock.monotonicNanoseconds() - start) / 1_000_000))
      context.summary.add(cost)
      if isOrdered { return }
      context.report(.stageFinished(cost))
    }
    try await publication.perform()
    if context.access.org.replacedHalves > 0 {
      context.warn(
        "texts of the org contain unpaired surrogates, which no device can read: each is replaced by U+FFFD"
      )
    }
  }

  /// The number of records that a stage brought into stores, or of edits that it resolved.
  private func records(of stage: Stage) -> Int {
    switch stage {
    case .ingest: context.summary.edits.new
    case .reconcile: context.summary.verdicts.values.reduce(0, +)
    case .prime: context.summary.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.fetched }
    case .pack: 0
    }
  }

  /// Records the run's progress.
  ///
  /// A run is finished when every stage is.
  private func note(_ fact: RunNote) throws {
    try context.ledger.note(fact, run: context.row.id)
  }

  // MARK: finishing

  /// Finishes the run if every stage is done that was requested for it, or for the run that it
  /// resumes.
  private func end() throws -> RunSummary {
    if context.options.isDryRun {
      if let place = context.options.rehearsal { try reporting.rehearse(in: place) }
      return context.summary
    }
    try reporting.takeStock()
    try reporting.write()
    if context.options.part == .orders {
      if var list = try context.ledger.notedOrders() {
        list.earlier = context.summary.json
        try context.ledger.note(orders: list)
      }
      return context.summary
    }
    if let left = try stagesLeft() {
      context.warn(
        "the interrupted run \(context.row.id) is not finished: \(left) for the next run")
      return context.summary
    }
    let summary = context.summary
    try context.ledger.note(
      .ended(exitStatus: summary.exitStatus.rawValue, summary: summary.json.text),
      run: context.row.id)
    try context.ledger.note(orders: nil)
    prune()
    return context.summary
  }

  /// Prunes expired files at the end of a run, if the pipeline file asks for it.
  ///
  /// A failure is reported but does not fail the run; the next one tries again.
  private func prune() {
    guard context.pipeline.keep.isAsked else { return }
    do {
      let work = KeepWork(
        context.pipeline, context.data, ledger: context.ledger, variables: context.variables)
      context.summary.pruned = try work.obey()
    } catch {
      let words = "expired files could not be removed: \(PipelineError(describing: error).message)"
      context.summary.warnings.append(words)
      context.report(.warning(words))
    }
  }

  /// Ends a failed run with a report of what it resolved and found before.
  ///
  /// A failed run is not resumed; only an interrupted one is, with its clock. If a resumed run
  /// fails in some of the remaining work, the interrupted run stays open.
  private func fail(_ error: any Error, isChecked: Bool) {
    if context.options.isDryRun { return }
    do {
      try reporting.takeStock()
      try reporting.write()
    } catch {
      // The run's own failure is reported first.
      context.warn(
        "no report could be written: \(PipelineError(describing: error).message)")
    }
    // The results can be collected again.
    if context.options.part == .collect { return }
    let failure = PipelineError(describing: error)
    do {
      // A run that was refused leaves the orders as they are.
      if !isChecked, try context.ledger.notedOrders()?.isOf(context.row) == true { return }
      let asked = Set(context.options.stages.map(\.rawValue))
      let rest =
        try context.ledger.run(id: context.row.id).map { $0.wanted.subtracting($0.finished) } ?? []
      guard rest.isSubset(of: asked) else { return }
      try context.ledger.note(
        .ended(exitStatus: failure.kind.exitStatus.rawValue, summary: context.summary.json.text),
        run: context.row.id)
    } catch {
      // If the ledger cannot be written, the run counts as interrupted, which is correct.
      context.warn("the ledger could not be written: \(PipelineError(describing: error).message)")
    }
  }

  /// Returns the remaining stages and their verb, "wait" or "waits"; nil if there are none.
  private func stagesLeft() throws -> String? {
    guard let now = try context.ledger.run(id: context.row.id) else { return nil }
    let left = Stage.allCases.map(\.rawValue).filter {
      now.wanted.contains($0) && !now.finished.contains($0)
    }
    if left.isEmpty { return nil }
    return left.joined(separator: " and ") + (left.count == 1 ? " waits" : " wait")
  }
}
