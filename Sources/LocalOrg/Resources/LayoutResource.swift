import Crypto
import JSON

/// `GET /ui-api/layout/X`: the fields of an object as laid out on a page.
enum LayoutResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    guard let schema = call.schema(call.path[2]), !schema.isSetup else {
      throw OrgError(
        code: "INVALID_TYPE", message: "Object \(call.path[2]) is not supported in UI API")
    }
    _ = try choice("formFactor", of: ["Large", "Medium", "Small"], call)
    let layout = PageLayout(
      object: schema,
      isCompact: try choice("layoutType", of: ["Full", "Compact"], call) == "Compact",
      mode: try choice("mode", of: ["View", "Edit", "Create"], call))
    var object = layout.json(recordTypeID: try recordType(schema, call))
    let tag = String(Digest.sha256Hex(JSONValue.object(object).bytes).prefix(32))
    if call.headers["If-None-Match"]?.contains(tag) == true { return .empty(304) }
    object = JSONObject([("eTag", .string(tag))] + Array(object))
    var answer = APIResponse.json(.object(object))
    answer.headers["ETag"] = "\"\(tag)\""
    return answer
  }

  /// Returns one of the given words; the default is the first.
  private static func choice(_ name: String, of words: [String], _ call: APIRequest)
    throws(OrgError)
    -> String
  {
    guard let given = call.target.query(name), !given.isEmpty else { return words[0] }
    guard let word = words.first(where: { $0.lowercased() == given.lowercased() }) else {
      throw refusal(name, "one of \(words.joined(separator: ", "))")
    }
    return word
  }

  /// Returns the requested record type, or the master.
  private static func recordType(_ schema: ObjectSchema, _ call: APIRequest) throws(OrgError)
    -> String
  {
    let master = "012000000000000AAA"
    guard let given = call.target.query("recordTypeId"), !given.isEmpty else { return master }
    guard let id = OrgID.normalize(given), OrgID.prefix(id) == "012" else {
      throw refusal("recordTypeId", "the id of a record type")
    }
    if id == master { return id }
    let type = try call.org.read("RecordType", id: id, fields: ["SobjectType"], as: call.user)
    guard type["SobjectType"]?.string == schema.name else {
      throw refusal("recordTypeId", "a record type of \(schema.name)")
    }
    return id
  }

  private static func refusal(_ name: String, _ wanted: String) -> OrgError {
    OrgError(code: "ILLEGAL_QUERY_PARAMETER_VALUE", message: "\(name) must be \(wanted)")
  }
}
