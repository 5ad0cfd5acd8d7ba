import HTTP
import JSON
import Testing

@Suite struct AdminResourceTests {
  let served: ServedOrg
  private let key: HTTPHeaders = ["X-Attache-Admin": "open sesame"]
  init() throws { served = try ServedOrg { $0.adminSecret = "open sesame" } }

  private func admin(
    _ method: String, _ path: String, _ body: JSONValue? = nil, headers: HTTPHeaders? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method, served.server.url + "/attache/" + path)
    request.headers = headers ?? key
    request.body = body?.bytes
    return try await served.client.send(request)
  }

  @Test func `access requires the secret, and is disabled without one`() async throws {
    #expect(try await admin("GET", "log", headers: [:]).status == 404)
    #expect(try await admin("GET", "log", headers: ["X-Attache-Admin": "x"]).status == 404)
    let shut = try ServedOrg()
    var request = HTTPRequest("GET", shut.server.url + "/attache/log")
    request.headers["X-Attache-Admin"] = ""
    #expect(try await shut.client.send(request).status == 404)
  }

  @Test func `the log can be read, and does not contain admin calls`() async throws {
    _ = try await served.send("GET", "/limits")
    #expect(try await admin("GET", "log").json.array?.map { $0["kind"]?.string } == ["limits"])
    #expect(try await admin("GET", "log?after=1").text == "[]")
  }

  @Test(arguments: [
    (#"{"kind":"limits","status":503,"code":"X"}"#, "503 X"),
    (#"{"method":"GET","limitExceeded":true}"#, "403 REQUEST_LIMIT_EXCEEDED"),
    (#"{"pathPrefix":"/services/data","expireSession":true}"#, "401 INVALID_SESSION_ID"),
    (#"{"user":"ada@example.com","delay":1}"#, "200"),
    (#"{"kind":"query","deliverLate":900}"#, "200"),
    (#"{"kind":"query","status":503}"#, "200"),
  ])
  func `a fault can be injected`(_ order: String, _ outcome: String) async throws {
    #expect(try await admin("POST", "faults", JSONValue(parsing: order)).status == 204)
    #expect(try await served.send("GET", "/limits").outcome == outcome)
  }

  @Test func `a fault can be removed, and an invalid one is refused`() async throws {
    #expect(try await admin("POST", "faults", ["drop": true]).status == 204)
    #expect(try await admin("DELETE", "faults").status == 204)
    #expect(try await served.send("GET", "/limits").status == 200)
    #expect(try await admin("POST", "faults", ["kind": "dance"]).outcome == "400 INVALID_INPUT")
    #expect(try await admin("POST", "faults", ["kind": "query"]).outcome == "400 INVALID_INPUT")
    #expect(try await admin("POST", "faults", []).outcome == "400 JSON_PARSER_ERROR")
    #expect(try await admin("POST", "dance").outcome == "404 NOT_FOUND")
  }

  @Test(arguments: ["count", "Times", "message"])
  func `an unknown member of a fault is refused with all known`(_ member: String) async throws {
    let order: JSONObject = ["kind": "limits", "status": 503, member: 3]
    let refused = try await admin("POST", "faults", .object(order))
    #expect(refused.outcome == "400 INVALID_INPUT")
    let words = refused.json[0]?["message"]?.string ?? ""
    #expect(words.hasPrefix("\(member) is not a member of a fault; use kind, "), "\(words)")
    #expect(words.contains(", nth, times, "))
    #expect(try await served.send("GET", "/limits").status == 200)
  }

  @Test func `a fault affects as many requests as its times say`() async throws {
    let order: JSONValue = ["kind": "limits", "nth": 2, "times": 2, "status": 503, "code": "X"]
    #expect(try await admin("POST", "faults", order).status == 204)
    var seen: [Int] = []
    for _ in 0..<4 { seen.append(try await served.send("GET", "/limits").status) }
    #expect(seen == [200, 503, 503, 200])
  }

  @Test func `records are merged, restored and locked`() async throws {
    let loser = try await served.create("Account", ["Name": "Loser"])
    let master = try await served.create("Account", ["Name": "Master"])
    let contact = try await served.create(
      "Contact", ["LastName": "C", "AccountId": .string(loser)])
    let merge: JSONValue = ["record": .string(loser), "into": .string(master)]
    #expect(try await admin("POST", "merge", merge).status == 204)
    let gone = try await served.send("GET", "/sobjects/Account/\(loser)")
    #expect(gone.outcome == "404 ENTITY_IS_DELETED")
    let soql = "SELECT MasterRecordId, IsDeleted FROM Account WHERE Id = '\(loser)'"
    let all = try await served.send("GET", "/queryAll?q=" + HTTPQuery.encode(soql))
    #expect(all.json["records"]?[0]?["MasterRecordId"]?.string == master)
    let path = "/sobjects/Contact/\(contact)"
    #expect(try await served.send("GET", path).json["AccountId"]?.string == master)
    let wrong: JSONValue = ["record": .string(contact), "into": .string(master)]
    #expect(try await admin("POST", "merge", wrong).outcome == "400 INVALID_OPERATION")

    #expect(try await served.send("DELETE", path).status == 204)
    #expect(try await admin("POST", "undelete", ["record": .string(contact)]).status == 204)
    #expect(try await served.send("GET", path).status == 200)

    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    try served.org.transfer(contact, to: "ben@example.com")
    let ben = try served.server.token(for: "ben@example.com")
    let lock: JSONValue = ["record": .string(contact), "locked": true]
    #expect(try await admin("POST", "lock", lock).status == 204)
    for (method, body) in [("PATCH", ["Title": "x"] as JSONValue?), ("DELETE", nil)] {
      let refused = try await served.send(method, path, body, token: ben)
      #expect(refused.outcome == "400 ENTITY_IS_LOCKED")
    }
    #expect(try await served.send("PATCH", path, ["Title": "y"]).status == 204)
    let unlock: JSONValue = ["record": .string(contact), "locked": false]
    #expect(try await admin("POST", "lock", unlock).status == 204)
    #expect(try await served.send("PATCH", path, ["Title": "z"], token: ben).status == 204)
  }

  @Test func `sharing and users can be changed`() async throws {
    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    let id = try await served.create("Account", ["Name": "Acme"])
    let path = "/sobjects/Account/\(id)"
    #expect(try await served.send("GET", path, token: ben).status == 404)
    let body: JSONValue = ["record": .string(id), "user": "ben@example.com"]
    #expect(try await admin("POST", "share", body).status == 204)
    #expect(try await served.send("GET", path, token: ben).status == 200)
    #expect(try await admin("POST", "unshare", body).status == 204)
    #expect(try await served.send("GET", path, token: ben).status == 404)
    let leave: JSONValue = ["user": "ben@example.com", "active": false]
    #expect(try await admin("POST", "users", leave).status == 204)
    #expect(try await served.send("GET", path, token: ben).status == 401)
    #expect(try await admin("POST", "sessions/expire").status == 204)
    #expect(try await served.send("GET", path).status == 401)
    #expect(try await admin("POST", "share", ["user": "x"]).outcome == "400 MISSING_ARGUMENT")
  }
}
