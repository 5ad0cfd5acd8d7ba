import JSON
import System

/// `/sobjects/X/deleted` and `/updated`: the IDs of records changed in a period of time.
enum ChangesResource {
  private static let day: Int64 = 86_400_000

  @Sendable static func deleted(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    let (start, end) = try window(call, days: 15)
    let changes = try call.org.changes(
      schema.name, deleted: true, from: start, to: end, as: call.user)
    return .json(
      [
        "deletedRecords": .array(
          changes.map { ["id": .string($0.id), "deletedDate": .string($0.date)] }),
        "earliestDateAvailable": .string(Dates.salesforce(call.org.now() - 15 * day)),
        "latestDateCovered": .string(Dates.salesforce(covered(end, call))),
      ], records: changes.count)
  }

  @Sendable static func updated(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try call.schema()
    let (start, end) = try window(call, days: 30)
    let changes = try call.org.changes(
      schema.name, deleted: false, from: start, to: end, as: call.user)
    return .json(
      [
        "ids": .array(changes.map { .string($0.id) }),
        "latestDateCovered": .string(Dates.salesforce(covered(end, call))),
      ], records: changes.count)
  }

  /// The future is not covered.
  private static func covered(_ end: Int64, _ call: APIRequest) -> Int64 {
    min(end, call.org.now() / 60_000 * 60_000)
  }

  /// Returns the period in whole minutes; its start must be before its end and not too long ago.
  private static func window(_ call: APIRequest, days: Int64) throws(OrgError) -> (Int64, Int64) {
    func time(_ name: String) throws(OrgError) -> Int64 {
      guard let text = call.target.query(name), let time = Dates.milliseconds(iso8601: text) else {
        throw refusal("\(name) is missing or is not a date and time")
      }
      return time / 60_000 * 60_000
    }
    let (start, end) = (try time("start"), try time("end"))
    guard start < end else { throw refusal("start must be before end") }
    guard start >= call.org.now() - days * day else {
      throw refusal("start must be at most \(days) days ago")
    }
    return (start, end)
  }

  private static func refusal(_ message: String) -> OrgError {
    OrgError(code: "INVALID_REPLICATION_DATE", message: message)
  }
}
