import HTTP
import JSON

/// A visit to a review page: the requests that its script makes, without a browser.
package struct ReviewVisit: Sendable {
  /// The address of the server, without a path.
  package let origin: String
  /// The page's own path.
  package let path: String
  private let client: HTTPClient

  /// Opens the page by the address that was printed; that can be done once.
  ///
  /// Throws `HTTPError` where nothing answers, `RehearsalError.unexpected` where it is refused.
  package init(_ address: String) async throws {
    client = try HTTPClient()
    origin = String(address.prefix { $0 != "?" }.dropLast())
    let opened = try await client.send(HTTPRequest("GET", address))
    guard opened.status == 303, let path = opened.headers["Location"] else {
      throw RehearsalError.unexpected(["the review page answers \(opened.status)"])
    }
    self.path = path
  }

  /// Any request, with fields beside those that it needs.
  package func ask(
    _ method: String, _ place: String, _ headers: HTTPHeaders = [:], body: JSONValue? = nil
  ) async throws -> HTTPResponse {
    var headers = headers
    if body != nil { headers["Content-Type"] = "application/json" }
    return try await client.send(
      HTTPRequest(method, origin + place, headers: headers, body: body?.bytes))
  }

  /// What lies below the page.
  package func get(_ place: String) async throws -> JSONValue {
    try value(of: await ask("GET", path + place), place, status: 200)
  }

  /// What an order answers.
  package func post(
    _ place: String, _ body: JSONValue, status: Int = 200
  ) async throws -> JSONValue {
    let answer = try await ask("POST", path + place, ["Origin": origin], body: body)
    return try value(of: answer, place, status: status)
  }

  /// Orders something that takes its time, and waits for its last event.
  package func work(_ place: String, _ body: JSONValue) async throws -> JSONValue {
    try await events(of: place, body).last ?? .null
  }

  /// Orders something that takes its time, and gathers its events up to the last, as the page does.
  package func events(of place: String, _ body: JSONValue) async throws -> [JSONValue] {
    let number = try await post(place, body, status: 202)["job"]?.int ?? 0
    var events: [JSONValue] = []
    while true {
      let answer = try await get("job?number=\(number)&after=\(events.count)")
      events += answer["events"]?.array ?? []
      if answer["ended"] == true, !events.isEmpty { return events }
    }
  }

  private func value(
    of answer: HTTPResponse, _ place: String, status: Int
  ) throws -> JSONValue {
    guard answer.status == status else {
      throw RehearsalError.unexpected(["\(place) of the review page answers \(answer.status)"])
    }
    return try JSONValue(parsing: answer.body)
  }
}
