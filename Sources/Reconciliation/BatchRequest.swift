import JSON
import Salesforce
import System

/// What the org said of one row.
enum RowAnswer {
  /// Done; `created` says what an upsert did.
  case done(id: String?, created: Bool?)
  /// The record no longer bears the date of the condition.
  case changed
  /// The record is not there, as far as the sender can see.
  case absent(code: String, message: String)
  /// Another writer holds it.
  case locked(code: String, message: String)
  /// The org said no.
  case refused(code: String?, message: String, fields: [String])
  /// No answer came.
  case unknown(String)
}

/// Carries a batch to the org.
struct BatchRequest {
  let session: Session
  let options: ReconcileOptions

  /// Sends a batch; one answer for each of its rows, in their order.
  func send(_ batch: SendBatch) async throws(OrgError) -> [RowAnswer] {
    let results: [SaveResult]
    switch batch.action {
    case .create: results = try await session.create(batch.sends.map(Self.record))
    case .delete: results = try await session.delete(batch.sends.map { $0.recordID ?? "" })
    case .upsert:
      let field = batch.sends[0].externalField ?? ""
      results = try await session.upsert(
        batch.sobject, externalIDField: field, batch.sends.map(Self.record))
    case .update:
      if batch.sends[0].isConditional(options) { return try await conditional(batch) }
      results = try await session.update(batch.sends.map(Self.record))
    }
    return zip(batch.sends, results).map { Self.answer($1, to: $0) }
  }

  /// Updates that hold only while the record bears the date it was compared with.
  private func conditional(_ batch: SendBatch) async throws(OrgError) -> [RowAnswer] {
    let requests = batch.sends.enumerated().map { index, send in
      // Both were proved to be letters, digits and underscores when the row was read.
      let resource = "sobjects/\(send.sobject)/\(send.recordID ?? "")"
      let date = send.condition.flatMap { Dates.milliseconds(iso8601: $0) }
      return CompositeRequest(
        method: "PATCH", url: session.path(resource), referenceId: "edit\(index)",
        body: JSONValue.object(send.payload).bytes,
        headers: date.map { [("If-Unmodified-Since", Dates.http($0))] } ?? [])
    }
    let results = try await session.composite(requests)
    return zip(batch.sends, results).map { send, result in
      if result.isSuccess { return .done(id: send.recordID, created: nil) }
      if result.status == 412 { return .changed }
      let fields = result.body[0]?["fields"]?.array?.compactMap(\.string) ?? []
      return Self.refusal(
        result.errorCode ?? "HTTP_\(result.status)", result.errorMessage ?? "", fields,
        isMissing: result.status == 404)
    }
  }

  private static func record(_ send: PlannedSend) -> [UInt8] {
    var record: JSONObject = ["attributes": ["type": .string(send.sobject)]]
    if send.action == .update, let id = send.recordID { record["Id"] = .string(id) }
    if let field = send.externalField, let value = send.externalValue {
      record[field] = .string(value)
    }
    for (name, value) in send.payload { record[name] = value }
    return JSONValue.object(record).bytes
  }

  private static func answer(_ result: SaveResult, to send: PlannedSend) -> RowAnswer {
    if result.success {
      // A success that does not name its record, or names another, tells nothing of this one: its
      // id would be lost, or the wrong record taken for it.
      switch (result.id.flatMap { RecordID($0)?.text18 }, send.recordID) {
      case (nil, nil): return .unknown("the org said it was done and named no record")
      case (let id?, let meant?) where id != meant:
        return .unknown("the org said it was done to another record")
      case (let id, let meant): return .done(id: id ?? meant, created: result.created)
      }
    }
    guard let error = result.errors.first else {
      return .refused(code: nil, message: "the org gave no reason", fields: [])
    }
    return refusal(error.statusCode, error.message, error.fields, isMissing: false)
  }

  /// A code that names fields blames the reference in them, not the record.
  private static func refusal(
    _ code: String, _ message: String, _ fields: [String], isMissing: Bool
  ) -> RowAnswer {
    let blamesRecord = fields.allSatisfy { $0 == "Id" || $0 == "id" }
    switch code {
    case "UNABLE_TO_LOCK_ROW": return .locked(code: code, message: message)
    case "ENTITY_IS_DELETED" where blamesRecord, "INVALID_CROSS_REFERENCE_KEY" where blamesRecord:
      return .absent(code: code, message: message)
    default:
      if isMissing { return .absent(code: code, message: message) }
      return .refused(code: code, message: message, fields: fields)
    }
  }
}
