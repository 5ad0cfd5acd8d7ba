import JSON
import MobileSync
import Snapshots
import System

/// Primes snapshots by their orders, several concurrently.
///
/// It knows nothing of the ledger: a run and a worker use it alike.
struct PrimeWork: Sendable {
  let pipeline: Pipeline
  let data: DataDirectory
  let access: OrgAccess
  /// What all snapshots know about calls with several parts.
  let wide: WideCalls
  /// The check of the syncs against the org; nil if the org could not be asked.
  let preflight: Preflight?
  let report: @Sendable (RunEvent) -> Void

  /// The result of one order.
  struct Primed {
    let order: PrimeOrder
    let result: Result<PrimeOutput, any Error>
    /// Whether no requests were left when it started, so that it was not cut off.
    let hadNoRequests: Bool
    /// Whether its stores have records of a user who turned out to read them differently.
    let isMisled: Bool
  }

  /// What users fetched for each other.
  struct Shared: Sendable, Equatable {
    /// The number of records that stores have from other users' requests.
    var records = 0
    /// Whether the disk took no more records.
    var isFull = false
    /// The classes whose users turned out to read a record differently.
    var unlike: [RecordPool.Unlike] = []
  }

  /// Takes the results.
  protocol Receiver {
    func take(_ primed: Primed) throws
    func take(_ shared: Shared) throws
    /// Records the users whose stores have records of a user who turned out to read them
    /// differently, before any user continues.
    ///
    /// By default does nothing, for a receiver whose results an interruption discards.
    func note(misled: Set<String>) throws
  }

  /// Returns what primes one snapshot.
  func job(for order: PrimeOrder) -> PrimeJob {
    PrimeJob(
      order: order, pipeline: pipeline, data: data, wide: wide, preflight: preflight,
      report: report)
  }

  /// Primes the snapshots.
  ///
  /// If `isFirst`, nothing is known about their requests.
  func perform(
    _ orders: [PrimeOrder], isFirst: Bool, for receiver: some Receiver
  ) async throws {
    let pool = try makePool(orders)
    let jobs = orders.map { order in
      var job = job(for: order)
      if !order.isGlobal { job.pool = pool }
      return job
    }
    try await prime(jobs, pool, isFirst: isFirst, receiver)
    if let pool { try await finish(pool, jobs, receiver) }
  }

  // MARK: the pool

  /// Returns the pool of the users; nil if no records are shared.
  private func makePool(_ orders: [PrimeOrder]) throws -> RecordPool? {
    let prime = pipeline.prime
    let users = orders.filter { !$0.isGlobal }
    guard prime.share != .never, prime.fetchAs == .user, users.count > 1, let first = users.first
    else { return nil }
    let syncs = pipeline.stores(of: .user).flatMap(\.primed).count { $0.mayShare(prime.share) }
    return try RecordPool(
      prime.share, in: data.path, now: first.now, overlapSeconds: prime.overlapSeconds,
      syncs: max(1, syncs), isWatched: true)
  }

  private func noteMisled(_ pool: RecordPool, _ receiver: some Receiver) throws {
    let dissolved = pool.unlike.count
    try receiver.note(misled: pool.misledReaders)
    pool.noted(dissolved)
  }

  /// Reports what was shared, and primes the users again whose stores have records of a user who
  /// turned out to read them differently.
  private func finish(
    _ pool: RecordPool, _ jobs: [PrimeJob], _ receiver: some Receiver
  ) async throws {
    let counts = pool.counts
    try receiver.take(
      Shared(
        records: counts.used - counts.fetched, isFull: pool.isFull, unlike: pool.unlike))
    let misled = pool.misledReaders
    let again = jobs.filter { misled.contains($0.user.id) }.map { job in
      var job = job
      (job.pool, job.order.isFromScratch) = (nil, true)
      return job
    }
    if !again.isEmpty { try await prime(again, nil, isFirst: false, receiver) }
  }

  // MARK: several at a time

  /// What happens while snapshots are primed.
  private enum Step: Sendable {
    case primed(PrimeJob, Result<PrimeOutput, any Error>)
    /// Users turned out to read records differently.
    case dissolved
    case cancelled
  }

  /// Primes snapshots, several concurrently.
  ///
  /// If nothing is known about their requests, the others wait until the first has listed its
  /// records: it shows them how to divide lists, and which records they need not fetch.
  private func prime(
    _ jobs: [PrimeJob], _ pool: RecordPool?, isFirst: Bool, _ receiver: some Receiver
  ) async throws {
    if !isFirst || jobs.count <= mostUnderWay { pool?.open() }
    var hasFirst = false
    try await withThrowingTaskGroup(of: Step.self) { group in
      var waiting = jobs[...]
      var threads = PrimeThreads(pipeline.limits.jobs)
      // Users who started when no requests were left were not cut off: their turn is next.
      var hasNothingLeft: Set<String> = []
      func start() {
        guard var next = waiting.popFirst() else { return }
        next.isLater = hasFirst
        if next.pool != nil { hasFirst = true }
        let access = access
        let requestsLeft = access.org.requestsLeft
        if let requestsLeft, requestsLeft <= 0 { hasNothingLeft.insert(next.user.id) }
        report(
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
        guard case .primed(let job, let result) = step else {
          if let pool, case .dissolved = step {
            try noteMisled(pool, receiver)
            watch(pool)
          }
          continue
        }
        threads.give(backOf: job.user.id)
        try receiver.take(
          Primed(
            order: job.order, result: result,
            hadNoRequests: hasNothingLeft.contains(job.user.id),
            isMisled: job.pool?.misledReaders.contains(job.user.id) == true))
        if let pool { try noteMisled(pool, receiver) }
        job.pool?.open()
        startMore()
      }
      group.cancelAll()
    }
  }

  /// The number of snapshots in progress.
  ///
  /// It exceeds the number of concurrent requests by two for each thread: while a thread writes one
  /// store and the records of another wait for it, as many requests as allowed are still in flight.
  ///
  /// If few requests are left, it equals the number of threads; otherwise every snapshot would be
  /// cut off halfway.
  private var mostUnderWay: Int {
    let jobs = pipeline.limits.jobs
    let most = jobs == 1 ? 1 : 2 * jobs + access.concurrency
    let isShort = access.org.requestsLeft.map { $0 < most * Self.requestsOfOne } ?? false
    return isShort ? jobs : most
  }

  /// More requests than the prime of a typical user takes.
  private static let requestsOfOne = 100
}

extension PrimeWork.Receiver {
  func note(misled: Set<String>) {}
}
