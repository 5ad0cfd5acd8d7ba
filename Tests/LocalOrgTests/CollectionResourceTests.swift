import HTTP
import JSON
import Testing

@Suite struct CollectionResourceTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  private func record(_ name: JSONValue, type: String = "Account") -> JSONValue {
    ["attributes": ["type": .string(type)], "Name": name]
  }

  private func outcomes(_ response: HTTPResponse) -> [String] {
    (response.json.array ?? []).map { result in
      result["success"]?.bool == true
        ? "ok" : result["errors"]?[0]?["statusCode"]?.string ?? "no reason"
    }
  }

  @Test func `rows are created, updated and deleted independently`() async throws {
    let created = try await served.send(
      "POST", "/composite/sobjects",
      [
        "allOrNone": false,
        "records": [record("One"), record(.null), record("Two"), record("x", type: "Nope")],
      ])
    #expect(created.status == 200)
    #expect(outcomes(created) == ["ok", "REQUIRED_FIELD_MISSING", "ok", "INVALID_TYPE"])
    #expect(created.json[1]?["id"] == nil)
    let ids = (created.json.array ?? []).compactMap { $0["id"]?.string }
    let updated = try await served.send(
      "PATCH", "/composite/sobjects/",
      [
        "records": [
          ["attributes": ["type": "Account"], "Id": .string(ids[0]), "Phone": "1"],
          ["attributes": ["type": "Account"], "id": "001000000000001AAA", "Phone": "1"],
          ["attributes": ["type": "Account"], "Phone": "1"],
        ]
      ])
    #expect(outcomes(updated) == ["ok", "INVALID_CROSS_REFERENCE_KEY", "MISSING_ARGUMENT"])
    let list = HTTPQuery.encode((ids + ["001000000000001AAA", "x"]).joined(separator: ","))
    let deleted = try await served.send("DELETE", "/composite/sobjects?ids=\(list)")
    #expect(outcomes(deleted) == ["ok", "ok", "INVALID_CROSS_REFERENCE_KEY", "MALFORMED_ID"])
    let again = try await served.send("DELETE", "/composite/sobjects?ids=\(list)")
    #expect(outcomes(again).first == "ENTITY_IS_DELETED")
  }

  @Test(arguments: [(10, 200), (11, 400)])
  func `a collection with more than ten runs of types is refused as a whole`(
    _ runs: Int, _ status: Int
  ) async throws {
    let types = (0..<runs).map { $0 % 2 == 0 ? "Account" : "Contact" }
    let records = types.map { type -> JSONValue in
      ["attributes": ["type": .string(type)], type == "Account" ? "Name" : "LastName": "x"]
    }
    let response = try await served.send(
      "POST", "/composite/sobjects", ["records": .array(records)])
    #expect(response.status == status)
    if status == 400 { #expect(response.json[0]?["errorCode"] == "LIMIT_EXCEEDED") }
    let count = try await served.query("SELECT COUNT() FROM Account")
    #expect(count.json["totalSize"]?.int == (status == 400 ? 0 : 5))
  }

  @Test func `all or none leaves no changes`() async throws {
    let response = try await served.send(
      "POST", "/composite/sobjects",
      ["allOrNone": true, "records": [record("One"), record(.null), record("Two")]])
    #expect(response.status == 200)
    #expect(
      outcomes(response) == [
        "ALL_OR_NONE_OPERATION_ROLLED_BACK", "REQUIRED_FIELD_MISSING",
        "ALL_OR_NONE_OPERATION_ROLLED_BACK",
      ])
    #expect(try await served.query("SELECT COUNT() FROM Account").json["totalSize"]?.int == 0)
  }

  @Test func `an upsert reports what it created`() async throws {
    func body(_ name: JSONValue) -> JSONValue {
      [
        "records": [
          ["attributes": ["type": "Site_Visit__c"], "Name": name, "External_Id__c": "V1"]
        ]
      ]
    }
    let path = "/composite/sobjects/Site_Visit__c/External_Id__c"
    let first = try await served.send("PATCH", path, body("One"))
    #expect(first.json[0]?["created"]?.bool == true)
    let second = try await served.send("PATCH", path, body("Two"))
    #expect(second.json[0]?["created"]?.bool == false)
    #expect(first.json[0]?["id"] == second.json[0]?["id"])
    let wrong = try await served.send(
      "PATCH", "/composite/sobjects/Site_Visit__c/Nope__c", body("x"))
    #expect(wrong.outcome == "404 NOT_FOUND")
  }

  @Test func `a request above the platform's limit is refused as a whole`() async throws {
    let many = JSONValue.array(Array(repeating: record("x"), count: 201))
    let response = try await served.send("POST", "/composite/sobjects", ["records": many])
    #expect(response.outcome == "400 EXCEEDED_MAX_SIZE_REQUEST")
    let ids = JSONValue.array(Array(repeating: "001000000000001AAA", count: 2001))
    let retrieve = try await served.send(
      "POST", "/composite/sobjects/Account", ["ids": ids, "fields": ["Id"]])
    #expect(retrieve.outcome == "400 EXCEEDED_MAX_SIZE_REQUEST")
  }

  @Test func `a retrieve keeps its order and returns null for missing records`() async throws {
    let one = try await served.create("Account", ["Name": "One"])
    let two = try await served.create("Account", ["Name": "Two"])
    let gone = try await served.create("Account", ["Name": "Gone"])
    _ = try await served.send("DELETE", "/sobjects/Account/\(gone)")
    let ids = [two, gone, "001000000000001AAA", one]
    let posted = try await served.send(
      "POST", "/composite/sobjects/Account",
      ["ids": JSONValue(ids), "fields": ["Id", "Name", "LastModifiedDate"]])
    #expect(posted.status == 200)
    let names = (posted.json.array ?? []).map { $0["Name"]?.string ?? "null" }
    #expect(names == ["Two", "null", "null", "One"])
    let list = HTTPQuery.encode(ids.joined(separator: ","))
    let got = try await served.send(
      "GET", "/composite/sobjects/Account?ids=\(list)&fields=Id,Name,LastModifiedDate")
    #expect(got.body == posted.body)
    let wrong = try await served.send(
      "POST", "/composite/sobjects/Account", ["ids": JSONValue(ids), "fields": ["Nope"]])
    #expect(wrong.outcome == "400 INVALID_FIELD")
    let empty = try await served.send(
      "POST", "/composite/sobjects/Account", ["ids": [], "fields": ["Id"]])
    #expect(empty.outcome == "400 MISSING_ARGUMENT")
  }
}
