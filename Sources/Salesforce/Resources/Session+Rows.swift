import HTTP

/// Requests for a single row. A rejection of the row is returned as an answer, not thrown.
extension Session {
  /// Creates a record from the bytes of an object.
  package func createRow(_ sObject: String, _ body: [UInt8]) async throws(OrgError) -> RowAnswer {
    try await row(
      OrgCall(.create, "POST", rowPath(sObject), body: body), recordID: nil)
  }

  /// Updates a record, conditional on it not having been modified after a moment, if one is given,
  /// to the second.
  package func updateRow(
    _ sObject: String, id: String, _ body: [UInt8], unmodifiedSince: Int64? = nil
  ) async throws(OrgError) -> RowAnswer {
    try await row(
      OrgCall(.update, "PATCH", rowPath(sObject, id), body: body), recordID: id,
      unmodifiedSince: unmodifiedSince)
  }

  /// Creates or updates the record with a value of an external ID.
  package func upsertRow(
    _ sObject: String, externalIDField: String, value: String, _ body: [UInt8]
  ) async throws(OrgError) -> RowAnswer {
    try await row(
      OrgCall(.upsert, "PATCH", rowPath(sObject, externalIDField, value), body: body),
      recordID: nil)
  }

  package func deleteRow(_ sObject: String, id: String) async throws(OrgError) -> RowAnswer {
    try await row(OrgCall(.delete, "DELETE", rowPath(sObject, id)), recordID: id)
  }

  /// The path of an sObject's rows.
  package func rowPath(_ sObject: String) -> String {
    path("sobjects/\(HTTPQuery.encode(sObject))")
  }

  package func rowPath(_ sObject: String, _ id: String) -> String {
    rowPath(sObject) + "/" + HTTPQuery.encode(id)
  }

  /// The path of the row with a value of an external ID.
  package func rowPath(_ sObject: String, _ externalIDField: String, _ value: String) -> String {
    rowPath(sObject, externalIDField) + "/" + HTTPQuery.encode(value)
  }

  private func row(
    _ call: OrgCall, recordID: String?, unmodifiedSince: Int64? = nil
  ) async throws(OrgError) -> RowAnswer {
    var call = call.asWrite(unmodifiedSince: unmodifiedSince)
    call.returnsRefusals = true
    let response = try await send(call)
    return RowAnswer(status: response.status, body: response.body, recordID: recordID)
  }
}
