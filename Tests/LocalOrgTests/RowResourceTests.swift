import HTTP
import System
import Testing

@Suite struct RowResourceTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test func `a record is created, read, updated and deleted`() async throws {
    let created = try await served.send("POST", "/sobjects/Account/", ["Name": "Acme"])
    #expect(created.status == 201)
    #expect(created.json["success"]?.bool == true)
    let id = try #require(created.json["id"]?.string)
    #expect(id.count == 18 && id.hasPrefix("001"))
    #expect(created.headers["Location"] == ServedOrg.version + "/sobjects/Account/" + id)

    let read = try await served.send("GET", "/sobjects/Account/\(id)?fields=Name,Phone")
    #expect(read.status == 200)
    #expect(read.json["Name"]?.string == "Acme")
    #expect(read.json["Phone"] == .null)
    #expect(read.json["attributes"]?["type"]?.string == "Account")
    #expect(read.headers["Last-Modified"]?.hasSuffix("GMT") == true)

    let updated = try await served.send("PATCH", "/sobjects/account/\(id)", ["Phone": "1"])
    #expect(updated.status == 204)
    #expect(updated.body.isEmpty)
    let short = String(id.prefix(15))
    #expect(try await served.send("GET", "/sobjects/Account/\(short)").json["Phone"]?.string == "1")

    #expect(try await served.send("DELETE", "/sobjects/Account/\(id)").status == 204)
    #expect(
      try await served.send("DELETE", "/sobjects/Account/\(id)").outcome == "404 ENTITY_IS_DELETED")
    #expect(try await served.send("GET", "/sobjects/Account/\(id)").status == 404)
  }

  @Test(arguments: [
    ("POST", "Account", #"{}"#, "400 REQUIRED_FIELD_MISSING"),
    ("POST", "Account", #"{"Name":"a","Nome":"b"}"#, "400 INVALID_FIELD"),
    ("POST", "Account", #"{"Name":"a","CreatedDate":"x"}"#, "400 INVALID_FIELD_FOR_INSERT_UPDATE"),
    ("POST", "Account", #"{"Name":"#, "400 JSON_PARSER_ERROR"),
    ("POST", "Account", #"[1]"#, "400 JSON_PARSER_ERROR"),
    ("POST", "Nothing", #"{"Name":"a"}"#, "404 NOT_FOUND"),
    ("PATCH", "Account/001000000000001", #"{"Name":"a"}"#, "404 NOT_FOUND"),
    ("PATCH", "Account/ID", #"{"Id":"001000000000001"}"#, "400 INVALID_FIELD"),
    ("PATCH", "Account/ID", #"{"Name":null}"#, "400 REQUIRED_FIELD_MISSING"),
    ("PUT", "Account/ID", #"{"Name":"a"}"#, "405 METHOD_NOT_ALLOWED"),
  ])
  func `an error has the org's status and code`(
    _ method: String, _ path: String, _ body: String, _ outcome: String
  ) async throws {
    let id = try await served.create("Account", ["Name": "Acme"])
    let address = "/sobjects/" + (path.hasSuffix("/ID") ? path.dropLast(2) + id : path)
    var request = HTTPRequest(method, served.server.url + ServedOrg.version + address)
    request.headers["Authorization"] = "Bearer " + served.token
    request.headers["Content-Type"] = "application/json"
    request.body = Array(body.utf8)
    #expect(try await served.client.send(request).outcome == outcome)
  }

  @Test func `a refused field is named`() async throws {
    let response = try await served.send("POST", "/sobjects/Contact", ["FirstName": "Ann"])
    #expect(response.json[0]?["fields"]?[0]?.string == "LastName")
  }

  @Test func `a conditional update is refused if the record has changed`() async throws {
    let id = try await served.create("Account", ["Name": "Acme"])
    let read = try await served.send("GET", "/sobjects/Account/\(id)")
    let date = try #require(read.headers["Last-Modified"])
    let fresh = try await served.send(
      "PATCH", "/sobjects/Account/\(id)", ["Phone": "1"], headers: ["If-Unmodified-Since": date])
    #expect(fresh.status == 204)
    let old = try await served.send(
      "PATCH", "/sobjects/Account/\(id)", ["Phone": "2"],
      headers: ["If-Unmodified-Since": "Sat, 1 Jan 2000 00:00:01 GMT"])
    #expect(old.outcome == "412 PRECONDITION_FAILED")
    #expect(try await served.send("GET", "/sobjects/Account/\(id)").json["Phone"]?.string == "1")
    let wrong = try await served.send(
      "PATCH", "/sobjects/Account/\(id)", ["Phone": "2"],
      headers: ["If-Unmodified-Since": "yesterday"])
    #expect(wrong.status == 400)
    let later = try await served.send("GET", "/sobjects/Account/\(id)")
    let unchanged = try await served.send(
      "GET", "/sobjects/Account/\(id)",
      headers: ["If-Modified-Since": try #require(later.headers["Last-Modified"])])
    #expect(unchanged.status == 304)
  }

  @Test func `a POST can represent another method`() async throws {
    let id = try await served.create("Account", ["Name": "Acme"])
    let response = try await served.send(
      "POST", "/sobjects/Account/\(id)?_HTTP_METHOD=PATCH", ["Phone": "7"])
    #expect(response.status == 204)
    #expect(served.server.log.entries.last?.kind == .rowUpdate)
  }

  @Test func `an upsert creates once and then updates`() async throws {
    let path = "/sobjects/Site_Visit__c/External_Id__c/V%201"
    let first = try await served.send("PATCH", path, ["Name": "One"])
    #expect(first.status == 201)
    #expect(first.json["created"]?.bool == true)
    let second = try await served.send("PATCH", path, ["Name": "Two"])
    #expect(second.status == 200)
    #expect(second.json["created"]?.bool == false)
    #expect(second.json["id"] == first.json["id"])
    let read = try await served.send("GET", path)
    #expect(read.json["Name"]?.string == "Two")
    #expect(read.json["External_Id__c"]?.string == "V 1")
    let old = try await served.send(
      "PATCH", "/services/data/v45.0/sobjects/Site_Visit__c/External_Id__c/V%201",
      ["Name": "Three"])
    #expect(old.status == 204)
    let byID = try await served.send("POST", "/sobjects/Site_Visit__c/Id/", ["Name": "Four"])
    #expect(byID.status == 201)
    let twice = try await served.send("PATCH", path, ["External_Id__c": "x"])
    #expect(twice.outcome == "400 INVALID_FIELD")
    let missing = try await served.send("PATCH", "/sobjects/Site_Visit__c/Nope__c/1", [:])
    #expect(missing.outcome == "404 NOT_FOUND")
    #expect(try await served.send("DELETE", path).status == 204)
    #expect(try await served.send("GET", path).outcome == "404 NOT_FOUND")
  }

  @Test func `changes are listed by period`() async throws {
    let kept = try await served.create("Account", ["Name": "Kept"])
    let gone = try await served.create("Account", ["Name": "Gone"])
    #expect(try await served.send("DELETE", "/sobjects/Account/\(gone)").status == 204)
    let now = served.org.now()
    func window(_ start: Int64, _ end: Int64) -> String {
      func text(_ time: Int64) -> String { HTTPQuery.encode(Dates.utcSeconds(now + time * 60_000)) }
      return "start=\(text(start))&end=\(text(end))"
    }
    let updated = try await served.send("GET", "/sobjects/Account/updated/?" + window(-10, 10))
    #expect(updated.json["ids"]?.array?.contains(.string(kept)) == true)
    let deleted = try await served.send("GET", "/sobjects/Account/deleted?" + window(-10, 10))
    #expect(deleted.json["deletedRecords"]?[0]?["id"]?.string == gone)
    let wrong = try await served.send("GET", "/sobjects/Account/deleted?" + window(10, -10))
    #expect(wrong.outcome == "400 INVALID_REPLICATION_DATE")
  }
}
