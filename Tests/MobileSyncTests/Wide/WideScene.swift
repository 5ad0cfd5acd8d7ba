import JSON
import LocalOrg
import MobileSync
import SmartStore
import System
import Testing

/// An org with more accounts than one page has, and snapshots of a user who sees all of them.
struct WideScene {
  static let sync = "userstore/down"
  static let ranges = sync + " Account"
  private static let query = "SELECT Id, Name FROM Account"
  let org: SyncedOrg
  let count: Int

  /// A fault of calls, how often it strikes, and the calls and separate requests that follow.
  struct Failure: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let action: Faults.Action
    let times: Int
    let composites: Int
    let separate: Int

    init(
      _ description: String, _ action: Faults.Action, times: Int = 1, composites: Int,
      separate: Int
    ) {
      testDescription = description
      self.action = action
      self.times = times
      self.composites = composites
      self.separate = separate
    }
  }

  init(accounts count: Int) throws {
    org = try SyncedOrg()
    self.count = count
    try org.org.seedBulk(object: "Account", count: count, owner: org.admin.username)
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 50_000)], users: [org.admin.username])
  }

  func soql(_ wide: WideCalls?) -> Snapshot {
    snapshot(.soql("down", Self.query, into: "accounts"), wide)
  }

  func briefcase(_ wide: WideCalls?, perRetrieve: Int = 2000) -> Snapshot {
    let info = BriefcaseObjectInfo(
      soupName: "accounts", sobjectType: "Account", fieldlist: ["Name"])
    return snapshot(.briefcase("down", [info], perRetrieve: perRetrieve), wide)
  }

  private func snapshot(_ sync: SyncDefinition, _ wide: WideCalls?) -> Snapshot {
    let snapshot = Snapshot(org, soups: [.sample("accounts", "Name")], syncs: [sync])
    snapshot.wide = wide
    return snapshot
  }

  /// Knowledge with which the first call already has as many parts as an org accepts.
  static func known(_ clock: (@Sendable () -> UInt64)? = nil) -> WideCalls {
    let wide = clock.map { WideCalls(clock: $0) } ?? WideCalls()
    for content in WideCalls.Content.allCases { wide.width(sync, content).note(bytes: 1000) }
    return wide
  }

  /// The requests of each kind that a prime sends, without those at the start of a session.
  func requests(_ body: () async throws -> Void) async throws -> [LocalOrg.RequestKind: Int] {
    let before = org.server.log.count
    try await body()
    return org.server.log.entries(after: before).reduce(into: [:]) { counts, entry in
      guard ![.token, .versions, .userinfo].contains(entry.kind) else { return }
      counts[entry.kind, default: 0] += 1
    }
  }
}

extension Snapshot {
  /// The elements on all platforms without what depends on the order of their arrival.
  func rows(_ soup: String = "accounts") throws -> [[String]] {
    try Platform.allCases.map { platform in
      try elements(soup, platform).compactMap { element in
        guard var object = element.object else { return nil }
        for name in ["_soupEntryId", "_soupLastModifiedDate"] { object[name] = nil }
        return JSONValue.object(object).text
      }.sorted()
    }
  }
}

/// A clock that advances by the same time whenever it is read.
final class PacedClock: Sendable {
  private let time = Locked<UInt64>(0)
  private let step: UInt64

  init(seconds: UInt64) { step = seconds * 1_000_000_000 }

  @Sendable func read() -> UInt64 {
    time.withLock { time in
      time += step
      return time
    }
  }
}
