import MobileSync
import Snapshots
import System

// Records that users fetch for each other.
extension PrimeStage {
  /// Returns the pool of the run; nil if no records are shared.
  func makePool(of users: [SnapshotUser]) throws -> RecordPool? {
    let prime = run.pipeline.prime
    guard prime.share != .never, prime.fetchAs == .user, users.count > 1, !run.options.isDryRun
    else { return nil }
    let syncs = run.pipeline.stores(of: .user).flatMap(\.primed).count { $0.mayShare(prime.share) }
    return try RecordPool(
      prime.share, in: run.data.path,
      start: run.times.org - Int64(prime.overlapSeconds) * 1000, syncs: max(1, syncs),
      isWatched: true)
  }

  /// Records the users whose stores have records of a user who turned out to read them differently.
  ///
  /// It is recorded before any user continues, so that an interrupted run does not leave them as
  /// they are.
  func noteMisled(_ pool: RecordPool) throws {
    let dissolved = pool.unlike.count
    let (misled, known) = (pool.misledReaders, try run.ledger.noted(.fromScratch) ?? [])
    if !misled.isSubset(of: known) {
      try run.ledger.store(known.union(misled), as: .fromScratch)
    }
    pool.noted(dissolved)
  }

  /// Reports what was shared, and primes the users again whose stores have records of a user who
  /// turned out to read them differently.
  func finish(_ pool: RecordPool, _ jobs: [PrimeJob]) async throws {
    let counts = pool.counts
    run.summary.sharedRecords = counts.used - counts.fetched
    if pool.isFull {
      run.warn("the disk took no more records to share, so users fetched the others separately")
    }
    for unlike in pool.unlike {
      run.summary.findings.insert(.unlikeRecords)
      run.warn(
        "users who have the same description of \(unlike.object) read its field \(unlike.field) differently; "
          + "the records of \(unlike.object) were fetched for each user")
    }
    let misled = pool.misledReaders
    let again = jobs.filter { misled.contains($0.user.id) }.map { job in
      var job = job
      (job.pool, job.isFromScratch) = (nil, true)
      return job
    }
    if !again.isEmpty { try await prime(again, nil) }
  }
}
