import HTTP
import JSON
import Testing

@Suite struct ExternalKeyTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  private func codes(_ response: HTTPResponse) -> [String] {
    (response.json.array ?? []).map { result in
      let created = result["created"]?.bool.map { $0 ? " created" : " updated" } ?? ""
      return result["success"]?.bool == true
        ? "ok" + created : result["errors"]?[0]?["statusCode"]?.string ?? "no reason"
    }
  }

  private func record(_ fields: JSONObject, type: String? = "Account") -> JSONValue {
    var record = fields
    record["attributes"] = type.map { ["type": .string($0)] } ?? [:]
    return .object(record)
  }

  @Test func `a key that several records have identifies none of them`() async throws {
    let one = try await served.create("Site_Visit__c", ["Name": "One", "Legacy_Id__c": "L1"])
    let two = try await served.create("Site_Visit__c", ["Name": "Two", "Legacy_Id__c": "L1"])
    let path = "/sobjects/Site_Visit__c/Legacy_Id__c/L1"
    let base = "/services/data/v66.0/sobjects/Site_Visit__c/"
    for (method, body) in [("GET", nil), ("PATCH", ["Name": "x"]), ("DELETE", nil)]
      as [(String, JSONValue?)]
    {
      let response = try await served.send(method, path, body)
      #expect(response.status == 300, "\(method)")
      #expect(response.json == .array([.string(base + one), .string(base + two)]))
    }
    let many = try await served.send(
      "PATCH", "/composite/sobjects/Site_Visit__c/Legacy_Id__c",
      [
        "records": [
          record(["Legacy_Id__c": "L1", "Name": "x"], type: "Site_Visit__c"),
          record(["Legacy_Id__c": "L2", "Name": "y"], type: "Site_Visit__c"),
        ]
      ])
    #expect(codes(many) == ["DUPLICATE_EXTERNAL_ID", "ok created"])
    _ = try await served.send("DELETE", "/sobjects/Site_Visit__c/\(two)")
    #expect(try await served.send("PATCH", path, ["Name": "x"]).json["created"] == false)
  }

  @Test func `an upsert by Id updates an existing record, creates one without Id`() async throws {
    let id = try await served.create("Account", ["Name": "Old", "Description": "kept"])
    let response = try await served.send(
      "PATCH", "/composite/sobjects/Account/Id",
      [
        "allOrNone": false,
        "records": [
          record(["Id": .string(id), "Name": "New"]), record(["Name": "Made"]),
          record(["Id": "001000000000009AAA", "Name": "x"]), record(["Id": .null, "Name": "Null"]),
        ],
      ])
    #expect(
      codes(response) == ["ok updated", "ok created", "INVALID_CROSS_REFERENCE_KEY", "ok created"])
    #expect(response.json[0]?["id"]?.string == id)
    let read = try await served.send("GET", "/sobjects/Account/\(id)?fields=Name,Description")
    #expect(read.json["Name"] == "New" && read.json["Description"] == "kept")
    let single = try await served.send("PATCH", "/sobjects/Account/Id/\(id)", ["Name": "Newer"])
    #expect(single.status == 200 && single.json["created"] == false)
    let account = try await served.send(
      "PATCH", "/sobjects/Account/External_Id__c/A%201", ["Name": "By key"])
    #expect(account.status == 201)
  }

  @Test func `rows are refused with the messages that clients look for`() async throws {
    let long = String(repeating: "x", count: 256)
    let response = try await served.send(
      "POST", "/composite/sobjects",
      [
        "records": [
          record(["Name": .string(long)]), record(["Name": ""]), record(["Name": "x"], type: nil),
          record(["Name": "x"], type: "badType"),
        ]
      ])
    #expect(
      codes(response) == [
        "STRING_TOO_LONG", "REQUIRED_FIELD_MISSING", "INVALID_TYPE", "INVALID_TYPE",
      ])
    func message(_ place: Int) -> String {
      response.json[place]?["errors"]?[0]?["message"]?.string ?? ""
    }
    #expect(message(0).contains("data value too large"))
    #expect(message(1) == "Required fields are missing: [Name]")
    #expect(message(2).hasPrefix("sObject type 'null' is not supported."))
    #expect(message(3).hasPrefix("sObject type 'badType' is not supported."))
    let single = try await served.send("POST", "/sobjects/null", ["Name": "x"])
    #expect(single.outcome == "404 NOT_FOUND")
    #expect(single.json[0]?["message"] == "The requested resource does not exist")
  }

  @Test func `a deleted record is distinguished from one that never existed`() async throws {
    let id = try await served.create("Account", ["Name": "x"])
    _ = try await served.send("DELETE", "/sobjects/Account/\(id)")
    let unknown = "001000000000009AAA"
    let ids = [id, unknown]
    let updated = try await served.send(
      "PATCH", "/composite/sobjects",
      ["records": .array(ids.map { record(["id": .string($0), "Name": "y"]) })])
    #expect(codes(updated) == ["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY"])
    let deleted = try await served.send(
      "DELETE", "/composite/sobjects?allOrNone=false&ids=" + ids.joined(separator: ","))
    #expect(codes(deleted) == ["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY"])
    let base = "/services/data/v66.0/sobjects/Account/"
    let composite = try await served.send(
      "POST", "/composite",
      [
        "compositeRequest": .array(
          ["PATCH", "DELETE"].flatMap { method in
            ids.enumerated().map { place, id in
              [
                "method": .string(method), "url": .string(base + id),
                "referenceId": .string("\(method)\(place)"),
                "body": method == "PATCH" ? ["Name": "y"] : .null,
              ]
            }
          })
      ])
    let parts = composite.json["compositeResponse"]?.array ?? []
    #expect(parts.map { $0["httpStatusCode"] } == [404, 404, 404, 404])
    #expect(
      parts.map { $0["body"]?[0]?["errorCode"]?.string } == [
        "ENTITY_IS_DELETED", "NOT_FOUND", "ENTITY_IS_DELETED", "NOT_FOUND",
      ])
  }
}
