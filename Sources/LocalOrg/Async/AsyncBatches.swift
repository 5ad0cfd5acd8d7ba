import JSON
import System

/// The batches of a job of Bulk API 1.
enum AsyncBatches {
  static func add(_ call: APIRequest, to job: BulkJob) throws(OrgError) -> APIResponse {
    guard job.state == .open else { throw .jobState("The job is not open") }
    guard case .bytes(let bytes) = call.content, !bytes.isEmpty else {
      throw OrgError(code: "INVALIDBATCH", message: "The batch is empty")
    }
    let now = call.org.now()
    var batch = BulkJob(
      id: "", userID: job.userID, operation: job.operation, object: job.object,
      dialect: BulkDialect(), version: job.version, created: now, changed: now,
      state: .uploadComplete)
    batch.role = .batch
    batch.parent = job.id
    batch.content = job.content
    batch.externalField = job.externalField
    if job.kind == .query { batch.soql = String(decoding: bytes, as: UTF8.self) }
    let added = try call.org.addBulkJob(batch, rows: bytes, as: call.user)
    try call.org.workOnBulkJob(added.id, runs: call.server.options.bulkRuns)
    var answer = AsyncResource.described(
      "batchInfo", info(added), asJSON: job.content == "JSON")
    answer.status = 201
    return answer
  }

  static func list(_ call: APIRequest, of job: BulkJob) throws(OrgError) -> APIResponse {
    for batch in try call.org.bulkBatches(of: job.id) { try drive(batch, call) }
    let batches = try call.org.bulkBatches(of: job.id).map(info)
    guard job.content != "JSON" else {
      let infos = batches.map { batch in
        JSONValue.object(JSONObject(batch.map { (name: $0.0, value: $0.1) }))
      }
      return AsyncResource.described("batchInfoList", [("batchInfo", .array(infos))], asJSON: true)
    }
    let inner = batches.map { AsyncResource.element("batchInfo", $0, isRoot: false) }
    var answer = APIResponse(
      body: Array(
        "\(XMLText.head)<batchInfoList xmlns=\"\(AsyncResource.namespace)\">\(inner.joined())</batchInfoList>"
          .utf8))
    answer.headers["Content-Type"] = "application/xml"
    return answer
  }

  static func read(_ call: APIRequest, of job: BulkJob) throws(OrgError) -> APIResponse {
    try drive(find(call, of: job), call)
    return AsyncResource.described(
      "batchInfo", info(try find(call, of: job)), asJSON: job.content == "JSON")
  }

  static func find(_ call: APIRequest, of job: BulkJob) throws(OrgError) -> BulkJob {
    let wanted = OrgID.normalize(call.path[3])
    let batch = try call.org.bulkBatches(of: job.id).first { $0.id == wanted }
    guard let batch else { throw AsyncResource.unknown("batch", call.path[3]) }
    return batch
  }

  private static func drive(_ batch: BulkJob, _ call: APIRequest) throws(OrgError) {
    guard batch.state.isRunning else { return }
    try call.org.workOnBulkJob(batch.id, runs: call.server.options.bulkRuns)
  }

  private static func info(_ batch: BulkJob) -> [(String, JSONValue)] {
    let milliseconds = JSONValue(batch.milliseconds)
    return [
      ("id", .string(batch.id)), ("jobId", .string(batch.parent ?? "")),
      ("state", .string(word(batch))),
      ("stateMessage", batch.state == .failed ? batch.error.map { .string($0) } ?? .null : .null),
      ("createdDate", .string(Dates.utc(batch.created))),
      ("systemModstamp", .string(Dates.utc(batch.changed))),
      ("numberRecordsProcessed", JSONValue(batch.processed)),
      ("numberRecordsFailed", JSONValue(batch.failed)), ("totalProcessingTime", milliseconds),
      ("apiActiveProcessingTime", milliseconds), ("apexProcessingTime", 0),
    ]
  }

  private static func word(_ batch: BulkJob) -> String {
    switch batch.state {
    case .open, .uploadComplete: "Queued"
    case .inProgress: "InProgress"
    case .complete: "Completed"
    case .failed: "Failed"
    case .aborted: batch.content == "JSON" ? "NotProcessed" : "Not Processed"
    }
  }
}
