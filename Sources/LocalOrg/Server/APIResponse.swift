import HTTP
import JSON

/// The response of a resource, before it is sent or becomes part of another one.
struct APIResponse: Sendable {
  var status = 200
  var headers: HTTPHeaders = [:]
  /// JSON text, or nothing.
  var body: [UInt8] = []
  /// The parts of a body generated while it is sent, instead of `body`.
  var stream: (@Sendable () throws -> [UInt8]?)?
  /// The number of records read or written, for the log.
  var records: Int?
  /// How many of these were answered with no field other than `Id` and `SystemModstamp`.
  var ids: Int?
  /// The number of calls that an org counts.
  var calls = 1

  var isSuccess: Bool { (200..<300).contains(status) }

  /// Adds the records of a request's parts.
  mutating func count(_ parts: [APIResponse]) {
    let done = parts.filter(\.isSuccess)
    records = done.reduce(0) { $0 + ($1.records ?? 0) }
    ids = done.reduce(0) { $0 + ($1.ids ?? 0) }
  }

  /// A status without a body.
  static func empty(_ status: Int, records: Int? = nil) -> APIResponse {
    APIResponse(status: status, records: records)
  }

  static func json(_ value: JSONValue, status: Int = 200, records: Int? = nil) -> APIResponse {
    APIResponse(status: status, body: value.bytes, records: records)
  }

  /// Errors in the format of data resources.
  static func failure(_ errors: [OrgError]) -> APIResponse {
    .json(.array(errors.map(\.entry)), status: errors.first?.status ?? 400)
  }
}
