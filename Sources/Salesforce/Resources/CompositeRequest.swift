import HTTP
import JSON

/// One request inside a composite one.
package struct CompositeRequest: Sendable {
  /// The method.
  package var method: String
  /// Path and query, encoded, from `/services/data/`.
  package var url: String
  /// The name that its result bears.
  package var referenceId: String
  /// The body's JSON, nil for none.
  package var body: [UInt8]?
  /// Conditions such as `If-Unmodified-Since`.
  package var headers: [(name: String, value: String)]

  /// A request of its parts.
  package init(
    method: String, url: String, referenceId: String, body: [UInt8]? = nil,
    headers: [(name: String, value: String)] = []
  ) {
    self.method = method
    self.url = url
    self.referenceId = referenceId
    self.body = body
    self.headers = headers
  }

  /// A write of one row, which holds only while that was not modified after a moment, where one is given.
  package init(
    method: String, url: String, referenceId: String, body: [UInt8]?, unmodifiedSince: Int64?
  ) {
    self.init(
      method: method, url: url, referenceId: referenceId, body: body,
      headers: WriteHeaders.fields(unmodifiedSince: unmodifiedSince))
  }
}

/// The result of one request inside a composite one.
package struct CompositeResult: Sendable, Hashable {
  /// The request's name.
  package let referenceId: String
  /// Its status.
  package let status: Int
  /// Its header fields.
  package let headers: JSONObject
  /// Its body; `null` if it has none, an array of errors if it failed.
  package let body: JSONValue

  package init(referenceId: String, status: Int, headers: JSONObject, body: JSONValue) {
    self.referenceId = referenceId
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether it was done.
  package var isSuccess: Bool { HTTPStatus.success.contains(status) }
  /// The org's code, if it failed.
  package var errorCode: String? { isSuccess ? nil : body[0]?["errorCode"]?.string }
  /// The org's words, if it failed.
  package var errorMessage: String? { isSuccess ? nil : body[0]?["message"]?.string }
}

extension Session {
  /// A query as a request of a composite; between its pieces stand references to another request's
  /// result, which the org only sees as they are, while everything around them is encoded.
  package func queryRequest(
    _ pieces: [String], around reference: String = "", referenceId: String
  ) -> CompositeRequest {
    let query = pieces.map { HTTPQuery.encode($0) }.joined(separator: "@{\(reference)}")
    return CompositeRequest(
      method: "GET", url: path("query") + "?q=" + query, referenceId: referenceId)
  }

  /// Sends several requests as one; the results stand in the requests' order.
  package func composite(
    _ requests: [CompositeRequest], allOrNone: Bool = false
  ) async throws(OrgError) -> [CompositeResult] {
    guard !requests.isEmpty else { return [] }
    let call = try compositeCall(requests, allOrNone: allOrNone)
    let entries = try await json(call)["compositeResponse"]?.array ?? []
    var byName: [String: CompositeResult] = [:]
    for entry in entries {
      guard let name = entry["referenceId"]?.string, let status = entry["httpStatusCode"]?.int,
        byName[name] == nil
      else { throw Self.invalidResponse("a result has no name of its own, or no status", call) }
      byName[name] = CompositeResult(
        referenceId: name, status: Int(status), headers: entry["httpHeaders"]?.object ?? [:],
        body: entry["body"] ?? .null)
    }
    let results = requests.compactMap { byName[$0.referenceId] }
    guard results.count == requests.count, entries.count == requests.count else {
      throw Self.invalidResponse("\(entries.count) results answer \(requests.count) requests", call)
    }
    return results
  }

  /// The call that carries several requests, counted as one of a kind.
  func compositeCall(
    _ requests: [CompositeRequest], allOrNone: Bool = false, kind: RequestKind = .composite
  ) throws(OrgError) -> OrgCall {
    var call = OrgCall(
      kind, "POST", path("composite"), isRead: requests.allSatisfy { $0.method == "GET" })
    guard requests.count <= RequestLimits.composite else {
      throw OrgError(
        .configuration,
        message: "\(requests.count) requests are more than \(RequestLimits.composite)",
        request: call.name)
    }
    call.body = Self.body(requests, allOrNone)
    return call
  }

  private static func body(_ requests: [CompositeRequest], _ allOrNone: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("allOrNone")
    writer.bool(allOrNone)
    writer.name("compositeRequest")
    writer.beginArray()
    for request in requests {
      writer.beginObject()
      writer.name("method")
      writer.string(request.method)
      writer.name("url")
      writer.string(request.url)
      writer.name("referenceId")
      writer.string(request.referenceId)
      if let body = request.body {
        writer.name("body")
        writer.raw(body)
      }
      if !request.headers.isEmpty {
        writer.name("httpHeaders")
        writer.beginObject()
        for (name, value) in request.headers {
          writer.name(name)
          writer.string(value)
        }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}
