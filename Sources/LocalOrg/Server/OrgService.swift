import Synchronization
import System

/// The state of a server that the resources use: its options, its start time, and the number of
/// calls made today.
final class OrgService: Sendable {
  let options: OrgServer.Options
  /// The org's time at the start, in milliseconds; it is also the time of the schema.
  let startedAt: Int64
  private let calls = Atomic<Int>(0)
  /// The most recent descriptions of objects, by what they depend on.
  private let descriptions = Locked<[String: [UInt8]]>([:])

  init(_ options: OrgServer.Options, startedAt: Int64) {
    (self.options, self.startedAt) = (options, startedAt)
  }

  /// The number of calls made today.
  func usage() -> Int { calls.load(ordering: .relaxed) }

  /// Counts a call; returns whether it exceeds the limit.
  func exceedsLimit() -> Bool {
    calls.wrappingAdd(1, ordering: .relaxed).newValue > options.dailyLimit
  }

  /// Counts more calls.
  func count(_ more: Int) { calls.wrappingAdd(more, ordering: .relaxed) }

  /// Returns the description of an object, which depends only on `key`; `make` creates it if it is
  /// not cached.
  func description(_ key: String, make: () -> [UInt8]) -> [UInt8] {
    if let known = descriptions.withLock({ $0[key] }) { return known }
    let made = make()
    descriptions.withLock {
      if $0.count >= 64 { $0.removeAll() }
      $0[key] = made
    }
    return made
  }
}
