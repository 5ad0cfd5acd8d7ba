import JSON
import Ledger
import MobileSync
import Salesforce
import Snapshots
import System

/// Primes the snapshots: writes an order for each from what the ledger knows, has them primed, and
/// records the results.
struct PrimeStage {
  let run: RunContext
  private var people: PipelineUsers { PipelineUsers(run: run) }

  /// Fetches the changes of every snapshot, several concurrently, and publishes new generations.
  ///
  /// If workers do that, only writes the orders, or collects the results.
  func perform() async throws {
    if run.options.part == .collect { return try await collect() }
    try await PreflightStage(run: run).perform(before: .prime)
    let users = try await people.listed()
    let orders = try orders(for: users)
    let before = try run.ledger.noted(.wideCalls)
    let work = PrimeWork(
      pipeline: run.pipeline, data: run.data, access: run.access,
      wide: WideCalls(stored: before), preflight: run.preflight, report: run.report)
    if run.options.isDryRun {
      return try await PrimePlan(run: run, users: users.count).make(orders.map(work.job))
    }
    if run.options.part == .orders {
      return try await RunOrders(run: run).write(orders, by: work, wide: before)
    }
    try await work.perform(orders, isFirst: before == nil, for: self)
    try keep(work.wide.stored, before: before)
    try finish(isWhole: run.options.users.isEmpty)
  }

  private func collect() async throws {
    guard let list = try run.ledger.notedOrders() else { throw RunOrders.nothingToCollect }
    if let wide = try await RunResults(run: run, stage: self).collect(list) {
      try run.ledger.store(wide, as: .wideCalls)
    }
    try finish(isWhole: list.isWhole)
  }

  /// Stores what was learned about calls with several parts.
  private func keep(_ learned: String?, before: String?) throws {
    let learned = learned ?? "{}"
    if learned != before ?? "{}" { try run.ledger.store(learned, as: .wideCalls) }
  }

  private func finish(isWhole: Bool) throws {
    run.summary.snapshots.sort { $0.id < $1.id }
    PreflightStage(run: run).tell()
    // Every user was tried, so earlier findings about skipped users are outdated.
    if isWhole {
      for kind in Self.primeFindings { try run.ledger.settleFindings(kind, by: run.row.id) }
    }
  }

  // MARK: orders

  /// Returns the orders for the global stores and for users, in the order of priming.
  private func orders(for users: [SnapshotUser]) throws -> [PrimeOrder] {
    var orders: [PrimeOrder] = []
    if !run.pipeline.stores(of: .global).isEmpty, run.options.users.isEmpty {
      orders.append(
        try order(for: SnapshotUser(id: SnapshotID.global, username: SnapshotID.global)))
    }
    if !run.pipeline.stores(of: .user).isEmpty { orders += try inTurn(users).map(order) }
    return orders
  }

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
  private func noteCutOff(_ user: SnapshotUser, _ error: any Error) throws {
    guard !Task.isCancelled, user.id != SnapshotID.global,
      PipelineError(describing: error).kind == .tryLater
    else { return }
    try run.ledger.store(run.now, as: .cutOff(user.id))
  }

  /// The findings that a prime of a snapshot creates or clears.
  private static let primeFindings: [Finding.Kind] = [.userSkipped, .incomplete, .removalsHeld]

  /// Records the findings of a primed snapshot; earlier ones are closed.
  private func noteFindings(_ output: PrimeOutput) throws {
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

  private func order(for user: SnapshotUser) throws -> PrimeOrder {
    let id = user.id
    let row = try run.ledger.snapshotRow(id: id)
    let records = try run.ledger.recordsOfEdits(snapshotID: id, in: run.row.number)
    let carried = try carried(id)
    let newest = try run.data.generations(of: id).last ?? 0
    let number = max(newest + 1, try numberFloor(id))
    let organization = try run.ledger.organizationID ?? ""
    let (stamps, epoch) = (try run.stamps().current, try run.stamps().epoch)
    return PrimeOrder(
      user: user, run: run.row.id, now: run.times.org, created: run.now,
      organizationID: organization, lastRunElsewhere: try lastRunElsewhere(), number: number,
      stampEpoch: epoch,
      stampIDs: [number, number + 1].reduce(into: [:]) { ids, number in
        for platform in run.pipeline.platforms {
          ids[number, default: [:]][platform] =
            Provenance(
              org: organization, user: id == SnapshotID.global ? Provenance.globalUser : id,
              pipeline: run.pipeline.name, generation: number, platform: platform, key: stamps,
              epoch: epoch
            ).stampID
        }
      },
      carried: carried,
      included: try run.ledger.includes(snapshotID: id, carried: Set(carried.map(\.edit))),
      listIDs: try dueListings(row, id), changed: records.settled, edited: records.open,
      lastRead: try run.ledger.noted(.read(id)), maxDeletes: run.options.maxDeletes,
      isFromScratch: try run.ledger.noted(.fromScratch)?.contains(id) == true)
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

  private func take(_ output: PrimeOutput, of order: PrimeOrder) throws {
    let outcome = output.outcome
    if let lacking = output.lacking {
      run.findings.add(lacking, of: output.user.username, as: .user)
    }
    for warning in outcome.warnings { run.warn("\(output.user.username): \(warning)") }
    if outcome.guardTripped { run.summary.findings.insert(.guardTripped) }
    if outcome.isIncomplete { run.summary.findings.insert(.incompleteData) }
    let soups = outcome.primedSoups
    try noteFindings(output)
    // Unpublished changes are fetched again, and include no return.
    if !output.isHeld { try save(output, of: order) }
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

  private func save(_ output: PrimeOutput, of order: PrimeOrder) throws {
    let id = output.user.id
    var row =
      try run.ledger.snapshotRow(id: id)
      ?? SnapshotRow(
        id: id, userID: id == SnapshotID.global ? nil : id, username: output.user.username)
    var runs = row.ghostRuns.object ?? [:]
    // Results that are collected again are those of one run.
    let isNews = try run.ledger.noted(.primingRun(id)) != run.row.number
    for key in output.outcome.cursors.keys.sorted() {
      let before = runs[key]?.int ?? 0
      var count = output.outcome.listed.contains(key) ? 0 : before + (isNews ? 1 : 0)
      // A held deletion is checked in every run until an operator decides.
      if output.outcome.refused.contains(key) { count = Self.longOverdue }
      runs[key] = .number(String(count))
    }
    row.ghostRuns = .object(runs)
    row.username = output.user.username
    row.generation = Int64(output.generation)
    row.included = order.included
    // Written to the disk at once.
    try run.ledger.connection.transaction {
      try run.ledger.save(row)
      try run.ledger.store(run.now, as: .primed(id))
      try run.ledger.store(run.row.number, as: .primingRun(id))
      if let readingClass = output.readingClass {
        try run.ledger.store(readingClass, as: .readingClass(id))
      }
      // An incomplete listing does not show deletions.
      if output.outcome.isIncomplete { return }
      let read = GenerationRead(generation: output.generation, time: order.now)
      try run.ledger.store(read, as: .read(id))
    }
  }
}

extension PrimeStage: PrimeWork.Receiver {
  func take(_ primed: PrimeWork.Primed) throws {
    let user = primed.order.user
    switch primed.result {
    case .failure(let error):
      if !primed.hadNoRequests { try noteCutOff(user, error) }
      if primed.order.isGlobal { throw error }
      try people.skip(snapshot: user.id, username: user.username, error)
    case .success(let output):
      try take(output, of: primed.order)
      if primed.order.isFromScratch, !output.isHeld, !primed.isMisled {
        let others = try run.ledger.noted(.fromScratch)?.subtracting([user.id])
        try run.ledger.store(others ?? [], as: .fromScratch)
      }
    }
  }

  func take(_ shared: PrimeWork.Shared) {
    run.summary.sharedRecords += shared.records
    if shared.isFull {
      run.warn("the disk took no more records to share, so users fetched the others separately")
    }
    for unlike in shared.unlike {
      run.summary.findings.insert(.unlikeRecords)
      run.warn(
        "users who have the same description of \(unlike.object) read its field \(unlike.field) differently; "
          + "the records of \(unlike.object) were fetched for each user")
    }
  }

  /// Records misled users, so that an interrupted run does not leave them as they are.
  func note(misled: Set<String>) throws {
    let known = try run.ledger.noted(.fromScratch) ?? []
    if !misled.isSubset(of: known) {
      try run.ledger.store(known.union(misled), as: .fromScratch)
    }
  }
}
