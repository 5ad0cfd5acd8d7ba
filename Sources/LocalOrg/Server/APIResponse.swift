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

  var isSuccess: Bool { (200..<300).contains(status) }

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
