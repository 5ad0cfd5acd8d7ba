import HTTP
import JSON
import LocalOrg
import TestSupport

/// An org served on a free port, and a client that uses HTTP.
struct ServedOrg {
  let directory = TemporaryDirectory("org")
  let org: Org
  let server: OrgServer
  let client: HTTPClient
  /// A token of ada@example.com, who has all rights.
  let token: String
  static let version = "/services/data/v66.0"
  init(_ adjust: (inout OrgServer.Options) -> Void = { _ in }) throws {
    org = try Org(directory: directory.file("org"))
    try org.addUser("ada@example.com", lastName: "Adams", profile: "Integration")
    var options = OrgServer.Options()
    adjust(&options)
    server = try OrgServer(org: org, options: options)
    client = try HTTPClient()
    token = try server.token(for: "ada@example.com", app: "field-app")
  }

  /// Sends a request with the token; a path that starts with a slash is below the version unless it
  /// names a service itself.
  func send(
    _ method: String, _ path: String, _ body: JSONValue? = nil, headers: HTTPHeaders = [:],
    token: String? = nil
  ) async throws -> HTTPResponse {
    let isWhole = path.hasPrefix("/services") || path.hasPrefix("/id/")
    var request = HTTPRequest(method, server.url + (isWhole ? path : Self.version + path))
    request.headers = headers
    request.headers["Authorization"] = "Bearer " + (token ?? self.token)
    if let body {
      request.headers["Content-Type"] = "application/json"
      request.body = body.bytes
    }
    return try await client.send(request)
  }

  func query(_ soql: String, headers: HTTPHeaders = [:]) async throws -> HTTPResponse {
    try await send("GET", "/query?q=" + HTTPQuery.encode(soql), headers: headers)
  }

  func create(_ object: String, _ fields: JSONValue) async throws -> String {
    let response = try await send("POST", "/sobjects/\(object)", fields)
    guard response.status == 201, let id = response.json["id"]?.string else {
      throw Unexpected(response: response)
    }
    return id
  }

  /// Adds records with a name, bypassing the API.
  func fill(_ object: String, _ count: Int) throws {
    guard let ada = org.user(named: "ada@example.com") else {
      throw OrgError(code: "X", message: "")
    }
    try org.transaction {
      for number in 0..<count {
        let outcome = org.create(object, ["Name": .string("\(object) \(number)")], as: ada)
        if let error = outcome.errors.first { throw error }
      }
    }
  }

  func login(_ form: [(String, String)], headers: HTTPHeaders = [:]) async throws -> HTTPResponse {
    var request = HTTPRequest("POST", server.url + "/services/oauth2/token")
    request.headers = headers
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    request.body = Array(HTTPQuery.string(form).utf8)
    return try await client.send(request)
  }
}

/// A response with which a test cannot continue.
struct Unexpected: Error, CustomStringConvertible {
  let response: HTTPResponse
  var description: String { "\(response.status) \(response.text)" }
}

extension HTTPResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
  /// The body as JSON; null if it is not JSON.
  var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
  /// Status and error codes: `404 NOT_FOUND`.
  var outcome: String {
    let codes = (json.array ?? []).compactMap { $0["errorCode"]?.string }
    return ([String(status)] + codes).joined(separator: " ")
  }
}
