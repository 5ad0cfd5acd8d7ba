import HTTP
import JSON

extension Session {
  /// The IDs of the records of an sObject that the user opened last, the latest first.
  package func recentItems(_ sObject: String) async throws(OrgError) -> [String] {
    let call = OrgCall(.recentItems, "GET", path("sobjects/\(HTTPQuery.encode(sObject))"))
    guard let items = try await json(call)["recentItems"]?.array else {
      throw Self.invalidResponse("the response has no recent items", call)
    }
    let ids = items.compactMap { $0["Id"]?.string?.recordID18 }
    guard ids.count == items.count else {
      throw Self.invalidResponse("a recent item has no ID", call)
    }
    return ids
  }
}
