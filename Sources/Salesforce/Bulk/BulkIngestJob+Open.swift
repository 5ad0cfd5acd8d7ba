import JSON
import System

// Jobs that were opened, but whose response was lost.
extension BulkIngestJob {
  /// The number of pages of the job list that are read.
  private static let mostPages = 20

  /// The IDs of open jobs that the session's user has created since a moment of the org's clock,
  /// for an operation on an object.
  ///
  /// They have no rows, so the org does nothing with them.
  package static func left(
    by operation: Operation, _ sobject: String, since: Int64, _ session: Session
  ) async throws(OrgError) -> [String] {
    var ids: [String] = []
    var path: String? = session.path("jobs/ingest?jobType=V2Ingest")
    for _ in 0..<mostPages {
      guard let page = path else { break }
      let call = OrgCall(.bulk, "GET", page)
      let answer = try await session.json(call)
      for job in answer["records"]?.array ?? [] {
        guard let id = job["id"]?.string, job["state"]?.string == "Open",
          job["operation"]?.string == operation.rawValue,
          job["object"]?.string?.lowercased() == sobject.lowercased(),
          job["createdById"]?.string?.recordID18 == session.identity.userID,
          let created = job["createdDate"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) }),
          created >= since
        else { continue }
        ids.append(id)
      }
      path = answer["done"]?.bool == false ? answer["nextRecordsUrl"]?.string : nil
      guard path.map(QueryPageHead.isLocator) ?? true else {
        throw Session.invalidResponse("the address of the next page is not one of the org", call)
      }
    }
    return ids
  }
}
