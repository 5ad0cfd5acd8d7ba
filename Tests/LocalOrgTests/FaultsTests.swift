import Foundation
import HTTP
import JSON
import LocalOrg
import Testing

@Suite struct FaultsTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  private func accounts() throws -> Int {
    let ada = try #require(served.org.user(named: "ada@example.com"))
    return try served.org.query("SELECT COUNT() FROM Account", as: ada).totalSize
  }

  private func createAccount() async throws -> HTTPResponse {
    try await served.send("POST", "/sobjects/Account", ["Name": "Acme"])
  }

  @Test func `a status affects the nth request, before or after the commit`() async throws {
    served.server.faults.add(.writes, nth: 2, .status(503, code: "SERVER_UNAVAILABLE"))
    served.server.faults.add(
      .kind(.rowCreate), nth: 3, .status(500, code: "UNKNOWN_EXCEPTION", afterCommit: true))
    var seen: [String] = []
    for _ in 0..<4 { seen.append(try await createAccount().outcome) }
    #expect(seen == ["201", "503 SERVER_UNAVAILABLE", "500 UNKNOWN_EXCEPTION", "201"])
    #expect(try accounts() == 3)
    #expect(served.server.faults.fired == 2)
    let labels = served.server.log.entries.map { $0.fault ?? "-" }
    #expect(
      labels == [
        "-", "status 503 SERVER_UNAVAILABLE", "status 500 UNKNOWN_EXCEPTION after commit", "-",
      ])
  }

  @Test(arguments: [(false, 0), (true, 1)])
  func `a connection is closed before or after a commit`(_ after: Bool, _ made: Int) async throws {
    served.server.faults.add(.writes, .drop(afterCommit: after))
    await #expect(throws: HTTPError.self) { try await createAccount() }
    #expect(try accounts() == made)
    #expect(try await createAccount().status == 201)
  }

  @Test func `a request is delivered late, by the org's time or on demand`() async throws {
    served.server.faults.add(.writes, nth: 1, times: 2, .deliverLate(seconds: 900))
    await #expect(throws: HTTPError.self) { try await createAccount() }
    #expect(try await served.send("GET", "/limits").status == 200)
    #expect(try accounts() == 0)
    #expect(served.server.heldRequests == 1)
    try served.org.moveClock(by: 900_000)
    #expect(try await served.send("GET", "/limits").status == 200)
    #expect(try accounts() == 1)
    await #expect(throws: HTTPError.self) { try await createAccount() }
    served.server.deliverHeld()
    #expect(try accounts() == 2)
    #expect(served.server.heldRequests == 0)
    let late = served.server.log.entries.filter { $0.fault == "arrived late" }
    #expect(late.map(\.status) == [201, 201])
  }

  @Test func `a truncated body is detected`() async throws {
    served.server.faults.add(.kind(.limits), .truncate(bytes: 40))
    do {
      _ = try await served.send("GET", "/limits")
      Issue.record("a truncated body was accepted as complete")
    } catch let error as HTTPError { #expect(error.kind == .truncated) }
  }

  @Test func `sessions, limits, invalid responses and delays can be injected`() async throws {
    let faults = served.server.faults
    faults.add(.kind(.limits), nth: 1, .limitExceeded)
    faults.add(
      .kind(.limits), nth: 2,
      .respond(
        ServerResponse(
          status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>".utf8))))
    faults.add(.kind(.limits), nth: 3, .delay(milliseconds: 30))
    faults.add(.kind(.limits), nth: 4, .expireSession)
    #expect(try await served.send("GET", "/limits").outcome == "403 REQUEST_LIMIT_EXCEEDED")
    #expect(try await served.send("GET", "/limits").text == "<html>")
    let start = Date()
    #expect(try await served.send("GET", "/limits").status == 200)
    #expect(Date().timeIntervalSince(start) >= 0.03)
    #expect(try await served.send("GET", "/limits").outcome == "401 INVALID_SESSION_ID")
    #expect(try await served.send("GET", "/limits").outcome == "401 INVALID_SESSION_ID")
  }

  @Test func `a login fails with OAuth's errors`() async throws {
    served.server.faults.add(.kind(.token), .status(400, code: "rate_limit_exceeded"))
    let response = try await served.login([("grant_type", "client_credentials")])
    #expect(response.json["error"]?.string == "rate_limit_exceeded")
  }

  @Test func `a fault may affect only one user`() async throws {
    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Integration")
    let ben = try served.server.token(for: "ben@example.com")
    served.server.faults.add(
      FaultMatch(user: "BEN@example.com"), times: .max, .status(500, code: "X"))
    #expect(try await served.send("GET", "/limits").status == 200)
    #expect(try await served.send("GET", "/limits", token: ben).status == 500)
    served.server.faults.removeAll()
    #expect(try await served.send("GET", "/limits", token: ben).status == 200)
  }

  @Test func `another user changes the org between two requests`() async throws {
    let id = try await served.create("Account", ["Name": "Acme"])
    let ada = try #require(served.org.user(named: "ada@example.com"))
    served.server.faults.add(
      .kind(.rowRead), nth: 2,
      .mutate { org in _ = org.update("Account", id: id, ["Name": "Moved"], as: ada) })
    let path = "/sobjects/Account/\(id)?fields=Name"
    #expect(try await served.send("GET", path).json["Name"]?.string == "Acme")
    #expect(try await served.send("GET", path).json["Name"]?.string == "Moved")
  }

  @Test func `pages are short, locators expire, entries are null`() async throws {
    try served.fill("Account", 30)
    served.server.faults.add(.kind(.query), .shortPage(records: 10))
    let first = try await served.query("SELECT Id FROM Account")
    #expect(first.json["records"]?.array?.count == 10)
    let next = try #require(first.json["nextRecordsUrl"]?.string)
    #expect(try await served.send("GET", next).json["records"]?.array?.count == 20)
    served.server.faults.add(.kind(.queryMore), .expireCursors)
    #expect(try await served.send("GET", next).outcome == "400 INVALID_QUERY_LOCATOR")
    let id = try #require(first.json["records"]?[3]?["Id"]?.string)
    served.server.faults.add(.kind(.retrieve), .nullEntry(id: String(id.prefix(15))))
    let body: JSONValue = ["ids": [.string(id)], "fields": ["Id"]]
    #expect(try await served.send("POST", "/composite/sobjects/Account", body).text == "[null]")
    let again = try await served.send("POST", "/composite/sobjects/Account", body)
    #expect(again.json[0]?["Id"]?.string == id)
  }

  @Test func `the log is also a file, and contains no token`() async throws {
    _ = try await createAccount()
    _ = try await served.send("GET", "/services/oauth2/userinfo")
    let path = served.org.directory + "/requests.jsonl"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(lines.map { $0["kind"]?.string } == ["rowCreate", "userinfo"])
    #expect(lines[0]["write"]?.bool == true)
    #expect(lines[0]["user"]?.string == "ada@example.com")
    #expect(lines[0]["app"]?.string == "field-app")
    #expect(!text.contains(served.token.suffix(20)))
    #expect(served.server.log.counts == [.rowCreate: 1, .userinfo: 1])
  }
}
