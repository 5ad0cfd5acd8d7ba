import HTTP
import JSON
import System

/// Bulk API 1: `/services/async/NN.0/job…`, in JSON and XML.
///
/// A job contains batches; each batch is a separate job of the Bulk API that is processed when it
/// arrives.
enum AsyncResource {
  /// The kind of request for a path below `/services/async/NN.0`.
  static func kind(_ method: String, _ path: [String]) -> RequestKind {
    switch (method, path.count) {
    case ("POST", 1): .bulkCreate
    case ("POST", 2): .bulkClose
    case ("POST", 3): .bulkUpload
    case ("GET", 5...): .bulkResults
    case ("GET", 2...): .bulkRead
    default: .unknown
    }
  }

  static func answer(_ call: APIRequest) -> APIResponse {
    do throws(OrgError) {
      let path = call.path.map { $0.lowercased() }
      guard path.first == "job", VersionResource.numbers.contains(call.versionNumber) else {
        throw .notFound
      }
      switch (call.target.method, path.count, path.dropFirst(2).first, path.dropFirst(4).first) {
      case ("POST", 1, _, _): return try create(call)
      case ("GET", 2, _, _): return try shown(find(call), call)
      case ("POST", 2, _, _): return try change(call)
      case ("POST", 3, "batch", _): return try AsyncBatches.add(call, to: find(call))
      case ("GET", 3, "batch", _): return try AsyncBatches.list(call, of: find(call))
      case ("GET", 4, "batch", _): return try AsyncBatches.read(call, of: find(call))
      case ("GET", 5, "batch", "request"): return try AsyncResults.request(call, of: find(call))
      case ("GET", 5, "batch", "result"): return try AsyncResults.result(call, of: find(call))
      case ("GET", 6, "batch", "result"): return try AsyncResults.page(call, of: find(call))
      default: throw .notFound
      }
    } catch {
      return failure(error, isJSON(call))
    }
  }

  /// Returns an error in the format and with the names of this API.
  static func failure(_ error: OrgError, _ isJSON: Bool) -> APIResponse {
    let code = codes[error.code] ?? error.code
    var answer = APIResponse(
      status: code == "NOT_FOUND" ? 404 : error.status < 500 ? 400 : error.status)
    if isJSON {
      answer.body =
        JSONValue.object([
          "exceptionCode": .string(code), "exceptionMessage": .string(error.message),
        ]).bytes
    } else {
      answer.body = Array(
        "\(XMLText.head)<error xmlns=\"\(namespace)\">\(XMLText.element("exceptionCode", code))\(XMLText.element("exceptionMessage", error.message))</error>"
          .utf8)
    }
    answer.headers["Content-Type"] = isJSON ? "application/json" : "application/xml"
    return answer
  }

  private static let codes = [
    "INVALID_SESSION_ID": "InvalidSessionId", "INVALIDJOB": "InvalidJob",
    "INVALIDJOBSTATE": "InvalidJobState", "INVALIDENTITY": "InvalidEntity",
    "INVALIDBATCH": "InvalidBatch", "JSON_PARSER_ERROR": "ClientInputError",
    "FEATURENOTENABLED": "FeatureNotEnabled", "REQUEST_LIMIT_EXCEEDED": "ExceededQuota",
  ]

  static let namespace = "http://www.force.com/2009/06/asyncapi/dataload"

  /// Whether jobs are described in JSON, as in the request.
  static func isJSON(_ call: APIRequest) -> Bool {
    (call.headers["Content-Type"] ?? "").lowercased().hasPrefix("application/json")
  }

  static func unknown(_ what: String, _ id: String) -> OrgError {
    OrgError(code: "INVALID\(what.uppercased())", message: "Unable to find \(what) for id: \(id)")
  }

  // MARK: Jobs

  private static func find(_ call: APIRequest) throws(OrgError) -> BulkJob {
    try call.org.bulkContainer(call.path[1], as: call.user)
  }

  private static func create(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let body = try members(call)
    let given = body["operation"] ?? ""
    guard let operation = BulkJob.Operation(rawValue: given) else {
      throw OrgError(code: "INVALIDJOB", message: "Unknown operation: \(given)")
    }
    guard operation != .hardDelete else { throw .hardDelete }
    guard let schema = call.schema(body["object"] ?? "") else {
      throw OrgError(
        code: "INVALIDENTITY", message: "Unable to find object: \(body["object"] ?? "")")
    }
    let content = (body["contentType"] ?? "XML").uppercased()
    guard content == "CSV" || content == "JSON" else {
      throw OrgError(code: "INVALIDJOB", message: "Content type \(content) is not served")
    }
    if operation == .upsert {
      guard schema.field(body["externalIdFieldName"] ?? "")?.idLookup == true else {
        throw OrgError(code: "INVALIDJOB", message: "External ID was blank or no such field")
      }
    }
    let now = call.org.now()
    var job = BulkJob(
      id: "", userID: call.user.id, operation: operation, object: schema.name,
      dialect: BulkDialect(), version: call.version, created: now, changed: now, state: .open)
    job.role = .container
    job.content = content
    job.externalField = body["externalIdFieldName"]
    var answer = try shown(call.org.addBulkJob(job, as: call.user), call)
    answer.status = 201
    return answer
  }

  private static func change(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let wanted = try members(call)["state"] ?? ""
    guard wanted == "Closed" || wanted == "Aborted" else {
      throw OrgError(code: "INVALIDJOB", message: "A job cannot be set to \"\(wanted)\"")
    }
    let job = try find(call)
    guard job.state == .open else { throw .jobState("The job is not open") }
    let changed = try call.org.endBulkContainer(
      job.id, wanted == "Closed" ? .complete : .aborted, as: call.user)
    return try shown(changed, call)
  }

  /// Returns the members of a job that a client sends, as text.
  private static func members(_ call: APIRequest) throws(OrgError) -> [String: String] {
    if isJSON(call) {
      var members: [String: String] = [:]
      for (name, value) in try call.object() { members[name] = value.string ?? value.text }
      return members
    }
    guard case .bytes(let bytes) = call.content, let members = XMLText.leaves(bytes) else {
      throw OrgError(code: "JSON_PARSER_ERROR", message: "The body is not XML")
    }
    return members
  }

  private static func shown(_ job: BulkJob, _ call: APIRequest) throws(OrgError) -> APIResponse {
    let batches = try call.org.bulkBatches(of: job.id)
    func count(_ state: BulkJob.State) -> JSONValue {
      JSONValue(batches.count { $0.state == state })
    }
    func sum(_ number: (BulkJob) -> Int) -> JSONValue {
      JSONValue(batches.reduce(0) { $0 + number($1) })
    }
    let milliseconds = sum { Int($0.milliseconds) }
    let state = job.state == .complete ? "Closed" : job.state == .aborted ? "Aborted" : "Open"
    let info: [(String, JSONValue)] = [
      ("id", .string(job.id)), ("operation", .string(job.operation.rawValue)),
      ("object", .string(job.object)), ("createdById", .string(job.userID)),
      ("createdDate", .string(Dates.utc(job.created))),
      ("systemModstamp", .string(Dates.utc(job.changed))), ("state", .string(state)),
      ("externalIdFieldName", job.externalField.map { .string($0) } ?? .null),
      ("concurrencyMode", "Parallel"), ("contentType", .string(job.content)),
      ("numberBatchesQueued", count(.uploadComplete)),
      ("numberBatchesInProgress", count(.inProgress)),
      ("numberBatchesCompleted", count(.complete)), ("numberBatchesFailed", count(.failed)),
      ("numberBatchesTotal", JSONValue(batches.count)),
      ("numberRecordsProcessed", sum(\.processed)), ("numberRetries", 0),
      ("apiVersion", .number(job.version)), ("numberRecordsFailed", sum(\.failed)),
      ("totalProcessingTime", milliseconds), ("apiActiveProcessingTime", milliseconds),
      ("apexProcessingTime", 0),
    ]
    return described("jobInfo", info, asJSON: isJSON(call))
  }

  /// Returns the description of a job or a batch in one of the two formats.
  static func described(_ name: String, _ info: [(String, JSONValue)], asJSON: Bool) -> APIResponse
  {
    guard !asJSON else {
      var answer = APIResponse.json(.object(JSONObject(info.map { (name: $0.0, value: $0.1) })))
      answer.headers["Content-Type"] = "application/json"
      return answer
    }
    var answer = APIResponse(body: Array((XMLText.head + element(name, info, isRoot: true)).utf8))
    answer.headers["Content-Type"] = "application/xml"
    return answer
  }

  static func element(_ name: String, _ info: [(String, JSONValue)], isRoot: Bool) -> String {
    let inner = info.filter { !$0.1.isNull }.map { XMLText.element($0.0, $0.1.string ?? $0.1.text) }
    let space = isRoot ? " xmlns=\"\(namespace)\"" : ""
    return "<\(name)\(space)>\(inner.joined())</\(name)>"
  }
}

extension OrgError {
  /// Hard deletion requires a permission that no user has here.
  static let hardDelete = OrgError(
    code: "FEATURENOTENABLED",
    message: "hardDelete operation requires special user profile permission, please contact your "
      + "system administrator")
}
