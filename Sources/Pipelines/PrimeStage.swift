import Snapshots
import JSON
import Ledger
import MobileSync
import Reconciliation
import Salesforce

/// Fetches what changed for every snapshot, several at a time, and publishes new generations.
struct PrimeStage {
  let run: RunContext
  private var people: PipelineUsers { PipelineUsers(run: run) }

  /// Fetches what changed for every snapshot, several at a time, and publishes new generations.
  func perform() async throws {
    try await PreflightStage(run: run).perform(before: .prime)
    let users = try await people.listed()
    var jobs: [PrimeJob] = []
    if !run.pipeline.stores(of: .global).isEmpty, run.options.users.isEmpty {
      jobs.append(try job(for: SnapshotUser(id: SnapshotID.global, username: SnapshotID.global)))
    }
    if !run.pipeline.stores(of: .user).isEmpty {
      jobs += try inTurn(users).map { try job(for: $0) }
    }
    if run.options.isDryRun { return try await PrimePlan(run: run, users: users.count).make(jobs) }
    try await withThrowingTaskGroup(of: (PrimeJob, Result<PrimeJob.Output, any Error>).self) {
      group in
      var waiting = jobs[...]
      var threads = PrimeThreads(run.pipeline.limits.jobs)
      // Who began when nothing was left was not cut off: his turn is still to come.
      var hasNothingLeft: Set<String> = []
      func start() {
        guard let next = waiting.popFirst() else { return }
        let access = run.access
        let requestsLeft = access.org.requestsLeft
        if let requestsLeft, requestsLeft <= 0 { hasNothingLeft.insert(next.user.id) }
        run.report(
          .snapshotStarted(
            snapshot: next.user.id, username: next.user.username,
            number: jobs.count - waiting.count, of: jobs.count,
            requestsLeft: requestsLeft))
        let thread = threads.take(for: next.user.id)
        group.addTask {
          do { return (next, .success(try await next.prime(with: access, on: thread))) } catch {
            return (next, .failure(error))
          }
        }
      }
      func startMore() { while threads.used < mostUnderWay, !waiting.isEmpty { start() } }
      startMore()
      while let (snapshot, result) = try await group.next() {
        threads.give(backOf: snapshot.user.id)
        if case .failure(let error) = result, !hasNothingLeft.contains(snapshot.user.id) {
          try noteCutOff(snapshot, error)
        }
        try take(result, of: snapshot)
        startMore()
      }
    }
    run.summary.snapshots.sort { $0.id < $1.id }
    PreflightStage(run: run).tell()
    // Everybody was tried: who was skipped before is served, skipped again, or no user any more.
    if run.options.users.isEmpty {
      for kind in Self.primeFindings { try run.ledger.settleEarlierFindings(kind, by: run.row.id) }
    }
  }

  /// How many snapshots may be under way: more than are worked on, so that the org is asked for the next ones while
  /// stores are written, and while one user's answer is waited for.
  ///
  /// Where few requests are left, no more than are worked on: all of them would be cut off half-way.
  private var mostUnderWay: Int {
    let jobs = run.pipeline.limits.jobs
    let most = jobs == 1 ? 1 : jobs + run.pipeline.org.concurrency
    let isShort = run.access.org.requestsLeft.map { $0 < most * Self.requestsOfOne } ?? false
    return isShort ? jobs : most
  }

  /// More requests than the prime of most users takes.
  private static let requestsOfOne = 100

  /// The users in the order in which they are primed: those first whose last turn is longest ago, of the same
  /// night those last whom the limit of requests cut off.
  ///
  /// So one who needs all of it does not keep it from the others night after night, nor they from him.
  private func inTurn(_ users: [SnapshotUser]) throws -> [SnapshotUser] {
    typealias Turn = (since: Int64, isCutOff: Int, user: SnapshotUser)
    let turns = try users.map { user -> Turn in
      let primed = try run.ledger.primedAt(snapshotID: user.id) ?? 0
      let cutOff = try run.ledger.cutOffAt(snapshotID: user.id) ?? 0
      return (max(primed, cutOff), cutOff > primed ? 1 : 0, user)
    }
    return turns.sorted {
      ($0.since, $0.isCutOff, $0.user.id) < ($1.since, $1.isCutOff, $1.user.id)
    }.map(\.user)
  }

  /// Notes whom the limit of requests has cut off.
  private func noteCutOff(_ snapshot: PrimeJob, _ error: any Error) throws {
    guard !Task.isCancelled, snapshot.user.id != SnapshotID.global,
      PipelineError(describing: error).kind == .tryLater
    else { return }
    try run.ledger.noteCutOff(snapshotID: snapshot.user.id, at: run.now)
  }

  /// What a prime of a snapshot finds, or finds no longer.
  private static let primeFindings: [Finding.Kind] = [.userSkipped, .incomplete, .removalsHeld]

  /// Keeps what a person should know of a primed snapshot; what was said of it before is settled.
  private func noteFindings(_ output: PrimeJob.Output) throws {
    let outcome = output.outcome
    let subject = output.user.username.lowercased()
    for kind in Self.primeFindings {
      try run.ledger.settleFindings(kind, subject: subject, by: run.row.id)
    }
    let unreadable = outcome.soups.filter { !$0.unreadable.isEmpty }.map {
      "\($0.unreadable.count) records of \"\($0.soup)\" were listed and could not be read"
    }
    var detail: JSONObject = [
      "snapshot": .string(output.user.id), "username": .string(output.user.username),
      "generation": JSONValue(output.generation),
    ]
    detail["reason"] = .string((outcome.warnings + unreadable).joined(separator: "; "))
    if outcome.hadRuleErrors || !unreadable.isEmpty { try run.note(.incomplete, subject, detail) }
    if outcome.guardTripped { try run.note(.removalsHeld, subject, detail) }
  }

  /// How long `queryAll` can be trusted to name deleted records; the recycle bin keeps them for 15
  /// days.
  private static let deletionsAreKept: Int64 = 10 * 24 * 60 * 60 * 1000

  /// More runs since the last list of all ids than any pipeline waits.
  private static let longOverdue: Int64 = 1_000_000

  private func job(for user: SnapshotUser) throws -> PrimeJob {
    let row = try run.ledger.snapshotRow(id: user.id)
    return PrimeJob(
      user: user, pipeline: run.pipeline, data: run.data, run: run.row.id,
      now: run.times.org, created: run.now,
      organizationID: try run.ledger.organizationID ?? "",
      lastRunElsewhere: try lastRunElsewhere(), stampKey: try run.stamps().current,
      numberFloor: try numberFloor(user.id), stampEpoch: try run.stamps().epoch,
      carried: try carried(user.id),
      listIDs: try dueListings(row, user.id),
      changed: try run.ledger.recordsSettledSincePrime(
        snapshotID: user.id, in: run.row.number),
      lastRead: try row.flatMap { row in
        let generation = Int(row.generation)
        return try run.ledger.readAt(snapshotID: user.id, generation: generation).map {
          (generation, $0)
        }
      },
      maxDeletes: run.options.maxDeletes, preflight: run.preflight, report: run.report)
  }

  /// The number of the last run that was of another org than this one: a sandbox that was refreshed since.
  private func lastRunElsewhere() throws -> Int64 {
    let organization = try run.ledger.organizationID
    return try run.recoveries().last { recovery in
      recovery.organizationID != nil && recovery.organizationID != organization
    }?.afterRun ?? 0
  }

  /// The least number of a new generation: an app installs none with a lower one than it has, also where somebody
  /// has removed the generations that are there, and after a restore nobody knows how far that was.
  ///
  /// It leaps by one for each minute since the last run that is known, too: a machine that began with the same
  /// backup, and is lost as well, has made no more than that beside its own leap.
  private func numberFloor(_ id: String) throws -> Int {
    let leaps = try run.recoveries().filter(\.mayLackGenerations).map { recovery in
      let minutes = max(0, recovery.time - recovery.known) / 60_000
      return Int(recovery.generations[id] ?? 0) + Self.forgottenGenerations + Int(minutes)
    }
    let last = try run.ledger.snapshotRow(id: id)?.generation ?? 0
    return max(Int(last) + 1, leaps.max() ?? 0)
  }

  /// More generations than a machine makes in a hurry.
  private static let forgottenGenerations = 1000

  /// The open edits that a user's next generation carries.
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

  /// The `soql` syncs (`PrimeInput.key`) whose ids are to be listed whole in this run.
  ///
  /// Every seventh run, unless the pipeline says otherwise; and where a person allowed deletions, or
  /// the org may have forgotten what was deleted since the last prime.
  private func dueListings(_ row: SnapshotRow?, _ id: String) throws -> Set<String> {
    var due: Set<String> = []
    let isLongAgo = try run.ledger.primedAt(snapshotID: id).map {
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
    case .success(let output): try take(output)
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
    // What was not published is fetched again; no return is in it.
    if !output.isHeld { try save(output) }
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
      // What the guard kept is looked at in every run until a person decides.
      if output.outcome.refused.contains(key) { count = Self.longOverdue }
      runs[key] = .number(String(count))
    }
    row.ghostRuns = .object(runs)
    row.username = output.user.username
    row.generation = Int64(output.generation)
    row.included = try run.ledger.includes(snapshotID: id, carried: output.carried)
    try run.ledger.save(row)
    try run.ledger.notePrimed(snapshotID: id, at: run.now, run: run.row.number)
    // Of a list that lacks something nobody knows what it would have told.
    if output.outcome.isIncomplete { return }
    try run.ledger.noteRead(snapshotID: id, generation: output.generation, at: run.times.org)
  }
}
