import JSON
import Salesforce
import System

// Lookups in the recycle bin.
extension RecordReader {
  /// Returns records by 18-character ID, whether deleted or not, with `IsDeleted` and those of
  /// `fields` that the object has.
  ///
  /// Purged records, and records that neither the reader nor the prover sees, are missing.
  ///
  /// Any user who sees a record in the recycle bin verifies its deletion.
  package func withBin(
    _ sobject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [String: JSONObject] {
    var found: [String: JSONObject] = [:]
    for asker in [prover, self].compactMap(\.self) {
      let describe = try await asker.describe(sobject)
      // An object without this field has no recycle bin.
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
