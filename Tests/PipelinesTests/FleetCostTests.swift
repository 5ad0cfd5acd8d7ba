import LocalOrg
import MobileSync
import Pipelines
import Salesforce
import System
import TestSupport
import Testing

/// What a first prime of many users costs who see mostly the same records, by the org's log.
@Suite(.serialized) struct FleetCostTests {
  static let fields = [
    "FirstName", "LastName", "Salutation", "Title", "Department", "Phone", "MobilePhone", "Email",
    "MailingCity",
  ]

  /// The size of a fleet.
  struct Size {
    let users: Int
    /// The contacts that a user sees.
    let records: Int
    /// The contacts that all users see, and those that each user alone sees.
    var shared: Int { records * 9 / 10 }
    var own: Int { records - shared }
    var distinct: Int { shared + users * own }
  }

  private static let size = Size(
    users: CampaignSize.fleetUsers.count, records: CampaignSize.fleetRecords.count)

  @Test(arguments: FleetScene.Kind.allCases)
  func `a fleet costs its distinct records`(_ kind: FleetScene.Kind) async throws {
    try await check(kind, Self.size, Self.fields)
  }

  @Test(arguments: FleetScene.Kind.allCases)
  func `a field of each user's own costs no call more`(_ kind: FleetScene.Kind) async throws {
    let size = Size(
      users: min(Self.size.users, CampaignSize.fleetUsers.count(at: .ci)),
      records: min(Self.size.records, CampaignSize.fleetRecords.count(at: .ci)))
    // The values of the own field are read by each user: with the list, or for the records that
    // others fetch.
    let values = size.users * size.records - (kind == .soql ? 0 : size.distinct)
    try await check(kind, size, Self.fields + ["Tag__c"], more: values)
  }

  /// Compares the cost with that of users who fetch all records; `more` is the number of records of
  /// which only the own fields are fetched.
  private func check(
    _ kind: FleetScene.Kind, _ size: Size, _ fields: [String], more: Int = 0
  ) async throws {
    let scene = try FleetScene(users: size.users, kind, fields: fields)
    if more > 0 { try FleetScene.tag(scene.world.org, "$User.LastName & '/' & Phone") }
    try scene.fill(shared: size.shared, own: size.own)
    let (summary, pooled) = try await scene.run(kind.mode)
    #expect(summary.exitStatus == .done && summary.warnings.isEmpty, "\(summary.warnings)")
    // The direct way sends each record to each of its users; the users are records too.
    let direct = try await scene.run(.never).totals
    #expect(direct.records == size.users * size.records + size.users)
    print(
      "FleetCostTests: \(kind), \(size.users) × \(size.records), \(fields.count) fields: "
        + "\(pooled.calls) calls, \(pooled.records) records, \(pooled.bytes) bytes; "
        + "each for itself \(direct.calls), \(direct.records), \(direct.bytes)")
    #expect(pooled.calls <= mostCalls(kind, size))
    #expect(pooled.records <= mostRecords(size) + more)
    #expect(pooled.bytes <= (more > 0 ? direct.bytes : mostBytes(kind, size, direct.bytes)))
    for user in scene.users.spread(4) {
      let rows = try scene.rows(of: user, kind.mode)
      #expect(rows.count == size.records)
      #expect(try rows == scene.rows(of: user, .never))
    }
  }

  private static func times(_ number: Int, of size: Int) -> Int { (number + size - 1) / size }

  /// For each user the calls that list, and those that fetch what that user alone lists; the calls
  /// that fetch what is shared; and those of the first user, who learns how to divide a list.
  private func mostCalls(_ kind: FleetScene.Kind, _ size: Size) -> Int {
    let (lists, slack) =
      kind == .soql
      ? (Self.times(size.records, of: 5 * IDRanges.expected), 1.15)
      : (Self.times(size.records, of: RequestLimits.retrieve), 1)
    let fetches = Self.times(size.own, of: 5 * RequestLimits.retrieve)
    return Int(Double((lists + fetches) * size.users) * slack)
      + Self.times(size.shared, of: 5 * RequestLimits.retrieve) + 6
  }

  /// The users, the distinct records and the samples.
  private func mostRecords(_ size: Size) -> Int {
    size.users + size.distinct + (size.users - 1) * RecordPool.sampleSize
  }

  /// Half of the direct way's bytes, and 50 MB by queries and 36 MB by briefcases for 50 users of
  /// 5,000 records.
  ///
  /// In a smaller fleet fewer records are shared.
  private func mostBytes(_ kind: FleetScene.Kind, _ size: Size, _ direct: Int) -> Int {
    let listed = size.users * size.records * (kind == .soql ? 200 : 144)
    return size.users < 50 ? direct * 6 / 10 : min(direct / 2, listed)
  }
}
