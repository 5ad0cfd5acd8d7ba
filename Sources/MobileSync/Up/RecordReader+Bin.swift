import JSON
import Salesforce
import System

// The recycle bin: records that are there no more, with what they held.
extension RecordReader {
  /// Records whether they are deleted or not, by their 18 characters, with `IsDeleted` and those of `fields` that
  /// the object has; what is purged, and what the reader sees as little as the prover, is missing.
  ///
  /// That a record is in the recycle bin is proved by whoever sees it there.
  package func withBin(
    _ sobject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [String: JSONObject] {
    var found: [String: JSONObject] = [:]
    for asker in [prover, self].compactMap(\.self) {
      let describe = try await asker.describe(sobject)
      // An object without the field has no recycle bin.
      guard describe.field("IsDeleted") != nil else { continue }
      let missing = Set(ids.compactMap(\.recordID18)).filter { found[$0] == nil }.sorted()
      let names = Set(["Id", "IsDeleted"] + fields.filter { describe.field($0) != nil }).sorted()
      for part in missing.parts(of: RequestLimits.listedValues) {
        let rows = try await asker.session.queryAllRecords(
          """
          SELECT \(names.joined(separator: ", ")) FROM \(describe.name) \
          WHERE Id IN (\(SOQLLiteral.list(part)))
          """, all: true)
        for case let row? in rows.map(\.object) {
          if let id = row["Id"]?.string?.recordID18 { found[id] = row }
        }
      }
    }
    return found
  }
}
