import JSON
import MobileSync
import Salesforce

/// Reads what the org holds of records.
struct OrgRecords {
  let session: Session
  /// The session that proves deletions; nil where the pipeline names no integration user.
  let integration: Session?

  /// The names of the fields of an object that the session may read.
  func describe(_ sobject: String) async throws(OrgError) -> Describe {
    try await session.describe(sobject)
  }

  /// The records of `ids` with `fields`; those that do not read are missing.
  func read(
    _ sobject: String, ids: [String], fields: [String]
  ) async throws -> [String: JSONObject] {
    var found: [String: JSONObject] = [:]
    for start in stride(from: 0, to: ids.count, by: Session.retrieveLimit) {
      let part = Array(ids[start..<min(start + Session.retrieveLimit, ids.count)])
      let bytes = try await session.retrieve(sobject, ids: part, fields: fields)
      let records: [JSONValue]
      do {
        records = try JSONValue(parsing: bytes).array ?? []
      } catch {
        throw OrgError(
          .nonsense, message: "the retrieved records are not JSON", request: "retrieve \(sobject)")
      }
      for record in records {
        guard let object = record.object, let id = object["Id"]?.string,
          let long = RecordID(id)?.text18
        else { continue }
        found[long] = object
      }
    }
    return found
  }

  /// What became of records that do not read: asked of the recycle bin as the integration user.
  func prove(_ sobject: String, absent ids: [String]) async throws -> [String: ServerRecord] {
    var states = Dictionary(ids.map { ($0, ServerRecord.hidden) }, uniquingKeysWith: { $1 })
    guard let integration, !ids.isEmpty else { return states }
    let describe = try await integration.describe(sobject)
    let merges = describe.field("MasterRecordId") != nil
    let columns = merges ? "Id, IsDeleted, MasterRecordId" : "Id, IsDeleted"
    for start in stride(from: 0, to: ids.count, by: 200) {
      let part = ids[start..<min(start + 200, ids.count)]
      // Ids are proved to be ids before they come here: letters and digits only.
      let list = part.map { "'\($0)'" }.joined(separator: ",")
      let soql = "SELECT \(columns) FROM \(describe.name) WHERE Id IN (\(list))"
      for record in try await integration.queryAllRecords(soql, all: true) {
        guard let id = record["Id"]?.string.flatMap({ RecordID($0)?.text18 }) else { continue }
        guard record["IsDeleted"]?.bool == true else { continue }
        let master = record["MasterRecordId"]?.string.flatMap { RecordID($0)?.text18 }
        states[id] = master.map { .merged(into: $0) } ?? .deleted
      }
    }
    return states
  }
}
