import JSON
import System

/// A job in the format of the API, for requests and responses.
enum BulkJobBody {
  private static let members: [BulkJob.Kind: Set<String>] = [
    .query: ["operation", "query", "contentType", "columnDelimiter", "lineEnding"],
    .ingest: [
      "operation", "object", "externalIdFieldName", "contentType", "columnDelimiter", "lineEnding",
      "assignmentRuleId",
    ],
  ]

  /// Creates a job from the body of a request.
  static func job(_ call: APIRequest, _ kind: BulkJob.Kind) throws(OrgError) -> BulkJob {
    let body = try call.object(of: members[kind] ?? [])
    func word(_ name: String) throws(OrgError) -> String? {
      guard let value = body[name], !value.isNull else { return nil }
      guard let text = value.string else { throw .unreadableBody("\(name) must be a text") }
      return text
    }
    let given = try word("operation") ?? ""
    guard let operation = BulkJob.Operation(rawValue: given), operation.kind == kind else {
      throw refusal("Operation \"\(given)\" is not supported by this resource")
    }
    if let type = try word("contentType"), type != "CSV" {
      throw refusal("Content type \(type) is not supported: a job requires CSV")
    }
    let now = call.org.now()
    var job = BulkJob(
      id: "", userID: call.user.id, operation: operation,
      object: try object(call, kind, query: word("query"), name: word("object")),
      dialect: try dialect(delimiter: word("columnDelimiter"), ending: word("lineEnding")),
      version: call.version, created: now, changed: now,
      state: kind == .query ? .uploadComplete : .open)
    job.soql = try word("query")
    job.externalField = try externalField(word("externalIdFieldName"), job, call)
    if operation == .hardDelete { throw .hardDelete }
    return job
  }

  private static func object(
    _ call: APIRequest, _ kind: BulkJob.Kind, query: String?, name: String?
  ) throws(OrgError) -> String {
    if kind == .query {
      guard let query, !query.isEmpty else { throw refusal("A query job needs a query") }
      return try SOQLParser.parse(query).from.text
    }
    guard let name, !name.isEmpty else { throw refusal("A job needs an object") }
    guard let schema = call.schema(name) else {
      throw OrgError(code: "INVALIDENTITY", message: "Unable to find object: \(name)")
    }
    return schema.name
  }

  private static func dialect(delimiter: String?, ending: String?) throws(OrgError) -> BulkDialect {
    var dialect = BulkDialect()
    if let delimiter {
      guard BulkDialect.delimiters.contains(where: { $0.name == delimiter }) else {
        throw refusal("columnDelimiter \(delimiter) is unknown")
      }
      dialect.delimiter = delimiter
    }
    if let ending {
      guard ending == "LF" || ending == "CRLF" else {
        throw refusal("lineEnding \(ending) is unknown")
      }
      dialect.lineEnding = ending
    }
    return dialect
  }

  private static func externalField(_ name: String?, _ job: BulkJob, _ call: APIRequest)
    throws(OrgError) -> String?
  {
    guard job.operation == .upsert else {
      if name != nil { throw refusal("externalIdFieldName is for an upsert") }
      return nil
    }
    guard let name, !name.isEmpty else { throw refusal("An upsert needs externalIdFieldName") }
    guard let field = call.schema(job.object)?.field(name), field.idLookup else {
      throw refusal("Field \(name) of \(job.object) is not an external ID")
    }
    return field.name
  }

  private static func refusal(_ message: String) -> OrgError {
    OrgError(code: "INVALIDJOB", message: message)
  }

  /// Returns a job's description; `isWhole` adds its progress.
  static func json(_ job: BulkJob, isWhole: Bool) -> JSONValue {
    var object: JSONObject = [
      "id": .string(job.id), "operation": .string(job.operation.rawValue),
      "object": .string(job.object), "createdById": .string(job.userID),
      "createdDate": .string(Dates.salesforce(job.created)),
      "systemModstamp": .string(Dates.salesforce(job.changed)),
      "state": .string(job.state.rawValue), "concurrencyMode": "Parallel", "contentType": "CSV",
      "apiVersion": .number(job.version), "lineEnding": .string(job.dialect.lineEnding),
      "columnDelimiter": .string(job.dialect.delimiter),
    ]
    if let field = job.externalField { object["externalIdFieldName"] = .string(field) }
    if job.kind == .ingest, job.state == .open {
      object["contentUrl"] = .string(
        "services/data/v\(job.version)/jobs/ingest/\(job.id)/batches")
    }
    guard isWhole else { return .object(object) }
    object["jobType"] = job.kind == .query ? "V2Query" : "V2Ingest"
    object["numberRecordsProcessed"] = JSONValue(job.processed)
    object["retries"] = 0
    object["totalProcessingTime"] = JSONValue(job.milliseconds)
    if let error = job.error, job.state.isOver { object["errorMessage"] = .string(error) }
    if job.kind == .query {
      object["isPkChunkingSupported"] = true
    } else {
      object["numberRecordsFailed"] = JSONValue(job.failed)
      object["apiActiveProcessingTime"] = JSONValue(job.milliseconds)
      object["apexProcessingTime"] = 0
    }
    return .object(object)
  }
}
