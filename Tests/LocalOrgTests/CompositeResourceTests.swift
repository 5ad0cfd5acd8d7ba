import HTTP
import JSON
import Testing

@Suite struct CompositeResourceTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  private func part(
    _ method: JSONValue, _ path: String, _ name: JSONValue, _ body: JSONValue = .null,
    headers: JSONValue = [:]
  ) -> JSONValue {
    [
      "method": method, "url": .string(ServedOrg.version + path), "referenceId": name,
      "body": body, "httpHeaders": headers,
    ]
  }

  private func run(_ parts: [JSONValue], allOrNone: Bool = false) async throws -> HTTPResponse {
    try await served.send(
      "POST", "/composite/", ["allOrNone": .bool(allOrNone), "compositeRequest": .array(parts)])
  }

  private func statuses(_ response: HTTPResponse) -> [Int64] {
    (response.json["compositeResponse"]?.array ?? []).compactMap { $0["httpStatusCode"]?.int }
  }

  @Test func `a later part can use an earlier one's id`() async throws {
    let response = try await run([
      part("POST", "/sobjects/Account", "acc", ["Name": "Acme"]),
      part("POST", "/sobjects/Contact", "con", ["LastName": "Ray", "AccountId": "@{acc.id}"]),
      part("GET", "/sobjects/Account/@{acc.id}?fields=Name", "read"),
      part("GET", "/query?q=SELECT+Id,Name+FROM+Contact+WHERE+AccountId='@{acc.id}'", "found"),
      part("PATCH", "/sobjects/Contact/@{found.records[0].Id}", "patch", ["FirstName": "Ann"]),
    ])
    #expect(statuses(response) == [201, 201, 200, 200, 204])
    let results = response.json["compositeResponse"]
    #expect(results?[2]?["body"]?["Name"]?.string == "Acme")
    #expect(results?[3]?["body"]?["totalSize"]?.int == 1)
    #expect(results?[4]?["body"] == .null)
    #expect(results?[0]?["httpHeaders"]?["Location"]?.string?.contains("/Account/001") == true)
    // One call of the daily limit, whatever it contains.
    #expect(served.server.usage == 1)
    #expect(served.server.log.entries.last?.isWrite == true)
  }

  @Test func `a conditional update is refused inside a composite too`() async throws {
    let id = try await served.create("Account", ["Name": "Acme"])
    let read = try await served.send("GET", "/sobjects/Account/\(id)")
    let date = JSONValue.string(try #require(read.headers["Last-Modified"]))
    let old: JSONValue = ["If-Unmodified-Since": "Mon, 01 Jan 2001 00:00:00 GMT"]
    let response = try await run([
      part(
        "PATCH", "/sobjects/Account/\(id)", "a", ["Phone": "1"],
        headers: ["If-Unmodified-Since": date]),
      part("PATCH", "/sobjects/Account/\(id)", "b", ["Phone": "2"], headers: old),
    ])
    #expect(statuses(response) == [204, 412])
    #expect(try await served.send("GET", "/sobjects/Account/\(id)").json["Phone"]?.string == "1")
  }

  @Test func `a failure does not affect the others unless all or none is requested`() async throws {
    let parts = [
      part("POST", "/sobjects/Account", "one", ["Name": "One"]),
      part("POST", "/sobjects/Account", "two", [:]),
      part("POST", "/sobjects/Contact", "three", ["LastName": "x", "AccountId": "@{two.id}"]),
    ]
    let loose = try await run(parts)
    #expect(statuses(loose) == [201, 400, 400])
    let dependent = loose.json["compositeResponse"]?[2]?["body"]?[0]
    #expect(dependent?["errorCode"]?.string == "PROCESSING_HALTED")
    let strict = try await run(parts, allOrNone: true)
    #expect(statuses(strict) == [400, 400, 400])
    let codes = (strict.json["compositeResponse"]?.array ?? []).map {
      $0["body"]?[0]?["errorCode"]?.string
    }
    #expect(codes == ["PROCESSING_HALTED", "REQUIRED_FIELD_MISSING", "PROCESSING_HALTED"])
    #expect(try await served.query("SELECT COUNT() FROM Account").json["totalSize"]?.int == 1)
  }

  @Test func `an invalid composite is refused`() async throws {
    let get = part("GET", "/limits", "x")
    #expect(try await run([get, get]).outcome == "400 INVALID_INPUT")
    let many = (0..<26).map { part("GET", "/limits", .string("r\($0)")) }
    #expect(try await run(many).outcome == "400 EXCEEDED_MAX_SIZE_REQUEST")
    let queries = (0..<6).map { part("GET", "/query?q=x", .string("r\($0)")) }
    #expect(try await run(queries).outcome == "400 EXCEEDED_MAX_SIZE_REQUEST")
    #expect(try await run([]).outcome == "400 JSON_PARSER_ERROR")
    #expect(statuses(try await run([part("POST", "/composite", "x", [:])])) == [400])
    #expect(statuses(try await run([part("GET", "/nothing", "x")])) == [404])
    #expect(served.server.log.writes.isEmpty)
  }

  @Test func `a batch runs each part independently`() async throws {
    let body: JSONValue = [
      "batchRequests": [
        ["method": "POST", "url": "v66.0/sobjects/Account", "richInput": ["Name": "One"]],
        ["method": "GET", "url": "/services/data/v66.0/sobjects/Nope/describe"],
        ["method": "GET", "url": "v66.0/limits"],
      ]
    ]
    let response = try await served.send("POST", "/composite/batch", body)
    #expect(response.json["hasErrors"]?.bool == true)
    let statuses = (response.json["results"]?.array ?? []).compactMap { $0["statusCode"]?.int }
    #expect(statuses == [201, 404, 200])
    guard case .object(var halting) = body else { return }
    halting["haltOnError"] = true
    let halted = try await served.send("POST", "/composite/batch", .object(halting))
    let after = (halted.json["results"]?.array ?? []).compactMap { $0["statusCode"]?.int }
    #expect(after == [201, 404, 412])
  }
}
