import JSON

/// `GET /search?q=FIND {…}`.
enum SearchResource {
  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let page = try call.org.search(
      call.target.query("q") ?? "", as: call.user, version: call.version)
    return answer(page, call)
  }

  /// Returns the response; up to version 36, only the list.
  static func answer(_ page: SearchPage, _ call: APIRequest) -> APIResponse {
    if let number = Int(call.version.prefix { $0 != "." }), number <= 36 {
      return APIResponse(body: page.records, records: page.count)
    }
    var writer = JSONWriter(reserving: page.records.count + 24)
    writer.beginObject()
    writer.name("searchRecords")
    writer.raw(page.records)
    writer.endObject()
    return APIResponse(body: writer.bytes, records: page.count)
  }
}
