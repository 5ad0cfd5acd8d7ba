import Ledger
import Reconciliation
import Returns
import SmartStore
import System

/// One execution of a pipeline: its lock, its ledger, its clock, and the stages it does.
///
/// Owned by one task on a thread of its own, where it may block; snapshots are primed in tasks with
/// threads of theirs.
package final class PipelineRun {
  let pipeline: Pipeline
  let options: RunOptions
  let data: DataDirectory
  let access: OrgAccess
  let state: LedgerDatabase
  let row: RunRow
  /// The environment, for secrets that are asked for when they are needed.
  let variables: [String: String]
  let report: @Sendable (RunEvent) -> Void
  var summary = RunSummary()
  /// What stamps are made with; nil in a dry run, which makes none.
  private var stampKey: ProvenanceKey?
  /// What opens sealed returns, once it was asked for.
  var returnKey: SQLCipherKey?

  /// The run's one clock, in milliseconds of the org's time.
  var now: Int64 { row.now }

  private init(
    _ pipeline: Pipeline, _ options: RunOptions, _ data: DataDirectory, _ access: OrgAccess,
    _ state: LedgerDatabase, _ row: RunRow, _ variables: [String: String],
    _ report: @escaping @Sendable (RunEvent) -> Void
  ) {
    (self.pipeline, self.options, self.data, self.access) = (pipeline, options, data, access)
    (self.state, self.row, self.variables, self.report) = (state, row, variables, report)
    summary.run = row.id
    summary.pipeline = pipeline.name
  }

  /// Runs a pipeline's stages and answers what they did.
  ///
  /// `root` is the directory that holds `<pipeline>/`. Throws `PipelineError`, or the error of a
  /// module; what was published before stays, and the next run goes on from it.
  package static func execute(
    _ pipeline: Pipeline, root: String, variables: [String: String], options: RunOptions,
    report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    let thread = StoreThread(name: "run")
    return try await withTaskExecutorPreference(thread) {
      try await body(pipeline, root, variables, options, report)
    }
  }

  private static func body(
    _ pipeline: Pipeline, _ root: String, _ variables: [String: String], _ options: RunOptions,
    _ report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    let data = DataDirectory(root: root, name: pipeline.name)
    if options.isDryRun { return try await rehearse(pipeline, data, variables, options, report) }
    try data.prepare(inbox: data.inbox(pipeline.inbox.path))
    let lock = try takeLock(data)
    defer { lock.close() }
    try data.removeLeftovers()
    try checkDisk(pipeline, data)
    // Not made anew where it should be there: whoever brings it back finds its place empty.
    if !Files.exists(data.state) { try checkLedger(nil, data) }
    let state = try LedgerDatabase(path: data.state)
    defer { state.close() }
    return try await body(pipeline, data, state, variables, options, report)
  }

  /// What stamps are made with.
  func stamps() throws -> ProvenanceKey {
    if let stampKey { return stampKey }
    let taken = try ProvenanceKey.take(state, data)
    stampKey = taken
    return taken
  }

  /// A dry run: it works on a copy of the ledger and leaves no trace.
  private static func rehearse(
    _ pipeline: Pipeline, _ data: DataDirectory, _ variables: [String: String],
    _ options: RunOptions, _ report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    let scratch = DurableFile.temporaryName(
      for: (variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp") + "/attache")
    try Files.makeDirectory(scratch)
    // What is left of a copy in the directory for such things is no error of the plan.
    defer { try? Files.remove(scratch) }
    let copy = scratch + "/state.sqlite"
    if Files.exists(data.state) {
      // Shared: it writes no note, and waits for nothing but a run.
      let lock = try takeLock(data, exclusive: false)
      defer { lock.close() }
      for suffix in ["", "-wal"] where Files.exists(data.state + suffix) {
        try Files.copy(data.state + suffix, to: copy + suffix)
      }
    }
    let state = try LedgerDatabase(path: copy)
    defer { state.close() }
    return try await body(pipeline, data, state, variables, options, report)
  }

  private static func body(
    _ pipeline: Pipeline, _ data: DataDirectory, _ state: LedgerDatabase,
    _ variables: [String: String], _ options: RunOptions,
    _ report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> RunSummary {
    try checkLedger(state, data)
    try checkFile(pipeline, state, data)
    // Before the run begins: without it no run can do anything.
    let stampKey = options.isDryRun ? nil : try ProvenanceKey.take(state, data)
    let access = try OrgAccess(
      pipeline, data, variables: variables, pause: options.retryPause)
    let (row, resumed) = try await begin(pipeline, data, options, state, access)
    let run = PipelineRun(pipeline, options, data, access, state, row, variables, report)
    run.stampKey = stampKey
    report(.runStarted(run: row.id, pipeline: pipeline.name, resumed: resumed))
    do {
      try await run.doStages()
      run.summary.requests = access.requestsMade
      return try run.end()
    } catch {
      run.fail(error)
      throw error
    }
  }

  private static func takeLock(
    _ data: DataDirectory, exclusive: Bool = true
  ) throws -> FileLock {
    do throws(LockError) {
      return try FileLock(data.lock, exclusive: exclusive)
    } catch {
      switch error {
      case .held(let holder):
        throw PipelineError(
          .locked, "run.locked", "another run of this pipeline is at work", location: data.lock,
          reason: holder, fix: "wait until it ends; the lock is free as soon as its process is gone"
        )
      default: throw PipelineError(.failed, "run.lock", error.description)
      }
    }
  }

  private static func checkDisk(_ pipeline: Pipeline, _ data: DataDirectory) throws {
    let free = ProcessLimits.freeBytes(at: data.path)
    let needed = Int64(pipeline.limits.freeDiskMiB) << 20
    guard let free, free < needed else { return }
    throw PipelineError(
      .failed, "disk.full", "too little disk space is free to begin a run", location: data.path,
      reason: "\(free >> 20) MiB are free and limits.freeDiskMiB is \(pipeline.limits.freeDiskMiB)",
      fix: "free some space, or lower limits.freeDiskMiB in the pipeline file")
  }

  /// The run to go on with: one that died less than a day ago, whatever is asked for now, or a new
  /// one.
  private static func begin(
    _ pipeline: Pipeline, _ data: DataDirectory, _ options: RunOptions, _ state: LedgerDatabase,
    _ access: OrgAccess
  ) async throws -> (RunRow, resumed: Bool) {
    // Whose returns it proves, a pipeline that has never asked the org does not know.
    let isUnknown = try state.organizationID == nil && options.stages.contains(.ingest)
    let needsOrg = !options.stages.isDisjoint(with: [.reconcile, .prime]) || isUnknown
    var now = Clock.wallMilliseconds()
    if needsOrg {
      let session = try await access.anySession()
      let isPinned = try state.organizationID != nil
      if isPinned || !options.isDryRun {
        try state.pinOrganization(id: session.identity.organizationID)
      }
      if let pinned = pipeline.org.id, pinned != session.identity.organizationID {
        throw LedgerError.foreignOrganization(
          pinned: pinned, found: session.identity.organizationID)
      }
      now = session.serverDate ?? now
    }
    // A look at what would be done neither goes on with a run that died nor ends it.
    if options.isDryRun { return (state.unrecordedRun(pipeline: pipeline.name, now: now), false) }
    let stages = Set(options.stages.map(\.rawValue))
    let open = try state.openRun(now: needsOrg ? now : nil)
    try finishReports(state, pipeline, data)
    if let open {
      // One of the ledger's first version does not say what it was asked for.
      let all = Set(Stage.allCases.map(\.rawValue))
      return (try state.widen(open, by: open.wanted.isEmpty ? all : stages), true)
    }
    let row = try state.beginRun(
      pipeline: pipeline.name, now: now, configHash: pipeline.configHash(),
      host: ProcessEnvironment.hostName(), stages: stages)
    return (row, false)
  }

  private func doStages() async throws {
    for stage in Stage.allCases where options.stages.contains(stage) {
      try Task.checkCancellation()
      report(.stageStarted(stage))
      try note(stage, isFinished: false)
      switch stage {
      case .ingest: try ingest()
      case .reconcile: try await reconcile()
      case .prime: try await prime()
      case .pack: try pack()
      }
      try note(stage, isFinished: true)
      report(.stageFinished(stage))
    }
  }

  /// Keeps how far the run is: it is over when every stage has done its work.
  private func note(_ stage: Stage, isFinished: Bool) throws {
    if options.isDryRun { return }
    try state.note(stage: stage.rawValue, isFinished: isFinished, run: row.id)
  }
}
