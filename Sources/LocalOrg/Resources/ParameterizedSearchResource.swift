import JSON

/// `/parameterizedSearch`: a search without SOSL, by parameters or as JSON.
enum ParameterizedSearchResource {
  @Sendable static func readQuery(_ call: APIRequest) throws(OrgError) -> APIResponse {
    func list(_ text: String?) -> [JSONValue] {
      (text ?? "").split(separator: ",").map { .string(String($0.filter { $0 != " " })) }
    }
    let target = call.target
    var body = JSONObject()
    if let text = target.query("q") { body["q"] = .string(text) }
    if let group = target.query("in") { body["in"] = .string(group) }
    for name in ["overallLimit", "defaultLimit"] {
      if let number = target.query(name).flatMap({ Int($0) }) { body[name] = JSONValue(number) }
    }
    body["fields"] = .array(list(target.query("fields")))
    let names = target.query.filter { $0.0.lowercased() == "sobject" }.map(\.1)
    body["sobjects"] = .array(
      names.map { name in
        var object: JSONObject = ["name": .string(name)]
        object["fields"] = .array(list(target.query(name + ".fields")))
        if let condition = target.query(name + ".where") { object["where"] = .string(condition) }
        if let limit = target.query(name + ".limit").flatMap({ Int($0) }) {
          object["limit"] = JSONValue(limit)
        }
        return .object(object)
      })
    return try run(body, call)
  }

  @Sendable static func readBody(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try run(try call.object(), call)
  }

  private static func run(_ body: JSONObject, _ call: APIRequest) throws(OrgError) -> APIResponse {
    guard let text = body["q"]?.string, !text.isEmpty else {
      throw OrgError(code: "MISSING_ARGUMENT", message: "The q parameter is required")
    }
    var query = SOSLQuery(expression: try SearchTextParser.parse(escaped(text)))
    if let name = body["in"]?.string {
      guard let group = SearchGroup(rawValue: name.uppercased()) else {
        throw OrgError(code: "INVALID_INPUT", message: "in is not a search group: \(name)")
      }
      query.group = group
    }
    query.limit = number(body["overallLimit"])
    let objects = body["sobjects"]?.array ?? []
    if !objects.isEmpty {
      var returning: [SOQLQuery] = []
      for object in objects { returning.append(try returned(object, body)) }
      query.returning = returning
    }
    let page = try call.org.search(query, as: call.user, version: call.version)
    return SearchResource.answer(page, call)
  }

  private static func returned(_ object: JSONValue, _ body: JSONObject) throws(OrgError)
    -> SOQLQuery
  {
    guard let name = object["name"]?.string, !name.isEmpty else {
      throw OrgError(code: "MISSING_ARGUMENT", message: "Each of sobjects must have a name")
    }
    var query = SOQLQuery()
    query.from = SOQLPath(parts: [name], line: 1, column: 1)
    let own = object["fields"]?.array ?? []
    let fields = own.isEmpty ? body["fields"]?.array ?? [] : own
    query.selections = fields.compactMap(\.string).map { field in
      let parts = field.split(separator: ".").map(String.init)
      return .field(SOQLPath(parts: parts, line: 1, column: 1), alias: nil)
    }
    if let condition = object["where"]?.string {
      query.condition = try SOQLParser.condition(condition)
    }
    query.limit = number(object["limit"]) ?? number(body["defaultLimit"])
    return query
  }

  private static func number(_ value: JSONValue?) -> Int? {
    value?.int.flatMap { Int(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Returns the text with the special characters of FIND escaped, except wildcards and quotation
  /// marks.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "&|!{}[]()^~:\\".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}
