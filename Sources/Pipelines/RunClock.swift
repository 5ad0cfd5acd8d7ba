import Ledger
import Snapshots

/// The clock by which runs, returns, generations and bundles are ordered.
///
/// It is the org's, and never goes back: what a device brings back was made in the knowledge of what was taken
/// before its bundle was made, and of nothing later. So each run stands after every run before it that asked the
/// org, even where the org's clock was put back, or this machine's is behind.
struct RunClock {
  private let ledger: LedgerDatabase

  /// The clock of a ledger.
  init(_ ledger: LedgerDatabase) { self.ledger = ledger }

  /// The time of a run that begins at `now`, in ms of the org's time or of this machine's.
  func time(at now: Int64) throws -> Int64 {
    guard let last = try ledger.lastOrgTime() else { return now }
    return max(now, last + 1)
  }

  /// When returns come that a run takes, which died and goes on at `now` with its own time.
  ///
  /// What it published before it died bears that time, and nothing of what is taken now was known then.
  func arrivals(of run: RunRow, at now: Int64, _ data: DataDirectory) throws -> Int64 {
    let hasPublished = try data.snapshots().contains { id in
      let directory = SnapshotDirectory(path: data.snapshot(id))
      guard let newest = try data.generations(of: id).last,
        let record = try? directory.record(of: newest)
      else { return false }
      return record.run == run.id
    }
    guard hasPublished else { return run.now }
    return max(try time(at: now), run.now + 1)
  }
}

/// What time it is for a run beside its own clock, which gives order.
struct RunTimes: Sendable {
  /// The org's time when this began, or this machine's where the org is not asked: what the org says of its
  /// records is compared with it, and nothing of ours is ordered by it.
  let org: Int64
  /// When the returns come that it takes.
  let arrivals: Int64
}
