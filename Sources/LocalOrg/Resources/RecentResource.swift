import JSON

/// `GET /recent`: the user's recent items of all objects.
enum RecentResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    var limit = RecentItems.most
    if let text = call.target.query("limit") {
      guard let number = Int(text), number > 0 else {
        throw OrgError(
          code: "INVALID_QUERY_VALUE", message: "limit must be a number greater than zero")
      }
      limit = min(number, limit)
    }
    let items = try call.org.recentItems(as: call.user, limit: limit)
    return .json(.array(items.map { record($0, call) }), records: items.count)
  }

  /// Returns an item as a record.
  static func record(_ item: RecentItem, _ call: APIRequest) -> JSONValue {
    [
      "attributes": [
        "type": .string(item.object),
        "url": .string("\(call.root)/sobjects/\(item.object)/\(item.id)"),
      ],
      "Id": .string(item.id), "Name": item.name.map(JSONValue.string) ?? .null,
    ]
  }
}
