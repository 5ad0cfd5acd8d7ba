import Synchronization

/// What the resources of a served org know of their server: how it is served, since when, and how many calls of
/// the day are used.
final class OrgService: Sendable {
  let options: OrgServer.Options
  /// The org's time at the start, in milliseconds; the schema is as old.
  let startedAt: Int64
  private let calls = Atomic<Int>(0)

  init(_ options: OrgServer.Options, startedAt: Int64) {
    (self.options, self.startedAt) = (options, startedAt)
  }

  /// How many calls of the day are used.
  func usage() -> Int { calls.load(ordering: .relaxed) }

  /// Counts a call; answers whether it was one too many.
  func exceedsLimit() -> Bool {
    calls.wrappingAdd(1, ordering: .relaxed).newValue > options.dailyLimit
  }
}
