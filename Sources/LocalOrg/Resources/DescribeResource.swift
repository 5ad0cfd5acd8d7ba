import JSON
import System

/// What there is: `/sobjects`, `/sobjects/X` and `/sobjects/X/describe`.
enum DescribeResource {
  @Sendable static func global(_ call: APIRequest) throws(OrgError) -> APIResponse {
    if try isUnmodified(call) { return .empty(304) }
    var answer = APIResponse.json([
      "encoding": "UTF-8", "maxBatchSize": 200,
      "sobjects": .array(call.org.objects().map { .object(description($0, call).summary) }),
    ])
    answer.headers["Last-Modified"] = Dates.http(call.settings.startedAt)
    return answer
  }

  /// The summary and the records that the user used last.
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
    if try isUnmodified(call) { return .empty(304) }
    var answer = APIResponse.json(.object(description(schema, call).whole))
    answer.headers["Last-Modified"] = Dates.http(call.settings.startedAt)
    return answer
  }

  /// The schema does not change while the org is served.
  private static func isUnmodified(_ call: APIRequest) throws(OrgError) -> Bool {
    guard call.target.method != "POST", let since = try call.date(of: "If-Modified-Since") else {
      return false
    }
    return since / 1000 >= call.settings.startedAt / 1000
  }

  private static func description(_ schema: ObjectSchema, _ call: APIRequest) -> ObjectDescription {
    ObjectDescription(schema: schema, user: call.user, root: call.root)
  }
}
