import HTTP
import JSON
import Testing

@Suite struct StrictnessTests {
  private let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test func `only listed versions are served, each with its own resources`() async throws {
    let listed = try await served.send("GET", "/services/data").json.array ?? []
    #expect(listed.first?["version"] == "31.0" && listed.last?["version"] == "66.0")
    for (path, status) in [
      ("v30.0/limits", 404), ("v31.0/limits", 200), ("v66.0/limits", 200), ("v67.0/limits", 404),
      ("v41.0/connect/briefcase/priming-records", 404),
      ("v54.0/connect/briefcase/priming-records", 200), ("v40.0/jobs/ingest", 404),
      ("v41.0/jobs/ingest", 200), ("v33.0/composite", 404),
    ] {
      let answer = try await served.send("GET", "/services/data/" + path)
      #expect(answer.status == status, "\(path)")
    }
    let part: JSONValue = [
      "compositeRequest": [
        ["method": "GET", "url": "/services/data/v67.0/limits", "referenceId": "a"]
      ]
    ]
    let composite = try await served.send("POST", "/composite", part)
    #expect(composite.json["compositeResponse"]?[0]?["httpStatusCode"]?.int == 404)
  }

  @Test func `a version lists its resources and nothing else`() async throws {
    func names(_ version: Int) async throws -> Set<String> {
      let answer = try await served.send("GET", "/services/data/v\(version).0").json
      return Set(answer.object?.names ?? [])
    }
    #expect(try await names(66).isSuperset(of: ["jobs", "connect", "ui-api", "composite"]))
    #expect(try await names(40).isDisjoint(with: ["jobs", "connect", "ui-api"]))
    #expect(try await names(33).isDisjoint(with: ["composite", "parameterizedSearch"]))
  }

  @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/xml", nil])
  func `a body that is not declared as JSON is refused`(type: String?) async throws {
    var request = HTTPRequest("POST", served.server.url + ServedOrg.version + "/sobjects/Account")
    request.headers["Authorization"] = "Bearer " + served.token
    if let type { request.headers["Content-Type"] = type }
    request.body = Array(#"{"Name": "x"}"#.utf8)
    #expect(try await served.client.send(request).outcome == "415 UNSUPPORTED_MEDIA_TYPE")
  }

  @Test(
    arguments: [
      ("POST", "/composite", ["compositeRequest": [], "allOrnone": true]),
      (
        "POST", "/composite",
        [
          "compositeRequest": [
            ["method": "GET", "url": "/services/data/v66.0/limits", "referenceId": "a", "id": 1]
          ]
        ]
      ),
      ("POST", "/composite/batch", ["batchRequests": [], "haltOnerror": true]),
      ("POST", "/composite/sobjects", ["records": [], "allOrnone": true]),
      ("POST", "/composite/sobjects/Account", ["ids": ["x"], "fields": ["Id"], "more": 1]),
      ("POST", "/composite/tree/Account", ["records": [], "allOrNone": true]),
    ] as [(String, String, JSONValue)])
  func `an unknown member is refused`(method: String, path: String, body: JSONValue) async throws {
    #expect(try await served.send(method, path, body).outcome == "400 JSON_PARSER_ERROR")
  }

  @Test(arguments: ["a.b", "a-b", "_a", "ä", "a b"])
  func `a reference id has only letters, digits and underscores`(id: String) async throws {
    func send(_ id: String) async throws -> String {
      try await served.send(
        "POST", "/composite",
        [
          "compositeRequest": [
            ["method": "GET", "url": "/services/data/v66.0/limits", "referenceId": .string(id)]
          ]
        ]
      ).outcome
    }
    #expect(try await send(id) == "400 INVALID_INPUT")
    #expect(try await send("1a_B") == "200")
  }

  @Test func `a collection changes its type at most ten times`() async throws {
    var ids: [String] = []
    for number in 0..<6 {
      ids.append(try await served.create("Account", ["Name": .string("A\(number)")]))
      ids.append(try await served.create("Contact", ["LastName": .string("C\(number)")]))
    }
    func delete(_ ids: some Sequence<String>) async throws -> String {
      try await served.send("DELETE", "/composite/sobjects?ids=" + ids.joined(separator: ","))
        .outcome
    }
    #expect(try await delete(ids) == "400 LIMIT_EXCEEDED")
    #expect(try await delete(ids.prefix(10)) == "200")
  }

  @Test func `a locator is valid for two days`() async throws {
    try served.fill("Account", 300)
    let page = try await served.query(
      "SELECT Id FROM Account", headers: ["Sforce-Query-Options": "batchSize=200"])
    let next = try #require(page.json["nextRecordsUrl"]?.string)
    try served.org.moveClock(by: 47 * 3_600_000)
    #expect(try await served.send("GET", next).status == 200)
    try served.org.moveClock(by: 2 * 3_600_000)
    #expect(try await served.send("GET", next).outcome == "400 INVALID_QUERY_LOCATOR")
  }

  @Test func `an idle session expires`() async throws {
    let served = try ServedOrg { $0.sessionSeconds = 0 }
    #expect(try await served.send("GET", "/limits").outcome == "401 INVALID_SESSION_ID")
  }

  @Test func `an upsert finds a contact by its email, which is not an external id`() async throws {
    func upsert(_ name: String) async throws -> HTTPResponse {
      try await served.send(
        "PATCH", "/composite/sobjects/Contact/Email",
        [
          "records": [
            [
              "attributes": ["type": "Contact"], "Email": "c@example.com",
              "LastName": .string(name),
            ]
          ]
        ])
    }
    #expect(try await upsert("one").json[0]?["created"] == true)
    #expect(try await upsert("two").json[0]?["created"] == false)
    _ = try await served.create("Contact", ["LastName": "x", "Email": "C@example.com"])
    #expect(
      try await upsert("three").json[0]?["errors"]?[0]?["statusCode"] == "DUPLICATE_EXTERNAL_ID")
  }

  @Test func `an error shows the statement with a caret under the position`() async throws {
    let column = try await served.query("SELECT Id, Nam FROM Account")
    #expect(
      column.json[0]?["message"]?.string?.hasPrefix(
        "\nSELECT Id, Nam FROM Account\n           ^\nERROR at Row:1:Column:12\nNo such column 'Nam' "
          + "on entity 'Account'.") == true)
    let syntax = try await served.query("SELECT Id FROM Account\nWHERE Name == 'x'")
    #expect(
      syntax.json[0]?["message"]
        == "\nWHERE Name == 'x'\n            ^\nERROR at Row:2:Column:13\nunexpected token: '='")
  }
}
