import HTTP
import JSON
import System

/// The result of one record in a collection.
package struct SaveResult: Sendable, Hashable {
  /// A reason that a record was not saved.
  package struct RowError: Sendable, Hashable {
    package let statusCode: String
    package let message: String
    /// The fields that the org names.
    package let fields: [String]
    /// The error as the org wrote it.
    package let raw: JSONValue
  }

  /// The record's ID; nil if a new record was not created.
  package let id: String?
  package let success: Bool
  /// Whether an upsert created the record; nil if unknown.
  package let created: Bool?
  /// The reasons that the record was not saved.
  package let errors: [RowError]

  /// Parses an entry; nil if it has another form.
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

  /// Creates records; each is the bytes of an object with its `attributes`.
  package func create(
    _ records: [[UInt8]], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    try await save(
      OrgCall(.create, "POST", path("composite/sobjects")), records, allOrNone: allOrNone)
  }

  /// Updates records; each contains its `Id`.
  package func update(
    _ records: [[UInt8]], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    try await save(
      OrgCall(.update, "PATCH", path("composite/sobjects")), records, allOrNone: allOrNone)
  }

  /// Creates or updates records of one sObject by the value of an external ID.
  package func upsert(
    _ sObject: String, externalIDField: String, _ records: [[UInt8]], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    let resource =
      "composite/sobjects/\(HTTPQuery.encode(sObject))/\(HTTPQuery.encode(externalIDField))"
    return try await save(
      OrgCall(.upsert, "PATCH", path(resource)), records, allOrNone: allOrNone)
  }

  package func delete(
    _ ids: [String], allOrNone: Bool = false
  ) async throws(OrgError) -> [SaveResult] {
    // The commas separate the IDs, so they are not encoded.
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

  /// The results are in the order of the records.
  ///
  /// If their number differs, they cannot be assigned.
  private func results(_ call: OrgCall, count: Int) async throws(OrgError) -> [SaveResult] {
    guard count > 0 else { return [] }
    guard count <= RequestLimits.collection else {
      throw OrgError(
        .configuration, message: "\(count) records exceed the limit of \(RequestLimits.collection)",
        request: call.name)
    }
    let entries = try await json(call.asWrite()).array ?? []
    let results = entries.compactMap { SaveResult($0) }
    guard entries.count == count, results.count == count else {
      throw Self.invalidResponse(
        "\(CountText.of(count, "record", "has", "have")) "
          + CountText.of(results.count, "result"), call)
    }
    return results
  }
}
