import JSON
import Ledger
import MobileSync
import Salesforce
import Snapshots
import System

struct PrimeStage {
  let run: RunContext
  private var people: PipelineUsers { PipelineUsers(run: run) }

  /// Fetches the changes of every snapshot, several concurrently, and publishes new generations.
  func perform() async throws {
    try await PreflightStage(run: run).perform(before: .prime)
    let users = try await people.listed()
    let before = try run.ledger.noted(.wideCalls)
    let wide = WideCalls(stored: before)
    let pool = try makePool(of: users)
    var jobs: [PrimeJob] = []
    if !run.pipeline.stores(of: .global).isEmpty, run.options.users.isEmpty {
      let global = SnapshotUser(id: SnapshotID.global, username: SnapshotID.global)
      jobs.append(try job(for: global, wide))
    }
    if !run.pipeline.stores(of: .user).isEmpty {
      jobs += try inTurn(users).map { user in
        var job = try self.job(for: user, wide)
        job.pool = pool
        return job
      }
    }
    if run.options.isDryRun { return try await PrimePlan(run: run, users: users.count).make(jobs) }
    try await prime(jobs, pool, isFirst: before == nil)
    if let pool { try await finish(pool, jobs) }
    let learned = wide.stored ?? "{}"
    if learned != before ?? "{}" { try run.ledger.store(learned, as: .wideCalls) }
    run.summary.snapshots.sort { $0.id < $1.id }
    PreflightStage(run: run).tell()
    // Every user was tried, so earlier findings about skipped users are outdated.
    if run.options.users.isEmpty {
      for kind in Self.primeFindings { try run.ledger.settleFindings(kind, by: run.row.id) }
    }
  }

  /// What happens while snapshots are primed.
  private enum Step: Sendable {
    case primed(PrimeJob, Result<PrimeJob.Output, any Error>)
    /// Users turned out to read records differently.
    case dissolved
    case cancelled
  }

  /// Primes snapshots, several concurrently.
  ///
  /// If nothing is known about their requests, the others wait until the first has listed its
  /// records: it shows them how to divide lists, and which records they need not fetch.
  func prime(_ jobs: [PrimeJob], _ pool: RecordPool?, isFirst: Bool = false) async throws {
    if !isFirst || jobs.count <= mostUnderWay { pool?.open() }
    var hasFirst = false
    try await withThrowingTaskGroup(of: Step.self) { group in
      var waiting = jobs[...]
      var threads = PrimeThreads(run.pipeline.limits.jobs)
      // Users who started when no requests were left were not cut off: their turn is next.
      var hasNothingLeft: Set<String> = []
      func start() {
        guard var next = waiting.popFirst() else { return }
        next.isLater = hasFirst
        if next.pool != nil { hasFirst = true }
        let access = run.access
        let requestsLeft = access.org.requestsLeft
        if let requestsLeft, requestsLeft <= 0 { hasNothingLeft.insert(next.user.id) }
        run.report(
          .snapshotStarted(
            snapshot: next.user.id, username: next.user.username,
            number: jobs.count - waiting.count, of: jobs.count,
            requestsLeft: requestsLeft))
        let thread = threads.take(for: next.user.id)
        group.addTask { [next] in
          do {
            return .primed(next, .success(try await next.prime(with: access, on: thread)))
          } catch {
            return .primed(next, .failure(error))
          }
        }
      }
      func startMore() {
        let most = mostUnderWay
        while threads.used < most, !waiting.isEmpty { start() }
      }
      func watch(_ pool: RecordPool) {
        group.addTask { await pool.dissolution() ? .dissolved : .cancelled }
      }
      startMore()
      if let pool { watch(pool) }
      while threads.used > 0, let step = try await group.next() {
        guard case .primed(let snapshot, let result) = step else {
          if let pool, case .dissolved = step {
            try noteMisled(pool)
            watch(pool)
          }
          continue
        }
        threads.give(backOf: snapshot.user.id)
        if case .failure(let error) = result, !hasNothingLeft.contains(snapshot.user.id) {
          try noteCutOff(snapshot, error)
        }
        try take(result, of: snapshot)
        if let pool { try noteMisled(pool) }
        snapshot.pool?.open()
        startMore()
      }
      group.cancelAll()
    }
  }

  /// The number of snapshots in progress.
  ///
  /// It exceeds the number of threads, so that the org prepares the next answers while stores are
  /// written or while one user's answer is pending.
  ///
  /// If few requests are left, it equals the number of threads; otherwise every snapshot would be
  /// cut off halfway.
  private var mostUnderWay: Int {
    let jobs = run.pipeline.limits.jobs
    let most = jobs == 1 ? 1 : jobs + run.pipeline.org.concurrency
    let isShort = run.access.org.requestsLeft.map { $0 < most * Self.requestsOfOne } ?? false
    return isShort ? jobs : most
  }

  /// More requests than the prime of a typical user takes.
  private static let requestsOfOne = 100

  /// Returns the users in the order of priming: those first whose last turn is longest ago, and
  /// within one run, those last whom the request limit cut off.
  ///
  /// So a user who needs the whole budget does not block the others in every run, and they do not
  /// block that user.
  private func inTurn(_ users: [SnapshotUser]) throws -> [SnapshotUser] {
    typealias Turn = (since: Int64, isCutOff: Int, user: SnapshotUser)
    let turns = try users.map { user -> Turn in
      let primed = try run.ledger.noted(.primed(user.id)) ?? 0
      let cutOff = try run.ledger.noted(.cutOff(user.id)) ?? 0
      return (max(primed, cutOff), cutOff > primed ? 1 : 0, user)
    }
    return turns.sorted {
      ($0.since, $0.isCutOff, $0.user.id) < ($1.since, $1.isCutOff, $1.user.id)
    }.map(\.user)
  }

  /// Records the users whom the request limit cut off.
  private func noteCutOff(_ snapshot: PrimeJob, _ error: any Error) throws {
    guard !Task.isCancelled, snapshot.user.id != SnapshotID.global,
      PipelineError(describing: error).kind == .tryLater
    else { return }
    try run.ledger.store(run.now, as: .cutOff(snapshot.user.id))
  }

  /// The findings that a prime of a snapshot creates or clears.
  private static let primeFindings: [Finding.Kind] = [.userSkipped, .incomplete, .removalsHeld]

  /// Records the findings of a primed snapshot; earlier ones are closed.
  private func noteFindings(_ output: PrimeJob.Output) throws {
    let outcome = output.outcome
    let subject = output.user.username.lowercased()
    for kind in Self.primeFindings {
      try run.ledger.settleFindings(kind, subject: subject, by: run.row.id)
    }
    let unreadable = outcome.soups.filter { !$0.unreadable.isEmpty }.map {
      let count = $0.unreadable.count
      return "\(CountText.of(count, "record")) of \"\($0.soup)\" \(count == 1 ? "was" : "were") "
        + "listed and could not be read"
    }
    var detail: JSONObject = [
      "snapshot": .string(output.user.id), "username": .string(output.user.username),
      "generation": JSONValue(output.generation),
    ]
    detail["reason"] = .string((outcome.warnings + unreadable).joined(separator: "; "))
    if outcome.hadRuleErrors || !unreadable.isEmpty { try run.note(.incomplete, subject, detail) }
    if outcome.guardTripped { try run.note(.removalsHeld, subject, detail) }
  }

  /// How long `queryAll` reliably returns deleted records.
  ///
  /// The recycle bin keeps them for 15 days.
  private static let deletionsAreKept: Int64 = 10 * 24 * 60 * 60 * 1000

  /// A count of runs since the last full listing that exceeds every configured interval.
  private static let longOverdue: Int64 = 1_000_000

  private func job(for user: SnapshotUser, _ wide: WideCalls) throws -> PrimeJob {
    let row = try run.ledger.snapshotRow(id: user.id)
    let records = try run.ledger.recordsOfEdits(snapshotID: user.id, in: run.row.number)
    return PrimeJob(
      user: user, pipeline: run.pipeline, data: run.data, run: run.row.id,
      now: run.times.org, created: run.now,
      organizationID: try run.ledger.organizationID ?? "",
      lastRunElsewhere: try lastRunElsewhere(), stampKey: try run.stamps().current,
      numberFloor: try numberFloor(user.id), stampEpoch: try run.stamps().epoch,
      carried: try carried(user.id),
      listIDs: try dueListings(row, user.id),
      changed: records.settled, edited: records.open,
      lastRead: try run.ledger.noted(.read(user.id)),
      maxDeletes: run.options.maxDeletes, wide: wide,
      isFromScratch: try run.ledger.noted(.fromScratch)?.contains(user.id) == true,
      preflight: run.preflight,
      report: run.report)
  }

  /// The number of the last run that used another org, such as a sandbox before its refresh.
  private func lastRunElsewhere() throws -> Int64 {
    let organization = try run.ledger.organizationID
    return try run.recoveries().last { recovery in
      recovery.organizationID != nil && recovery.organizationID != organization
    }?.afterRun ?? 0
  }

  /// Returns the lowest number for a new generation.
  ///
  /// An app installs no generation with a lower number than its own, even if an operator has
  /// removed the existing generations, and after a restore the last number is unknown.
  ///
  /// The number also increases by one for each minute since the last known run. Another machine
  /// that started from the same backup, and was lost too, cannot have made more generations than
  /// that on top of its own jump.
  private func numberFloor(_ id: String) throws -> Int {
    let leaps = try run.recoveries().filter(\.mayLackGenerations).map { recovery in
      let minutes = max(0, recovery.time - recovery.known) / 60_000
      return Int(recovery.generations[id] ?? 0) + Self.forgottenGenerations + Int(minutes)
    }
    let last = try run.ledger.snapshotRow(id: id)?.generation ?? 0
    return max(Int(last) + 1, leaps.max() ?? 0)
  }

  /// More generations than a machine could have made since its last backup.
  private static let forgottenGenerations = 1000

  /// Returns the open edits that a user's next generation redelivers.
  private func carried(_ snapshotID: String) throws -> [CarriedEdit] {
    guard run.pipeline.reconcile.returnOpenEdits, snapshotID != SnapshotID.global else { return [] }
    let soups = run.pipeline.stores(of: .user).flatMap { store in
      store.schema.soups.map {
        SoupKey(
          store: StoreKey(scope: .user, storeName: store.storeName), soup: $0.soupName)
      }
    }
    return try CarriedEdits(
      state: run.ledger, syncUps: ReconcileStage.rules(of: run.pipeline),
      mask: run.pipeline.report.reportMask, soups: Set(soups),
      platforms: Set(run.pipeline.platforms.map(\.rawValue))
    ).of(snapshotID)
  }

  /// Returns the `soql` syncs (`PrimeInput.key`) that list the IDs of all their records in this
  /// run.
  ///
  /// This is every seventh run, unless the pipeline says otherwise. A listing is also due if an
  /// operator allowed deletions, or if the org may have forgotten what was deleted since the last
  /// prime.
  private func dueListings(_ row: SnapshotRow?, _ id: String) throws -> Set<String> {
    var due: Set<String> = []
    let isLongAgo = try run.ledger.noted(.primed(id)).map {
      run.now - $0 > Self.deletionsAreKept
    }
    let every =
      isLongAgo == true ? 1 : run.pipeline.prime.runsBetweenListings
    for store in run.pipeline.stores {
      for sync in store.primed {
        let key = PrimeInput.key(store.storeName, sync.syncName)
        let runs = row?.ghostRuns[key]?.int ?? 0
        if run.options.maxDeletes != nil || runs + 1 >= every { due.insert(key) }
      }
    }
    return due
  }

  private func take(
    _ result: Result<PrimeJob.Output, any Error>, of snapshot: PrimeJob
  ) throws {
    switch result {
    case .failure(let error):
      if snapshot.user.id == SnapshotID.global { throw error }
      try people.skip(snapshot: snapshot.user.id, username: snapshot.user.username, error)
    case .success(let output):
      try take(output)
      let isMisled = snapshot.pool?.misledReaders.contains(snapshot.user.id) == true
      if snapshot.isFromScratch, !output.isHeld, !isMisled {
        let others = try run.ledger.noted(.fromScratch)?.subtracting([snapshot.user.id])
        try run.ledger.store(others ?? [], as: .fromScratch)
      }
    }
  }

  private func take(_ output: PrimeJob.Output) throws {
    let outcome = output.outcome
    if let lacking = output.lacking {
      run.findings.add(lacking, of: output.user.username, as: .user)
    }
    for warning in outcome.warnings { run.warn("\(output.user.username): \(warning)") }
    if outcome.guardTripped { run.summary.findings.insert(.guardTripped) }
    if outcome.isIncomplete { run.summary.findings.insert(.incompleteData) }
    let soups = outcome.soups.map {
      PrimedSoup(
        soup: $0.soup, fetched: $0.fetched, written: $0.written, unchanged: $0.unchanged,
        removed: $0.ghosts, total: $0.total)
    }
    try noteFindings(output)
    // Unpublished changes are fetched again, and include no return.
    if !output.isHeld { try save(output) }
    run.summary.snapshots.removeAll { $0.id == output.user.id }
    run.summary.snapshots.append(
      RunSummary.Snapshot(
        id: output.user.id, username: output.user.username, generation: output.generation,
        changed: outcome.changed, soups: soups))
    run.report(
      .snapshotPrimed(
        snapshot: output.user.id, username: output.user.username, generation: output.generation,
        changed: outcome.changed, soups: soups))
  }

  private func save(_ output: PrimeJob.Output) throws {
    let id = output.user.id
    var row =
      try run.ledger.snapshotRow(id: id)
      ?? SnapshotRow(
        id: id, userID: id == SnapshotID.global ? nil : id, username: output.user.username)
    var runs = row.ghostRuns.object ?? [:]
    for key in output.outcome.cursors.keys.sorted() {
      var count = output.outcome.listed.contains(key) ? 0 : (runs[key]?.int ?? 0) + 1
      // A held deletion is checked in every run until an operator decides.
      if output.outcome.refused.contains(key) { count = Self.longOverdue }
      runs[key] = .number(String(count))
    }
    row.ghostRuns = .object(runs)
    row.username = output.user.username
    row.generation = Int64(output.generation)
    row.included = try run.ledger.includes(snapshotID: id, carried: output.carried)
    try run.ledger.save(row)
    try run.ledger.store(run.now, as: .primed(id))
    try run.ledger.store(run.row.number, as: .primingRun(id))
    // An incomplete listing does not show deletions.
    if output.outcome.isIncomplete { return }
    let read = GenerationRead(generation: output.generation, time: run.times.org)
    try run.ledger.store(read, as: .read(id))
  }
}
