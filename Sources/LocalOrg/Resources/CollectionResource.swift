import JSON

/// `/composite/sobjects`: up to 200 records created, updated, upserted or deleted in one call.
///
/// The status is 200 whatever the outcome; each row has its own result, in order.
enum CollectionResource {
  private static let most = 200
  /// An org splits a collection into runs of records of one type.
  private static let mostRuns = 10

  @Sendable static func create(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let (records, allOrNone) = try body(call)
    try checkRuns(types(of: records))
    return try run(call, allOrNone: allOrNone, count: records.count) { index in
      switch type(of: records[index], call) {
      case .success(let schema):
        return call.org.create(schema.name, records[index], as: call.user)
      case .failure(let error): return .failure([error])
      }
    }
  }

  @Sendable static func update(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let (records, allOrNone) = try body(call)
    try checkRuns(types(of: records))
    return try run(call, allOrNone: allOrNone, count: records.count) { index in
      let record = records[index]
      guard let id = id(of: record) else {
        return .failure([
          OrgError(code: "MISSING_ARGUMENT", message: "Id not specified in an update call")
        ])
      }
      switch type(of: record, call) {
      case .success(let schema):
        return call.org.update(schema.name, id: id, withoutID(record), as: call.user).ofReference
      case .failure(let error): return .failure([error])
      }
    }
  }

  @Sendable static func upsert(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let (records, allOrNone) = try body(call)
    guard let schema = call.schema(call.path[2]) else { throw .unknownObject(call.path[2]) }
    let external = call.path[3]
    guard schema.field(external)?.idLookup == true else {
      throw OrgError(
        status: 404, code: "NOT_FOUND",
        message: "Provided external ID field does not exist or is not accessible: \(external)")
    }
    return try run(call, allOrNone: allOrNone, count: records.count, showsCreated: true) { index in
      let key = records[index].names.first { $0.lowercased() == external.lowercased() }
      let value = key.flatMap { records[index][$0] }
      var rest = records[index]
      if let key { rest[key] = nil }
      let text = value?.string ?? value?.double.map { _ in value?.text ?? "" }
      return call.org.upsert(
        schema.name, externalField: external, value: text, rest, as: call.user
      ).ofReference
    }
  }

  @Sendable static func delete(_ call: APIRequest) throws(OrgError) -> APIResponse {
    guard let text = call.target.query("ids"), !text.isEmpty else {
      throw OrgError(code: "MISSING_ARGUMENT", message: "The ids parameter is required")
    }
    let ids = text.split(separator: ",").map { String($0.filter { $0 != " " }) }
    try check(ids.count)
    try checkRuns(ids.map { OrgID.prefix($0) })
    let allOrNone = call.target.query("allOrNone")?.lowercased() == "true"
    return try run(call, allOrNone: allOrNone, count: ids.count) { index in
      guard OrgID.normalize(ids[index]) != nil else {
        return .failure([.malformedID(ids[index])])
      }
      return call.org.delete(nil, id: ids[index], as: call.user).ofReference
    }
  }

  /// Thrown inside the transaction to roll it back.
  private struct RolledBack: Error {}

  private static func run(
    _ call: APIRequest, allOrNone: Bool, count: Int, showsCreated: Bool = false,
    _ row: (Int) -> RowOutcome
  ) throws(OrgError) -> APIResponse {
    var outcomes: [RowOutcome] = []
    outcomes.reserveCapacity(count)
    do {
      // One transaction for the call: one commit, and a rollback for allOrNone.
      try call.org.transaction {
        for index in 0..<min(count, call.faults.partLimit ?? count) {
          outcomes.append(
            call.faults.refusal(ofPart: index).map { .failure([$0]) } ?? row(index))
        }
        // An interrupted call returns the fault; with allOrNone, nothing is applied.
        let isWhole = outcomes.count == count && !outcomes.contains { $0.id == nil }
        if allOrNone, !isWhole { throw RolledBack() }
      }
    } catch is RolledBack {
      outcomes = outcomes.map { $0.id == nil ? $0 : .failure([rolledBack]) }
    } catch {
      throw .storage(error)
    }
    let results = outcomes.map { result($0, showsCreated: showsCreated) }
    return .json(.array(results), records: outcomes.count { $0.id != nil })
  }

  private static let rolledBack = OrgError(
    code: "ALL_OR_NONE_OPERATION_ROLLED_BACK",
    message: "Record rolled back because not all records were valid and the request was using "
      + "AllOrNone header")

  private static func result(_ outcome: RowOutcome, showsCreated: Bool) -> JSONValue {
    switch outcome {
    case .success(let id, let created):
      var object: JSONObject = ["id": .string(id), "success": true, "errors": []]
      if showsCreated { object["created"] = .bool(created) }
      return .object(object)
    case .failure(let errors):
      var object: JSONObject = [
        "success": false, "errors": .array(errors.map(\.collectionEntry)),
      ]
      if showsCreated { object["created"] = false }
      return .object(object)
    }
  }

  private static func body(_ call: APIRequest) throws(OrgError) -> ([JSONObject], allOrNone: Bool) {
    let body = try call.object(of: ["allOrNone", "records"])
    guard let values = body["records"]?.array else {
      throw .unreadableBody("The body must have an array \"records\"")
    }
    try check(values.count)
    var records: [JSONObject] = []
    for value in values {
      guard let object = value.object else {
        throw .unreadableBody("Each of \"records\" must be an object")
      }
      records.append(object)
    }
    return (records, body["allOrNone"]?.bool ?? false)
  }

  private static func check(_ count: Int) throws(OrgError) {
    guard count <= most else { throw .tooMany("records", count, limit: most) }
  }

  private static func types(of records: [JSONObject]) -> [String] {
    records.map { $0["attributes"]?["type"]?.string?.lowercased() ?? "null" }
  }

  private static func checkRuns(_ types: [String]) throws(OrgError) {
    var runs = 0
    var last: String?
    for type in types {
      if type != last { runs += 1 }
      last = type
    }
    guard runs > mostRuns else { return }
    throw OrgError(
      code: "LIMIT_EXCEEDED",
      message: "Cannot have more than \(mostRuns) chunks in a single operation. "
        + "Please rearrange the data to reduce chunking.")
  }

  private static func type(of record: JSONObject, _ call: APIRequest) -> Result<
    ObjectSchema, OrgError
  > {
    let name = record["attributes"]?["type"]?.string ?? "null"
    return call.schema(name).map { .success($0) } ?? .failure(.unknownObject(name))
  }

  private static func id(of record: JSONObject) -> String? {
    record.names.first { $0.lowercased() == "id" }.flatMap { record[$0]?.string }
  }

  private static func withoutID(_ record: JSONObject) -> JSONObject {
    var rest = record
    for name in record.names where name.lowercased() == "id" { rest[name] = nil }
    return rest
  }
}
