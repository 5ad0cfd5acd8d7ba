import HTTP
import JSON
import System

/// One request to a data resource, sent alone or inside a composite.
struct APIRequest: Sendable {
  /// The body: bytes of a separate request, or a value parsed with its envelope.
  enum Content: Sendable {
    case bytes([UInt8])
    case value(JSONValue?)
  }

  let org: Org
  let session: Session
  let target: Target
  /// The API version in the URL, such as `66.0`.
  let version: String
  /// The path segments after the version.
  let path: [String]
  let headers: HTTPHeaders
  let content: Content
  let server: OrgService
  let faults: FaultPlan

  var user: OrgUser { session.user }

  var versionNumber: Int { Int(version.prefix { $0 != "." }) ?? 0 }

  /// The root of the requested version, such as `/services/data/v66.0`.
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
      throw .unreadableBody("The body must be a JSON object")
    }
    return object
  }

  /// The body as a JSON object with only these members.
  func object(of members: Set<String>) throws(OrgError) -> JSONObject {
    let object = try object()
    try object.checkNames(members)
    return object
  }

  /// The date of a conditional header in milliseconds; nil if the header is missing.
  func date(of header: String) throws(OrgError) -> Int64? {
    guard let text = headers[header] else { return nil }
    guard let milliseconds = Dates.milliseconds(http: text) else {
      throw OrgError(code: "INVALID_HEADER", message: "\(header) is not an HTTP date")
    }
    return milliseconds
  }

  /// The object named by the second segment.
  func schema() throws(OrgError) -> ObjectSchema {
    guard path.count > 1, let schema = schema(path[1]) else { throw .notFound }
    return schema
  }

  /// The object with that name as the user sees it.
  func schema(_ name: String) -> ObjectSchema? { org.schema(name, as: user) }

  /// Returns the same caller's request to another URL, as a part of this one.
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
  /// Rejects unknown members, as an org's JSON reader does.
  func checkNames(_ known: Set<String>) throws(OrgError) {
    for name in names where !known.contains(name) {
      throw .unreadableBody("Unrecognized field \"\(name)\", not marked as ignorable")
    }
  }
}
