import HTTP
import JSON
import Pipelines
import Review
import Testing

/// The review page of a scene, asked as its script asks.
final class ReviewPageOpened: Sendable {
  let server: ReviewServer
  /// The address of the server, without a path.
  let origin: String
  /// The page's own path.
  let path: String
  private let client: HTTPClient

  /// Serves the page and uses its token.
  init(_ scene: DecisionScene) async throws {
    let world = scene.world
    server = try ReviewServer(
      world.pipeline, root: world.root, variables: world.variables, by: "grace")
    origin = String(server.address.prefix { $0 != "?" }.dropLast())
    client = try HTTPClient(HTTPClient.Configuration())
    let opened = try await client.send(HTTPRequest("GET", server.address))
    #expect(opened.status == 303)
    path = opened.headers["Location"] ?? ""
  }

  /// Any request, with the fields that are given beside it.
  func ask(
    _ method: String, _ place: String, _ headers: HTTPHeaders = [:], body: JSONValue? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method, origin + place)
    request.headers = headers
    if let body {
      request.headers["Content-Type"] = "application/json"
      request.body = body.bytes
    }
    return try await client.send(request)
  }

  func get(_ place: String) async throws -> JSONValue {
    let answer = try await ask("GET", path + place)
    #expect(answer.status == 200)
    return try JSONValue(parsing: answer.body)
  }

  func post(_ place: String, _ body: JSONValue, status: Int = 202) async throws -> JSONValue {
    let answer = try await ask("POST", path + place, ["Origin": origin], body: body)
    #expect(answer.status == status)
    return try JSONValue(parsing: answer.body)
  }

  /// Begins a work and waits for its last event.
  func work(_ place: String, _ body: JSONValue) async throws -> JSONValue {
    let number = try await post(place, body)["work"]?.int ?? 0
    var after = 0
    while true {
      let answer = try await get("work?number=\(number)&after=\(after)")
      let events = answer["events"]?.array ?? []
      after += events.count
      if answer["ended"] == true { return try #require(events.last) }
    }
  }
}
