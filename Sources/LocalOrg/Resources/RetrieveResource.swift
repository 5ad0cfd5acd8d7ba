import JSON

/// `/composite/sobjects/X`: up to 2,000 records by ID, null for each that cannot be read.
enum RetrieveResource {
  private static let most = 2000

  @Sendable static func readBody(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let body = try call.object(of: ["ids", "fields"])
    return try read(call, ids: try texts("ids", body), fields: try texts("fields", body))
  }

  @Sendable static func readQuery(_ call: APIRequest) throws(OrgError) -> APIResponse {
    func list(_ name: String) throws(OrgError) -> [String] {
      guard let text = call.target.query(name), !text.isEmpty else { throw missing(name) }
      return text.split(separator: ",").map { String($0.filter { $0 != " " }) }
    }
    return try read(call, ids: try list("ids"), fields: try list("fields"))
  }

  private static func read(_ call: APIRequest, ids: [String], fields: [String]) throws(OrgError)
    -> APIResponse
  {
    guard let schema = call.schema(call.path[2]) else { throw .unknownObject(call.path[2]) }
    guard ids.count <= most else { throw .tooMany("ids", ids.count, limit: most) }
    let body = try call.org.retrieve(
      schema.name, ids: spoiled(ids, call.faults), fields: fields, as: call.user,
      version: call.version)
    return APIResponse(body: body, records: ids.count)
  }

  /// Replaces an ID by an unknown one, to inject a null.
  private static func spoiled(_ ids: [String], _ faults: FaultPlan) -> [String] {
    let places = faults.nullPlaces
    let hidden = Set(faults.nullIDs.compactMap { OrgID.normalize($0) })
    guard !hidden.isEmpty || !places.isEmpty else { return ids }
    return ids.enumerated().map { place, id in
      places.contains(place) || OrgID.normalize(id).map(hidden.contains) == true
        ? "000000000000000AAA" : id
    }
  }

  private static func texts(_ name: String, _ body: JSONObject) throws(OrgError) -> [String] {
    guard let values = body[name]?.array, !values.isEmpty else { throw missing(name) }
    var texts: [String] = []
    texts.reserveCapacity(values.count)
    for value in values {
      guard let text = value.string else {
        throw .unreadableBody("\(name) must be an array of strings")
      }
      texts.append(text)
    }
    return texts
  }

  private static func missing(_ name: String) -> OrgError {
    OrgError(
      code: "MISSING_ARGUMENT", message: "The \(name) parameter is required and may not be empty")
  }
}
