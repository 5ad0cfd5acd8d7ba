/// Serves `/query`, `/queryAll` and their further pages.
///
/// Unknown URL parameters are ignored.
enum QueryResource {
  @Sendable static func query(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try first(call, includeDeleted: false)
  }

  @Sendable static func queryAll(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try first(call, includeDeleted: true)
  }

  /// Returns a page by its locator, which both resources accept.
  @Sendable static func more(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let page = try call.org.queryMore(
      call.path[1], as: call.user, batchSize: batchSize(call),
      childPageSize: call.server.options.childPageSize,
      endsChildLocators: call.server.options.endsChildLocators, version: call.version)
    return answer(page, call)
  }

  private static func first(_ call: APIRequest, includeDeleted: Bool) throws(OrgError)
    -> APIResponse
  {
    guard let soql = call.target.query("q"), !soql.isEmpty else {
      throw OrgError(code: "MALFORMED_QUERY", message: "A query string is required")
    }
    let page = try call.org.query(
      soql, as: call.user, includeDeleted: includeDeleted, batchSize: batchSize(call),
      childPageSize: call.server.options.childPageSize, version: call.version)
    return answer(page, call)
  }

  private static func answer(_ page: QueryPage, _ call: APIRequest) -> APIResponse {
    APIResponse(
      body: page.answer { "\(call.root)/query/\($0)" }, records: page.count,
      ids: page.isOfIDs ? page.count : nil)
  }

  /// Reads `Sforce-Query-Options: batchSize=N`, limited to the range that an org accepts.
  private static func batchSize(_ call: APIRequest) -> Int {
    var size = OrgLimits.queryPage.upperBound
    for option in (call.headers["Sforce-Query-Options"] ?? "").split(separator: ",") {
      let sides = option.split(separator: "=").map { $0.filter { $0 != " " } }
      if sides.count == 2, sides[0].lowercased() == "batchsize", let number = Int(sides[1]) {
        size = min(max(number, OrgLimits.queryPage.lowerBound), OrgLimits.queryPage.upperBound)
      }
    }
    return min(size, call.faults.pageLimit ?? size)
  }
}
