import HTTP
import JSON

/// What a resource answers, before it becomes a response or a part of one.
struct APIResponse: Sendable {
  var status = 200
  var headers: HTTPHeaders = [:]
  /// JSON text, or nothing.
  var body: [UInt8] = []
  /// The pieces of a body that is made while it is sent, in place of `body`.
  var stream: (@Sendable () throws -> [UInt8]?)?
  /// How many records it read or wrote, for the log.
  var records: Int?

  var isSuccess: Bool { (200..<300).contains(status) }

  /// Nothing but a status.
  static func empty(_ status: Int, records: Int? = nil) -> APIResponse {
    APIResponse(status: status, records: records)
  }

  /// A JSON value.
  static func json(_ value: JSONValue, status: Int = 200, records: Int? = nil) -> APIResponse {
    APIResponse(status: status, body: value.bytes, records: records)
  }

  /// Errors, as every data resource words them.
  static func failure(_ errors: [OrgError]) -> APIResponse {
    .json(.array(errors.map(\.entry)), status: errors.first?.status ?? 400)
  }
}
