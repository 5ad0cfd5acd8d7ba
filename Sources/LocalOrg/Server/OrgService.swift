import Synchronization
import System

/// What the resources of a served org know of their server: how it is served, since when, and how many calls of
/// the day are used.
final class OrgService: Sendable {
  let options: OrgServer.Options
  /// The org's time at the start, in milliseconds; the schema is as old.
  let startedAt: Int64
  private let calls = Atomic<Int>(0)
  /// The last few descriptions of objects, by what they depend on.
  private let descriptions = Locked<[String: [UInt8]]>([:])

  init(_ options: OrgServer.Options, startedAt: Int64) {
    (self.options, self.startedAt) = (options, startedAt)
  }

  /// How many calls of the day are used.
  func usage() -> Int { calls.load(ordering: .relaxed) }

  /// Counts a call; answers whether it was one too many.
  func exceedsLimit() -> Bool {
    calls.wrappingAdd(1, ordering: .relaxed).newValue > options.dailyLimit
  }

  /// The description of an object that depends on nothing but `key`, made where it is not known.
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
