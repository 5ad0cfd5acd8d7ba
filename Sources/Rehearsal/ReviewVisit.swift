import HTTP
import JSON

/// A visit to a review page: the requests that its script makes, without a browser.
package struct ReviewVisit: Sendable {
  /// The URL of the server, without a path.
  package let origin: String
  /// The page's own path.
  package let path: String
  private let client: HTTPClient

  /// Opens the page by the printed URL, which works only once.
  ///
  /// Throws `HTTPError` if there is no answer, and `RehearsalError.unexpected` if the page refuses.
  package init(_ address: String) async throws {
    client = try HTTPClient()
    origin = String(address.prefix { $0 != "?" }.dropLast())
    let opened = try await client.send(HTTPRequest("GET", address))
    guard opened.status == 303, let path = opened.headers["Location"] else {
      throw RehearsalError.unexpected(["the review page answers \(opened.status)"])
    }
    self.path = path
  }

  /// Sends a request, with fields in addition to the required ones.
  package func ask(
    _ method: String, _ place: String, _ headers: HTTPHeaders = [:], body: JSONValue? = nil
  ) async throws -> HTTPResponse {
    var headers = headers
    if body != nil { headers["Content-Type"] = "application/json" }
    return try await client.send(
      HTTPRequest(method, origin + place, headers: headers, body: body?.bytes))
  }

  /// Requests a resource below the page.
  package func get(_ place: String) async throws -> JSONValue {
    try value(of: await ask("GET", path + place), place, status: 200)
  }

  /// Posts a body, and returns the answer.
  package func post(
    _ place: String, _ body: JSONValue, status: Int = 200
  ) async throws -> JSONValue {
    let answer = try await ask("POST", path + place, ["Origin": origin], body: body)
    return try value(of: answer, place, status: status)
  }

  /// Starts a job, and waits for its last event.
  package func work(_ place: String, _ body: JSONValue) async throws -> JSONValue {
    try await events(of: place, body).last ?? .null
  }

  /// Starts a job, and collects its events up to the last, as the page does.
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
