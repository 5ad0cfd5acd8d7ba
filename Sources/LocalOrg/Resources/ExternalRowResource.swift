import JSON

/// One record by an external ID: `/sobjects/X/FIELD/VALUE`; and a file of a record:
/// `/sobjects/X/ID/FIELD`.
enum ExternalRowResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    if schema.field(call.path[3])?.type == .base64 {
      return APIResponse(
        headers: ["Content-Type": "application/octetstream"],
        body: try call.org.readFile(
          schema.name, id: call.path[2], field: call.path[3], as: call.user), records: 1)
    }
    if let choices = try choices(schema, call) { return choices }
    return try RowResource.read(schema, id: try id(schema, call), call)
  }

  /// Returns 201 with `created`, or 200; up to version 45, an update returns 204.
  @Sendable static func upsert(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    let fields = try RowResource.fields(call)
    try RowResource.refuseID(in: fields)
    for name in fields.names where name.lowercased() == call.path[2].lowercased() {
      throw OrgError(
        code: "INVALID_FIELD",
        message: "The \(name) field should not be specified in the sobject data.", fields: [name])
    }
    if let choices = try choices(schema, call) { return choices }
    let outcome = call.org.upsert(
      schema.name, externalField: call.path[2], value: call.path[3], fields, as: call.user)
    switch outcome {
    case .success(let id, let created):
      if !created, let number = Int(call.version.prefix { $0 != "." }), number <= 45 {
        return .empty(204, records: 1)
      }
      var answer = APIResponse.json(
        ["id": .string(id), "success": true, "errors": [], "created": .bool(created)],
        status: created ? 201 : 200, records: 1)
      if created { answer.headers["Location"] = "\(call.root)/sobjects/\(schema.name)/\(id)" }
      return answer
    case .failure(let errors): return .failure(errors)
    }
  }

  /// `POST /sobjects/X/FIELD`: an upsert without a value, which is a create.
  @Sendable static func createWithoutValue(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    guard schema.field(call.path[2]) != nil else {
      throw .methodNotAllowed(call.target.method, allowed: ["DELETE", "GET", "HEAD", "PATCH"])
    }
    let outcome = call.org.upsert(
      schema.name, externalField: call.path[2], value: nil, try RowResource.fields(call),
      as: call.user)
    return RowResource.created(outcome, schema, call)
  }

  @Sendable static func delete(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    if let choices = try choices(schema, call) { return choices }
    switch call.org.delete(schema.name, id: try id(schema, call), as: call.user) {
    case .success: return .empty(204, records: 1)
    case .failure(let errors): return .failure(errors)
    }
  }

  /// Returns status 300 with the URLs of the records if several have the value.
  private static func choices(_ schema: ObjectSchema, _ call: APIRequest) throws(OrgError)
    -> APIResponse?
  {
    guard let field = schema.field(call.path[2]), field.idLookup, !field.unique,
      field.type != .id
    else { return nil }
    let ids = try call.org.findAll(
      schema.name, externalField: field.name, value: call.path[3], as: call.user)
    guard ids.count > 1 else { return nil }
    return .json(
      .array(ids.map { .string("\(call.root)/sobjects/\(schema.name)/\($0)") }), status: 300)
  }

  private static func id(_ schema: ObjectSchema, _ call: APIRequest) throws(OrgError) -> String {
    if call.path[2].lowercased() == "id" { return call.path[3] }
    let found = try call.org.find(
      schema.name, externalField: call.path[2], value: call.path[3], as: call.user)
    guard let found else { throw .notFound }
    return found
  }
}
