import HTTP
import JSON
import System

/// A request inside a composite request.
package struct CompositeRequest: Sendable {
  package var method: String
  /// The encoded path and query, starting with `/services/data/`.
  package var url: String
  /// The name of its result.
  package var referenceId: String
  /// The JSON body; nil for none.
  package var body: [UInt8]?
  /// Conditions such as `If-Unmodified-Since`.
  package var headers: [(name: String, value: String)]
  /// Whether the request changes nothing.
  package var isRead: Bool

  /// Creates a request; it is a read if its method is GET, unless specified otherwise.
  package init(
    method: String, url: String, referenceId: String, body: [UInt8]? = nil,
    headers: [(name: String, value: String)] = [], isRead: Bool? = nil
  ) {
    self.method = method
    self.url = url
    self.referenceId = referenceId
    self.body = body
    self.headers = headers
    self.isRead = isRead ?? (method == "GET")
  }

  /// Creates a write of one row, conditional on the row not having been modified after a moment, if
  /// one is given.
  package init(
    method: String, url: String, referenceId: String, body: [UInt8]?, unmodifiedSince: Int64?
  ) {
    self.init(
      method: method, url: url, referenceId: referenceId, body: body,
      headers: WriteHeaders.fields(unmodifiedSince: unmodifiedSince))
  }
}

/// The result of a request inside a composite request.
package struct CompositeResult: Sendable, Hashable {
  /// The name of the request.
  package let referenceId: String
  package let status: Int
  package let headers: JSONObject
  /// The body; `null` if there is none, an array of errors if the request failed.
  package let body: JSONValue

  package init(referenceId: String, status: Int, headers: JSONObject, body: JSONValue) {
    self.referenceId = referenceId
    self.status = status
    self.headers = headers
    self.body = body
  }

  package var isSuccess: Bool { HTTPStatus.success.contains(status) }
  /// The org's error code if the request failed.
  package var errorCode: String? { isSuccess ? nil : body[0]?["errorCode"]?.string }
  /// The org's message if the request failed.
  package var errorMessage: String? { isSuccess ? nil : body[0]?["message"]?.string }
}

extension Session {
  /// A query as a part of a composite request.
  ///
  /// Its pieces are separated by references to another request's result; these are sent as they
  /// are, while the text around them is encoded.
  package func queryRequest(
    _ pieces: [String], around reference: String = "", referenceId: String
  ) -> CompositeRequest {
    let query = pieces.map { HTTPQuery.encode($0) }.joined(separator: "@{\(reference)}")
    return CompositeRequest(
      method: "GET", url: path("query") + "?q=" + query, referenceId: referenceId)
  }

  /// Sends several requests as one; the results are in the order of the requests.
  package func composite(
    _ requests: [CompositeRequest], allOrNone: Bool = false
  ) async throws(OrgError) -> [CompositeResult] {
    guard !requests.isEmpty else { return [] }
    let call = try compositeCall(requests, allOrNone: allOrNone)
    let entries = try await json(call)["compositeResponse"]?.array ?? []
    var results: [CompositeResult] = []
    for entry in entries {
      guard let name = entry["referenceId"]?.string, let status = entry["httpStatusCode"]?.int
      else { throw Self.invalidResponse("a result has no name, or no status", call) }
      results.append(
        CompositeResult(
          referenceId: name, status: Int(status), headers: entry["httpHeaders"]?.object ?? [:],
          body: entry["body"] ?? .null))
    }
    return try Self.inOrder(results, of: requests, to: call, \.referenceId)
  }

  /// Returns results in the order of their requests; throws unless each request has exactly one.
  static func inOrder<Answer>(
    _ answers: [Answer], of requests: [CompositeRequest], to call: OrgCall,
    _ name: (Answer) -> String
  ) throws(OrgError) -> [Answer] {
    let byName = Dictionary(answers.map { (name($0), $0) }) { first, _ in first }
    let ordered = requests.compactMap { byName[$0.referenceId] }
    guard ordered.count == requests.count, answers.count == requests.count else {
      throw invalidResponse(
        "\(CountText.of(requests.count, "request", "has", "have")) "
          + CountText.of(answers.count, "result"), call)
    }
    return ordered
  }

  /// The call that contains several requests, counted as one of a kind.
  func compositeCall(
    _ requests: [CompositeRequest], allOrNone: Bool = false, kind: RequestKind = .composite
  ) throws(OrgError) -> OrgCall {
    var call = OrgCall(
      kind, "POST", path("composite"), isRead: requests.allSatisfy(\.isRead))
    guard requests.count <= RequestLimits.composite else {
      throw OrgError(
        .configuration,
        message: "\(requests.count) requests exceed the limit of \(RequestLimits.composite)",
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
