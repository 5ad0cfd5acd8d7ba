import HTTP
import JSON

/// What became of one record of a collection.
package struct SaveResult: Sendable, Hashable {
  /// One reason why a record was not saved.
  package struct RowError: Sendable, Hashable {
    /// The org's code.
    package let statusCode: String
    /// The org's words.
    package let message: String
    /// The fields that the org names.
    package let fields: [String]
    /// The error as the org wrote it.
    package let raw: JSONValue
  }

  /// The record's id; nil where a new record was not made.
  package let id: String?
  /// Whether it was saved.
  package let success: Bool
  /// Whether an upsert made it; nil where it does not say.
  package let created: Bool?
  /// Why it was not saved.
  package let errors: [RowError]

  /// Reads one entry; nil if it is of another shape.
  package init?(_ value: JSONValue) {
    guard let success = value["success"]?.bool else { return nil }
    self.success = success
    id = value["id"]?.string
    created = value["created"]?.bool
    errors = (value["errors"]?.array ?? []).map { error in
      RowError(
        statusCode: error["statusCode"]?.string ?? error["errorCode"]?.string ?? "UNKNOWN",
        message: error["message"]?.string ?? "",
        fields:
          error["fields"]?.array?.compactMap(\.string) ?? [], raw: error)
    }
  }
}

extension Session {

  /// Makes records; each is an object's bytes with its `attributes`.
  package func create(
    _ records: [[UInt8]], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    try await save(
      OrgCall(.create, "POST", path("composite/sobjects")), records, allOrNone: allOrNone)
  }

  /// Changes records; each names its `Id`.
  package func update(
    _ records: [[UInt8]], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    try await save(
      OrgCall(.update, "PATCH", path("composite/sobjects")), records, allOrNone: allOrNone)
  }

  /// Makes or changes records of one sObject by the value of an external id.
  package func upsert(
    _ sObject: String, externalIDField: String, _ records: [[UInt8]], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    let resource =
      "composite/sobjects/\(HTTPQuery.encode(sObject))/\(HTTPQuery.encode(externalIDField))"
    return try await save(
      OrgCall(.upsert, "PATCH", path(resource)), records, allOrNone: allOrNone)
  }

  /// Deletes records.
  package func delete(
    _ ids: [String], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    // The commas stay as they are: they part the list.
    let list = ids.map { HTTPQuery.encode($0) }.joined(separator: ",")
    return try await results(
      OrgCall(
        .delete, "DELETE", path("composite/sobjects?allOrNone=\(allOrNone)&ids=\(list)")),
      count: ids.count)
  }

  private func save(
    _ call: OrgCall, _ records: [[UInt8]], allOrNone: Bool
  ) async throws(OrgError) -> [SaveResult] {
    var writer = JSONWriter(reserving: records.reduce(64) { $0 + $1.count + 1 })
    writer.beginObject()
    writer.name("allOrNone")
    writer.bool(allOrNone)
    writer.name("records")
    writer.beginArray()
    for record in records { writer.raw(record) }
    writer.endArray()
    writer.endObject()
    var call = call
    call.body = writer.bytes
    return try await results(call, count: records.count)
  }

  /// Results stand in the records' order: another number of them says nothing of any record.
  private func results(_ call: OrgCall, count: Int) async throws(OrgError) -> [SaveResult] {
    guard count > 0 else { return [] }
    guard count <= RequestLimits.collection else {
      throw OrgError(
        .configuration, message: "\(count) records are more than \(RequestLimits.collection)",
        request: call.name)
    }
    let entries = try await json(call.asWrite()).array ?? []
    let results = entries.compactMap { SaveResult($0) }
    guard entries.count == count, results.count == count else {
      throw Self.invalidResponse("\(results.count) results answer \(count) records", call)
    }
    return results
  }
}
