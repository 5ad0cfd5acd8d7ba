import HTTP
import JSON
import System

/// One request to a data resource, whether it came alone or inside a composite.
struct APIRequest: Sendable {
  /// The body: bytes of a request of its own, or a value that was parsed with its envelope.
  enum Content: Sendable {
    case bytes([UInt8])
    case value(JSONValue?)
  }

  let org: Org
  let session: Session
  let target: Target
  /// The API version of the address, `66.0`.
  let version: String
  /// The segments below it.
  let path: [String]
  let headers: HTTPHeaders
  let content: Content
  let server: OrgService
  let faults: FaultPlan

  var user: OrgUser { session.user }

  /// The version as a number.
  var versionNumber: Int { Int(version.prefix { $0 != "." }) ?? 0 }

  /// `/services/data/v66.0`, the version that was asked for.
  var root: String { "/services/data/v\(version)" }

  /// The body as JSON.
  func json() throws(OrgError) -> JSONValue {
    switch content {
    case .value(let value):
      guard let value else { throw .unreadableBody("The request has no body") }
      return value
    case .bytes(let bytes):
      guard !bytes.isEmpty else { throw .unreadableBody("The request has no body") }
      do {
        return try JSONValue(parsing: bytes)
      } catch {
        throw .unreadableBody(
          "\(error.message) at [line:\(error.line), column:\(error.column)]")
      }
    }
  }

  /// The body as a JSON object.
  func object() throws(OrgError) -> JSONObject {
    guard let object = try json().object else {
      throw .unreadableBody("The body has to be a JSON object")
    }
    return object
  }

  /// The body as an object that has no other members than these.
  func object(of members: Set<String>) throws(OrgError) -> JSONObject {
    let object = try object()
    try object.checkNames(members)
    return object
  }

  /// The date of a conditional header in milliseconds; nil when the header is not there.
  func date(of header: String) throws(OrgError) -> Int64? {
    guard let text = headers[header] else { return nil }
    guard let milliseconds = Dates.milliseconds(http: text) else {
      throw OrgError(code: "INVALID_HEADER", message: "\(header) is not an HTTP date")
    }
    return milliseconds
  }

  /// The object of the second segment.
  func schema() throws(OrgError) -> ObjectSchema {
    guard path.count > 1, let schema = schema(path[1]) else { throw .notFound }
    return schema
  }

  /// The object of that name as the user sees it.
  func schema(_ name: String) -> ObjectSchema? { org.schema(name, as: user) }

  /// The same caller's call to another address, as a part of this one.
  func part(
    _ target: Target, version: String, path: [String], headers: HTTPHeaders, body: JSONValue?
  )
    -> APIRequest
  {
    APIRequest(
      org: org, session: session, target: target, version: version, path: path, headers: headers,
      content: .value(body), server: server, faults: faults.forPart)
  }
}

extension JSONObject {
  /// Refuses a member that a resource does not know, as an org's JSON reader does.
  func checkNames(_ known: Set<String>) throws(OrgError) {
    for name in names where !known.contains(name) {
      throw .unreadableBody("Unrecognized field \"\(name)\", not marked as ignorable")
    }
  }
}
