import Ledger
import Snapshots

/// The clock that orders runs, returns, generations and bundles.
///
/// It is the org's clock, but never goes back. A returned edit was made with knowledge of what was
/// ingested before its bundle was made, and of nothing later. Each run is therefore later than
/// every earlier run that contacted the org, even if the org's clock was set back or this machine's
/// clock is behind.
struct RunClock {
  private let ledger: LedgerDatabase

  init(_ ledger: LedgerDatabase) { self.ledger = ledger }

  /// Returns the time of a run that starts at `now`, in ms, by the org's clock or this machine's.
  func time(at now: Int64) throws -> Int64 {
    guard let last = try ledger.lastOrgTime() else { return now }
    return max(now, last + 1)
  }

  /// Returns the arrival time of the returns taken by a run that was interrupted and is resumed at
  /// `now` with its own time.
  ///
  /// What it published before the interruption has the run's time, and was made without the returns
  /// taken now.
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

/// The times of a run other than the one that orders it.
struct RunTimes: Sendable {
  /// The org's time at the start, or this machine's if the org is not contacted.
  ///
  /// It is compared with the org's dates, and orders nothing of ours.
  let org: Int64
  /// The arrival time of the returns that the run takes.
  let arrivals: Int64
}
