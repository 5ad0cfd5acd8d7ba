import Crypto
import JSON
import System

/// Descriptions: `/sobjects`, `/sobjects/X` and `/sobjects/X/describe`.
enum DescribeResource {
  @Sendable static func global(_ call: APIRequest) throws(OrgError) -> APIResponse {
    if let unmodified = try unmodified(call) { return unmodified }
    var answer = APIResponse.json([
      "encoding": "UTF-8", "maxBatchSize": 200,
      "sobjects": .array(
        call.org.objects(as: call.user).map { .object(description($0, call).summary) }),
    ])
    sign(&answer, call)
    return answer
  }

  /// Returns the summary and the user's recent records.
  @Sendable static func basic(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    let items = try call.org.recentItems(schema.name, as: call.user)
    return .json(
      [
        "objectDescribe": .object(description(schema, call).summary),
        "recentItems": .array(items.map { RecentResource.record($0, call) }),
      ], records: items.count)
  }

  @Sendable static func full(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    if let unmodified = try unmodified(call) { return unmodified }
    let body = call.server.description(dependencies(call)) {
      var description = description(schema, call)
      description.recordTypes = call.org.recordTypes(of: schema.name)
      return JSONValue.object(description.whole).bytes
    }
    var answer = APIResponse(body: body)
    sign(&answer, call)
    return answer
  }

  /// The response to a client that already has the description: the schema changes only when the
  /// org is set up.
  private static func unmodified(_ call: APIRequest) throws(OrgError) -> APIResponse? {
    guard call.target.method != "POST" else { return nil }
    let hasTag = call.headers["If-None-Match"]?.contains(tag(call)) ?? false
    let since = try call.date(of: "If-Modified-Since")
    guard hasTag || since.map({ $0 / 1000 >= changedAt(call) / 1000 }) ?? false else {
      return nil
    }
    var answer = APIResponse.empty(304)
    sign(&answer, call)
    return answer
  }

  private static func sign(_ answer: inout APIResponse, _ call: APIRequest) {
    answer.headers["ETag"] = tag(call)
    answer.headers["Last-Modified"] = Dates.http(changedAt(call))
  }

  /// The time of the last schema change.
  private static func changedAt(_ call: APIRequest) -> Int64 {
    max(call.server.startedAt, call.org.setupAge().changedAt)
  }

  /// The key of a cached response: the user, the URL with its version, and the number of setups
  /// since the server started.
  private static func dependencies(_ call: APIRequest) -> String {
    [
      call.version, call.path.joined(separator: "/").lowercased(), call.user.id,
      String(call.server.startedAt), String(call.org.setupAge().count),
    ].joined(separator: " ")
  }

  private static func tag(_ call: APIRequest) -> String {
    "\"\(Digest.sha256Hex(Array(dependencies(call).utf8)).prefix(8))\""
  }

  private static func description(_ schema: ObjectSchema, _ call: APIRequest) -> ObjectDescription {
    ObjectDescription(schema: schema, user: call.user, root: call.root)
  }
}
