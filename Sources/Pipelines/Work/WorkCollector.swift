import MobileSync
import Snapshots
import System

/// Passes on the results of an order's snapshots as they arrive, so that the files of each are
/// written while other snapshots are primed.
final class WorkCollector: PrimeWork.Receiver {
  private let report: @Sendable (RunEvent) -> Void
  private let primed: AsyncStream<PrimeWork.Primed>.Continuation
  private(set) var shared = PrimeWork.Shared()

  init(
    _ primed: AsyncStream<PrimeWork.Primed>.Continuation,
    report: @escaping @Sendable (RunEvent) -> Void
  ) {
    (self.primed, self.report) = (primed, report)
  }

  func take(_ primed: PrimeWork.Primed) throws {
    let user = primed.order.user
    switch primed.result {
    case .failure(let error):
      if Task.isCancelled || PipelineError.isCancellation(error) { throw CancellationError() }
      // The other users would fail in the same way, and another machine may have room.
      if MachineTrouble.isFull(error) { throw error }
      report(
        .snapshotSkipped(
          snapshot: user.id, username: user.username,
          reason: PipelineError(describing: error).description))
    case .success(let output):
      // It is primed again.
      if primed.isMisled { return }
      report(
        .snapshotPrimed(
          snapshot: user.id, username: user.username, generation: output.generation,
          changed: output.outcome.changed, soups: output.outcome.primedSoups))
    }
    self.primed.yield(primed)
  }

  func take(_ shared: PrimeWork.Shared) { self.shared = shared }
}
