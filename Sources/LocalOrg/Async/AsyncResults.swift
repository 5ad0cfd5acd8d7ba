import JSON

/// The input and the results of a batch.
enum AsyncResults {
  /// `…/request`: the rows or the statement of a batch.
  static func request(_ call: APIRequest, of job: BulkJob) throws(OrgError) -> APIResponse {
    let batch = try AsyncBatches.find(call, of: job)
    if let soql = batch.soql { return text(Array(soql.utf8), "text/csv") }
    let isJSON = batch.content == "JSON"
    let rows = BulkRuns(org: call.org, jobID: batch.id)
    if isJSON { return streamed("application/json", rows.joined { $0.input }) }
    var header = BulkDialect.kept.writer
    header.row(batch.columns)
    return streamed("text/csv", rows.pieces(after: header.bytes) { $0.input })
  }

  /// `…/result`: for rows, the outcome of each; for a query, the IDs of its results.
  static func result(_ call: APIRequest, of job: BulkJob) throws(OrgError) -> APIResponse {
    let batch = try AsyncBatches.find(call, of: job)
    guard batch.state == .complete else {
      throw OrgError(code: "INVALIDBATCH", message: "Batch not completed")
    }
    let isJSON = batch.content == "JSON"
    if batch.kind == .query {
      let id = resultID(of: batch)
      guard !isJSON else { return text(JSONValue([id]).bytes, "application/json") }
      let list =
        "\(XMLText.head)<result-list xmlns=\"\(AsyncResource.namespace)\">\(XMLText.element("result", id))</result-list>"
      return text(Array(list.utf8), "application/xml")
    }
    let rows = BulkRuns(org: call.org, jobID: batch.id)
    if isJSON { return streamed("application/json", rows.joined { try outcomes($0) }) }
    var header = BulkDialect.kept.writer
    header.row(["Id", "Success", "Created", "Error"])
    return streamed("text/csv", rows.pieces(after: header.bytes) { try table($0) })
  }

  /// `…/result/ID`: the records of a query.
  static func page(_ call: APIRequest, of job: BulkJob) throws(OrgError) -> APIResponse {
    let batch = try AsyncBatches.find(call, of: job)
    guard batch.kind == .query, OrgID.normalize(call.path[5]) == resultID(of: batch),
      batch.state == .complete
    else { throw AsyncResource.unknown("result", call.path[5]) }
    let rows = BulkRuns(org: call.org, jobID: batch.id)
    var answer: APIResponse
    if batch.content == "JSON" {
      answer = streamed("application/json", rows.joined { $0.output ?? [] })
    } else {
      var header = BulkDialect.kept.writer
      header.row(batch.processed > 0 ? batch.columns : ["Records not found for this query"])
      answer = streamed(
        "text/csv; charset=UTF-8", rows.pieces(after: header.bytes) { $0.output ?? [] })
    }
    answer.records = batch.processed
    return answer
  }

  private static func resultID(of batch: BulkJob) -> String {
    OrgID.make(prefix: "752", sequence: OrgID.sequence(batch.id))
  }

  private static func table(_ run: BulkRun) throws -> [UInt8] {
    var writer = BulkDialect.kept.writer
    try BulkCSV.rows(run.output ?? []) { result in
      let outcome = BulkOutcome(result)
      let id = outcome.isSuccess ? outcome.id : ""
      writer.row([id, String(outcome.isSuccess), String(outcome.created), outcome.text])
    }
    return writer.bytes
  }

  /// The entries of a JSON list, without its brackets.
  private static func outcomes(_ run: BulkRun) throws -> [UInt8] {
    var entries: [String] = []
    try BulkCSV.rows(run.output ?? []) { result in
      let outcome = BulkOutcome(result)
      entries.append(
        JSONValue.object([
          "success": .bool(outcome.isSuccess), "created": .bool(outcome.created),
          "id": outcome.isSuccess ? .string(outcome.id) : .null, "errors": .array(outcome.errors),
        ]).text)
    }
    return Array(entries.joined(separator: ",").utf8)
  }

  private static func text(_ bytes: [UInt8], _ type: String) -> APIResponse {
    var answer = APIResponse(body: bytes)
    answer.headers["Content-Type"] = type
    return answer
  }

  private static func streamed(_ type: String, _ next: @escaping @Sendable () throws -> [UInt8]?)
    -> APIResponse
  {
    var answer = APIResponse()
    answer.headers["Content-Type"] = type
    answer.stream = next
    return answer
  }
}
