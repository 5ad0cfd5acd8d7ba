import System

/// The fate of a record that cannot be read.
package enum RecordFate: Sendable, Hashable {
  /// The record is in the recycle bin.
  case deleted
  /// The record was merged into another.
  case merged(into: String)
  /// The record exists, or its fate is unknown: hidden, purged, or not an ID of this object.
  case unproved
}

extension Session {
  /// The fates of records that cannot be read.
  ///
  /// Only `queryAll` shows a deletion; absence alone does not.
  ///
  /// The result has an entry for every ID.
  package func fates(
    of ids: [String], _ describe: Describe
  ) async throws(OrgError) -> [String: RecordFate] {
    var fates: [String: RecordFate] = [:]
    var byLongID: [String: [String]] = [:]
    for id in ids {
      fates[id] = .unproved
      if let long = id.recordID18 { byLongID[long, default: []].append(id) }
    }
    guard !byLongID.isEmpty else { return fates }
    let merges = describe.field("MasterRecordId") != nil
    let columns = merges ? "Id, IsDeleted, MasterRecordId" : "Id, IsDeleted"
    for part in byLongID.keys.sorted().parts(of: RequestLimits.listedValues) {
      let soql =
        "SELECT \(columns) FROM \(describe.name) WHERE Id IN (\(SOQLLiteral.list(part)))"
      for record in try await queryAllRecords(soql, all: true) {
        guard let id = record["Id"]?.string?.recordID18,
          record["IsDeleted"]?.bool == true
        else { continue }
        let master = record["MasterRecordId"]?.string?.recordID18
        for name in byLongID[id] ?? [] {
          fates[name] = master.map { .merged(into: $0) } ?? .deleted
        }
      }
    }
    return fates
  }
}
