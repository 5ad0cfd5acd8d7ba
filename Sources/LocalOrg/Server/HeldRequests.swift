import System

/// Requests that are on their way: their clients have given up, and they have not arrived.
final class HeldRequests: Sendable {
  /// One of them.
  struct Held: Sendable {
    let visit: RequestContext
    let session: Session?
    let plan: FaultPlan
    /// When it arrives, by the org's clock.
    let due: Int64
  }

  private let state = Locked<[Held]>([])

  /// Takes a request that arrives later.
  func hold(_ held: Held) { state.withLock { $0.append(held) } }

  /// How many have not arrived.
  var count: Int { state.withLock { $0.count } }

  /// Gives out those that are due, in the order in which they left; all of them where `now` is nil.
  func take(now: Int64?) -> [Held] {
    state.withLock { held in
      let due = held.filter { one in now.map { one.due <= $0 } ?? true }
      if !due.isEmpty { held.removeAll { one in now.map { one.due <= $0 } ?? true } }
      return due
    }
  }
}
