import HTTP

/// A request for one row; what the org says of the row is an answer, not an error.
extension Session {
  /// Makes a record of an object's bytes.
  package func createRow(_ sObject: String, _ body: [UInt8]) async throws(OrgError) -> RowAnswer {
    try await row(
      OrgCall(.create, "POST", rowPath(sObject), body: body), recordID: nil)
  }

  /// Changes a record, only if it was not modified after a moment where one is given, to the second.
  package func updateRow(
    _ sObject: String, id: String, _ body: [UInt8], unmodifiedSince: Int64? = nil
  ) async throws(OrgError) -> RowAnswer {
    try await row(
      OrgCall(.update, "PATCH", rowPath(sObject, id), body: body), recordID: id,
      unmodifiedSince: unmodifiedSince)
  }

  /// Makes or changes the record that has a value in an external id.
  package func upsertRow(
    _ sObject: String, externalIDField: String, value: String, _ body: [UInt8]
  ) async throws(OrgError) -> RowAnswer {
    try await row(
      OrgCall(.upsert, "PATCH", rowPath(sObject, externalIDField, value), body: body),
      recordID: nil)
  }

  /// Deletes a record.
  package func deleteRow(_ sObject: String, id: String) async throws(OrgError) -> RowAnswer {
    try await row(OrgCall(.delete, "DELETE", rowPath(sObject, id)), recordID: id)
  }

  /// The path of an sObject's rows.
  package func rowPath(_ sObject: String) -> String {
    path("sobjects/\(HTTPQuery.encode(sObject))")
  }

  /// The path of a row.
  package func rowPath(_ sObject: String, _ id: String) -> String {
    rowPath(sObject) + "/" + HTTPQuery.encode(id)
  }

  /// The path of the row that has a value in an external id.
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
