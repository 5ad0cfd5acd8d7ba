import System

/// Requests in transit: their clients no longer wait for them, and they have not arrived yet.
final class HeldRequests: Sendable {
  struct Held: Sendable {
    let visit: RequestContext
    let session: Session?
    let plan: FaultPlan
    /// The time of arrival, by the org's clock.
    let due: Int64
  }

  private let state = Locked<[Held]>([])

  /// Adds a request that arrives later.
  func hold(_ held: Held) { state.withLock { $0.append(held) } }

  var count: Int { state.withLock { $0.count } }

  /// Removes and returns the requests that are due, in the order in which they were sent; all of
  /// them if `now` is nil.
  func take(now: Int64?) -> [Held] {
    state.withLock { held in
      let due = held.filter { one in now.map { one.due <= $0 } ?? true }
      if !due.isEmpty { held.removeAll { one in now.map { one.due <= $0 } ?? true } }
      return due
    }
  }
}
