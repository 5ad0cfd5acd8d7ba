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
  static let fields = [
    "FirstName", "LastName", "Salutation", "Title", "Department", "Phone", "MobilePhone", "Email",
    "MailingCity",
  ]
  /// The contacts that all users see, and those that each user alone sees.
  private let shared = Self.records * 9 / 10
  private var own: Int { Self.records - shared }
  private var distinct: Int { shared + Self.users * own }

  @Test(arguments: FleetScene.Kind.allCases)
  func `a fleet costs its distinct records`(_ kind: FleetScene.Kind) async throws {
    let scene = try FleetScene(users: Self.users, kind, fields: Self.fields)
    try scene.fill(shared: shared, own: own)
    let (summary, pooled) = try await scene.run(kind.mode)
    #expect(summary.exitStatus == .done && summary.warnings.isEmpty, "\(summary.warnings)")
    // The direct way sends each record to each of its users; the users are records too.
    let direct = try await scene.run(.never).totals
    #expect(direct.records == Self.users * Self.records + Self.users)
    print(
      "FleetCostTests: \(kind), \(Self.users) × \(Self.records): \(pooled.calls) calls, "
        + "\(pooled.records) records, \(pooled.bytes) bytes; each for itself \(direct.calls), "
        + "\(direct.records), \(direct.bytes)")
    #expect(pooled.calls <= mostCalls(kind))
    #expect(pooled.records <= mostRecords)
    #expect(pooled.bytes <= mostBytes(kind, direct.bytes))
    for user in scene.users.spread(4) {
      let rows = try scene.rows(of: user, kind.mode)
      #expect(rows.count == Self.records)
      #expect(try rows == scene.rows(of: user, .never))
    }
  }

  private static func times(_ number: Int, of size: Int) -> Int { (number + size - 1) / size }

  /// For each user the calls that list, and those that fetch what that user alone lists; the calls
  /// that fetch what is shared; and those of the first user, who learns how to divide a list.
  private func mostCalls(_ kind: FleetScene.Kind) -> Int {
    let (lists, slack) =
      kind == .soql
      ? (Self.times(Self.records, of: 5 * IDRanges.expected), 1.15)
      : (Self.times(Self.records, of: RequestLimits.retrieve), 1)
    let fetches = Self.times(own, of: 5 * RequestLimits.retrieve)
    return Int(Double((lists + fetches) * Self.users) * slack)
      + Self.times(shared, of: 5 * RequestLimits.retrieve) + 6
  }

  /// The users, the distinct records, of which a few may come twice, and the samples.
  private var mostRecords: Int {
    Self.users + distinct + distinct / 50 + (Self.users - 1) * RecordPool.sampleSize
  }

  /// Half of the direct way's bytes, and 50 MB by queries and 36 MB by briefcases for 50 users of
  /// 5,000 records.
  ///
  /// In a smaller fleet fewer records are shared.
  private func mostBytes(_ kind: FleetScene.Kind, _ direct: Int) -> Int {
    let listed = Self.users * Self.records * (kind == .soql ? 200 : 144)
    return Self.users < 50 ? direct * 6 / 10 : min(direct / 2, listed)
  }
}
