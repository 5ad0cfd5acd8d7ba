import HTTP
import JSON
import System

/// One record by its ID: `/sobjects/X` and `/sobjects/X/ID`.
enum RowResource {
  @Sendable static func create(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    let outcome = call.org.create(schema.name, try fields(call), as: call.user)
    return created(outcome, schema, call)
  }

  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    return try read(schema, id: call.path[2], call)
  }

  @Sendable static func update(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    let since = try call.date(of: "If-Unmodified-Since")
    let fields = try fields(call)
    try refuseID(in: fields)
    let outcome = call.org.update(
      schema.name, id: call.path[2], fields, as: call.user, ifUnmodifiedSince: since)
    switch outcome {
    case .success: return .empty(204, records: 1)
    case .failure(let errors): return .failure(errors)
    }
  }

  @Sendable static func delete(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    switch call.org.delete(schema.name, id: call.path[2], as: call.user) {
    case .success: return .empty(204, records: 1)
    case .failure(let errors): return .failure(errors)
    }
  }

  /// Returns a record, with its date in a header, which can also be a condition.
  static func read(_ schema: ObjectSchema, id: String, _ call: APIRequest) throws(OrgError)
    -> APIResponse
  {
    let names = call.target.query("fields").map {
      $0.split(separator: ",").map { String($0.filter { $0 != " " }) }
    }
    let record = try call.org.read(
      schema.name, id: id, fields: names, as: call.user, version: call.version)
    let date = try modificationDate(record, schema, id, call)
    if let since = try call.date(of: "If-Modified-Since"), let date, date / 1000 <= since / 1000 {
      return .empty(304)
    }
    if let since = try call.date(of: "If-Unmodified-Since"), let date,
      date / 1000 > since / 1000
    {
      throw OrgError(
        status: 412, code: "PRECONDITION_FAILED", message: "The record has been modified")
    }
    var answer = APIResponse.json(.object(record), records: 1)
    if let date { answer.headers["Last-Modified"] = Dates.http(date) }
    return answer
  }

  static func fields(_ call: APIRequest) throws(OrgError) -> JSONObject { try call.object() }

  /// Rejects an Id in the body, because the URL names the record.
  static func refuseID(in fields: JSONObject) throws(OrgError) {
    for name in fields.names where name.lowercased() == "id" {
      throw OrgError(
        code: "INVALID_FIELD",
        message: "The Id field should not be specified in the sobject data.", fields: [name])
    }
  }

  /// Returns the response to a create, with the URL of the new record.
  static func created(_ outcome: RowOutcome, _ schema: ObjectSchema, _ call: APIRequest)
    -> APIResponse
  {
    switch outcome {
    case .success(let id, _):
      var answer = APIResponse.json(
        ["id": .string(id), "success": true, "errors": []], status: 201, records: 1)
      answer.headers["Location"] = "\(call.root)/sobjects/\(schema.name)/\(id)"
      return answer
    case .failure(let errors): return .failure(errors)
    }
  }

  private static func modificationDate(
    _ record: JSONObject, _ schema: ObjectSchema, _ id: String, _ call: APIRequest
  ) throws(OrgError) -> Int64? {
    let name = "LastModifiedDate"
    guard schema.field(name) != nil else { return nil }
    if let text = record[name]?.string { return Dates.milliseconds(iso8601: text) }
    let whole = try call.org.read(
      schema.name, id: id, fields: [name], as: call.user, version: call.version)
    return whole[name]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
  }
}
