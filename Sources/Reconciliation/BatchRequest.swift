import JSON
import Salesforce
import System

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
    return zip(batch.sends, results).map { RowAnswer($1, recordID: $0.recordID) }
  }

  /// Updates that hold only while the record bears the date it was compared with.
  private func conditional(_ batch: SendBatch) async throws(OrgError) -> [RowAnswer] {
    let requests = batch.sends.enumerated().map { index, send in
      CompositeRequest(
        method: "PATCH", url: session.rowPath(send.sobject, send.recordID ?? ""),
        referenceId: "edit\(index)", body: JSONValue.object(send.payload).bytes,
        unmodifiedSince: send.condition.flatMap { Dates.milliseconds(iso8601: $0) })
    }
    let results = try await session.composite(requests)
    return zip(batch.sends, results).map { RowAnswer($1, recordID: $0.recordID) }
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
}
