import HTTP
import JSON
import LocalOrg
import System
import Testing

@Suite struct PartFaultTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg { $0.adminSecret = "open sesame" } }

  private func names() async throws -> [String] {
    let response = try await served.query("SELECT Name FROM Account ORDER BY Name")
    return (response.json["records"]?.array ?? []).compactMap { $0["Name"]?.string }
  }

  private func collection(allOrNone: Bool = false) async throws -> HTTPResponse {
    let records = ["A", "B", "C"].map { name -> JSONValue in
      ["attributes": ["type": "Account"], "Name": .string(name)]
    }
    return try await served.send(
      "POST", "/composite/sobjects", ["allOrNone": .bool(allOrNone), "records": .array(records)])
  }

  private func composite(allOrNone: Bool = false) async throws -> HTTPResponse {
    let parts = ["A", "B", "C"].map { name -> JSONValue in
      [
        "method": "POST", "url": "/services/data/v66.0/sobjects/Account",
        "referenceId": .string(name), "body": ["Name": .string(name)],
      ]
    }
    return try await served.send(
      "POST", "/composite", ["allOrNone": .bool(allOrNone), "compositeRequest": .array(parts)])
  }

  private func batch() async throws -> HTTPResponse {
    let parts = ["A", "B", "C"].map { name -> JSONValue in
      ["method": "POST", "url": "v66.0/sobjects/Account", "richInput": ["Name": .string(name)]]
    }
    return try await served.send("POST", "/composite/batch", ["batchRequests": .array(parts)])
  }

  private func send(_ kind: RequestKind, allOrNone: Bool = false) async throws -> HTTPResponse {
    switch kind {
    case .composite: try await composite(allOrNone: allOrNone)
    case .batch: try await batch()
    default: try await collection(allOrNone: allOrNone)
    }
  }

  @Test(arguments: [RequestKind.collectionCreate, .composite, .batch])
  func `a request is interrupted between its parts`(_ kind: RequestKind) async throws {
    served.server.faults.add(.kind(kind), .interrupt(afterParts: 2))
    #expect(try await send(kind).outcome == "503 SERVER_UNAVAILABLE")
    #expect(try await names() == ["A", "B"])
    served.server.faults.add(.kind(kind), .interrupt(afterParts: 1, drops: true))
    await #expect(throws: HTTPError.self) { try await send(kind) }
    #expect(try await names() == ["A", "A", "B"])
    served.server.faults.add(.kind(kind), .interrupt(afterParts: 0))
    #expect(try await send(kind).status == 503)
    #expect(try await names().count == 3)
    #expect(try await send(kind).status == 200)
    #expect(try await names().count == 6)
  }

  @Test(arguments: [RequestKind.collectionCreate, .composite])
  func `an interrupted all or none leaves no changes`(_ kind: RequestKind) async throws {
    served.server.faults.add(.kind(kind), .interrupt(afterParts: 2))
    #expect(try await send(kind, allOrNone: true).status == 503)
    #expect(try await names() == [])
  }

  @Test(arguments: [RequestKind.collectionCreate, .composite, .batch])
  func `one part is refused and the others continue`(_ kind: RequestKind) async throws {
    served.server.faults.add(.kind(kind), .refusePart(1, code: "UNABLE_TO_LOCK_ROW"))
    let response = try await send(kind)
    #expect(response.status == 200)
    #expect(response.text.contains("UNABLE_TO_LOCK_ROW"))
    #expect(try await names() == ["A", "C"])
  }

  @Test func `a record is committed late, with a past date`() async throws {
    try served.org.setClockStep(1000)
    _ = try await served.create("Account", ["Name": "Before"])
    let start = served.org.now()
    served.server.faults.add(.kind(.rowCreate), .commitLate(seconds: 30))
    _ = try await served.create("Account", ["Name": "Late"])
    let ada = try #require(served.org.user(named: "ada@example.com"))
    served.org.committingLate(by: 60_000) {
      _ = served.org.create("Account", ["Name": "Later"], as: ada)
    }
    _ = try await served.create("Account", ["Name": "After"])
    let response = try await served.query(
      "SELECT Name, CreatedDate, LastModifiedDate FROM Account ORDER BY LastModifiedDate")
    let rows = try #require(response.json["records"]?.array)
    #expect(rows.map { $0["Name"]?.string } == ["Later", "Late", "Before", "After"])
    #expect(rows[1]["LastModifiedDate"]?.string == Dates.salesforce(start + 1000 - 30_000))
    #expect(rows[1]["CreatedDate"] == rows[1]["LastModifiedDate"])
    #expect(served.org.now() == start + 3000)
    // A late change is never older than what it changes.
    let id = try await served.create("Account", ["Name": "Fresh"])
    served.server.faults.add(.kind(.rowUpdate), .commitLate(seconds: 3600))
    _ = try await served.send("PATCH", "/sobjects/Account/\(id)", ["Name": "Changed"])
    let changed = try await served.send("GET", "/sobjects/Account/\(id)")
    #expect(changed.json["Name"] == "Changed")
    #expect(changed.json["LastModifiedDate"] == changed.json["CreatedDate"])
  }

  @Test func `the clock stands still, goes back and is set`() async throws {
    try served.org.setClock(1_700_000_000_000)
    try served.org.setClockStep(0)
    for name in ["A", "B"] { _ = try await served.create("Account", ["Name": .string(name)]) }
    let rows = try await served.query("SELECT LastModifiedDate FROM Account")
    let dates = (rows.json["records"]?.array ?? []).map { $0["LastModifiedDate"]?.string }
    #expect(dates == Array(repeating: "2023-11-14T22:13:20.000+0000", count: 2))
    served.server.faults.add(.kind(.limits), .moveClock(seconds: -20))
    let response = try await served.send("GET", "/limits")
    #expect(response.headers["Date"] == "Tue, 14 Nov 2023 22:13:00 GMT")
  }

  @Test func `a wall clock that was set continues`() throws {
    try served.org.moveClock(by: -3_600_000)
    let distance = Clock.wallMilliseconds() - served.org.now()
    #expect((3_600_000..<3_660_000).contains(distance))
  }

  @Test func `entries of a retrieve are null, and pages of priming short`() async throws {
    try served.fill("Account", 3)
    try served.org.addBriefcase("B", rules: [BriefcaseRule("Account")], users: ["ada@example.com"])
    let found = try await served.query("SELECT Id FROM Account")
    let ids = (found.json["records"]?.array ?? []).compactMap { $0["Id"] }
    served.server.faults.add(.kind(.retrieve), .nullPlace(1))
    let retrieved = try await served.send(
      "POST", "/composite/sobjects/Account", ["ids": .array(ids), "fields": ["Id"]])
    #expect(retrieved.json.array?.map { $0["Id"] ?? .null } == [ids[0], .null, ids[2]])
    served.server.faults.add(.kind(.priming), .shortPage(records: 2))
    let page = try await served.send("GET", "/connect/briefcase/priming-records")
    #expect(page.json["stats"]?["recordCountServed"] == 2)
    #expect(page.json["relayToken"]?.string != nil)
  }

  @Test(arguments: [
    (#"{"kind":"collectionCreate","interrupt":1}"#, "503 SERVER_UNAVAILABLE", ["A", "X"]),
    (
      #"{"interrupt":1,"status":500,"code":"UNKNOWN_EXCEPTION"}"#, "500 UNKNOWN_EXCEPTION",
      ["A", "X"]
    ),
    (#"{"refusePart":0,"code":"UNABLE_TO_LOCK_ROW"}"#, "200", ["B", "C", "X"]),
    (#"{"commitLate":5}"#, "200", ["A", "B", "C", "X"]),
    (#"{"moveClock":-5}"#, "200", ["A", "B", "C", "X"]),
    (#"{"update":"ID","fields":{"Name":"Y"}}"#, "200", ["A", "B", "C", "Y"]),
    (#"{"delete":"ID"}"#, "200", ["A", "B", "C"]),
  ])
  func `other processes can inject them too`(_ order: String, _ outcome: String, _ left: [String])
    async throws
  {
    let id = try await served.create("Account", ["Name": "X"])
    var request = HTTPRequest("POST", served.server.url + "/attache/faults")
    request.headers["X-Attache-Admin"] = "open sesame"
    request.body = Array(order.replacing("ID", with: id).utf8)
    #expect(try await served.client.send(request).status == 204)
    #expect(try await collection().outcome == outcome)
    #expect(try await names() == left)
  }

  @Test func `other processes can set the clock`() async throws {
    var request = HTTPRequest("POST", served.server.url + "/attache/clock")
    request.headers["X-Attache-Admin"] = "open sesame"
    request.body = Array(#"{"to":"2024-01-31T12:00:00Z","moveBy":-60,"step":0}"#.utf8)
    #expect(try await served.client.send(request).status == 204)
    #expect(Dates.utcSeconds(served.org.now()) == "2024-01-31T11:59:00Z")
    request.body = Array(#"{"to":"tomorrow"}"#.utf8)
    #expect(try await served.client.send(request).outcome == "400 INVALID_INPUT")
  }
}
