import LocalOrg
import MobileSync
import Pipelines
import Salesforce
import System
import TestSupport
import Testing

/// What a first prime of many users costs who see mostly the same records, by the org's log.
@Suite(.serialized) struct FleetCostTests {
  private static let users = CampaignSize.fleetUsers.count
  private static let records = CampaignSize.fleetRecords.count

  @Test(arguments: FleetScene.Kind.allCases)
  func `a fleet costs its distinct records`(_ kind: FleetScene.Kind) async throws {
    let mode: RecordPool.Mode = kind == .soql ? .always : .auto
    let scene = try FleetScene(
      users: Self.users, each: Self.records, kind, share: mode.rawValue)
    let start = Clock.monotonicNanoseconds()
    let (summary, totals) = try await scene.prime()
    let seconds = Double(Clock.monotonicNanoseconds() - start) / 1e9
    #expect(summary.exitStatus == .done && summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(summary.snapshots.map { $0.soups.map(\.total) } == scene.rows)
    let peak = ProcessLimits.highWaterKiB() / 1024
    let kinds = scene.world.server.log.counts.map { "\($0.key) \($0.value)" }.sorted()
    print(
      "FleetCostTests: \(kind), \(scene.users) × \(scene.each): \(totals.calls) calls "
        + "(\(kinds.joined(separator: ", "))), \(totals.records) records, \(totals.ids) ids, "
        + "\(totals.bytes) bytes, \(seconds) s, \(peak) MiB at most")
    #expect(totals.calls <= scene.mostCalls(kind), "\(totals.calls) calls")
    #expect(totals.records <= scene.mostRecords, "\(totals.records) records")
    // The direct way sends each record to each of its users.
    let direct = try FleetScene(users: Self.users, each: Self.records, kind, share: "never")
    let others = try await direct.prime().totals
    #expect(others.records == scene.users * scene.each)
    print("FleetCostTests: \(kind), direct: \(others.calls) calls, \(others.bytes) bytes")
    let share = Double(totals.bytes) / Double(others.bytes)
    #expect(share <= scene.mostBytes(kind), "\(share) of the direct way's bytes")
  }
}

extension FleetScene {
  /// The number of rows in each user's store.
  fileprivate var rows: [[Int]] { (0..<users).map { _ in [each] } }

  private func times(_ number: Int, of size: Int) -> Int { (number + size - 1) / size }

  /// For each user the calls that list, and those that fetch what that user alone lists; the calls
  /// that fetch what is shared; and those of the first user, who learns how to divide a list.
  fileprivate func mostCalls(_ kind: Kind) -> Int {
    let (lists, slack) =
      kind == .soql
      ? (times(each, of: 5 * IDRanges.expected), 1.15)
      : (times(each, of: RequestLimits.retrieve), 1)
    let perUser = Double(lists + times(own, of: 5 * RequestLimits.retrieve)) * slack
    return Int(perUser * Double(users)) + times(shared, of: 5 * RequestLimits.retrieve) + 10
  }

  /// The distinct records, of which a few may come twice, and the samples.
  fileprivate var mostRecords: Int {
    distinct + distinct / 50 + (users - 1) * RecordPool.sampleSize
  }

  /// The share of the direct way's bytes. The descriptions, which are the same either way, weigh
  /// more in a small fleet.
  fileprivate func mostBytes(_ kind: Kind) -> Double {
    users < 50 ? 0.75 : kind == .soql ? 0.5 : 0.36
  }
}
