import JSON
import Ledger
import MobileSync
import Salesforce

/// The field by whose values creates that are sent as upserts name records of an object.
struct UpsertKey: Hashable {
  var sobject: String
  var field: String
}

extension ReconciledSync {
  /// The field and the value by which an edit with an element names its record; nil if the edit is
  /// not sent as an upsert.
  func externalKey(
    of element: JSONObject, _ operation: SyncOperation
  ) -> (field: String, value: String)? {
    guard let field = target.externalIdFieldName, field != "Id",
      let value = element[field].flatMap(SnapshotPlanner.text),
      FieldSelection.upserts(operation, externalID: value)
    else { return nil }
    return (field, value)
  }
}

extension RecordReader {
  /// The org's record with each of some external IDs; empty if no record can have them.
  nonisolated(nonsending) func keyed(
    _ describe: Describe, _ field: String, _ values: [String], fields: [String]
  ) async throws(OrgError) -> [String: UpsertRule.Keyed] {
    guard
      let rows = try await records(describe, fields: fields, externalID: field, among: values)
    else { return [:] }
    let name = describe.field(field)?.name ?? field
    return values.reduce(into: [:]) { found, value in
      let own = rows.filter { ExternalIDQuery.isSame($0[name], value) }
      found[value] = own.isEmpty ? .absent : own.count == 1 ? .found(own[0]) : .unknown
    }
  }
}
