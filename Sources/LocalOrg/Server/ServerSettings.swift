import Synchronization

/// What the resources of a served org know of their server.
final class ServerSettings: Sendable {
  let dailyLimit: Int
  let primingPageSize: Int
  let childPageSize: Int
  let endsChildLocators: Bool
  let isStrict: Bool
  let compresses: Bool
  let bulkPageSize: Int
  let bulkRuns: Int?
  /// The org's time at the start, in milliseconds; the schema is as old.
  let startedAt: Int64
  private let calls = Atomic<Int>(0)

  init(_ options: OrgServer.Options, startedAt: Int64) {
    dailyLimit = options.dailyLimit
    primingPageSize = options.primingPageSize
    childPageSize = options.childPageSize
    endsChildLocators = options.endsChildLocators
    isStrict = options.isStrict
    compresses = options.compresses
    bulkPageSize = options.bulkPageSize
    bulkRuns = options.bulkRuns
    self.startedAt = startedAt
  }

  /// How many calls of the day are used.
  func usage() -> Int { calls.load(ordering: .relaxed) }

  /// Counts a call; answers whether it was one too many.
  func exceedsLimit() -> Bool {
    calls.wrappingAdd(1, ordering: .relaxed).newValue > dailyLimit
  }
}
