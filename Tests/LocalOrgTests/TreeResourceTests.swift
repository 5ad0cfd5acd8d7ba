import JSON
import Testing

@Suite struct TreeResourceTests {
  private func account(_ reference: String, _ name: JSONValue, _ contacts: [JSONValue]) -> JSONValue
  {
    [
      "attributes": ["type": "Account", "referenceId": .string(reference)], "Name": name,
      "Contacts": ["records": .array(contacts)],
    ]
  }

  private func contact(_ reference: String, _ name: JSONValue) -> JSONValue {
    ["attributes": ["type": "Contact", "referenceId": .string(reference)], "LastName": name]
  }

  @Test func `records are created with their children`() async throws {
    let served = try ServedOrg()
    let answer = try await served.send(
      "POST", "/composite/tree/Account",
      ["records": [account("a1", "A", [contact("c1", "C"), contact("c2", "D")])]])
    #expect(answer.status == 201)
    #expect(answer.json["hasErrors"] == false)
    #expect(
      answer.json["results"]?.array?.compactMap { $0["referenceId"]?.string } == ["a1", "c1", "c2"])
    let records = try await served.query(
      "SELECT LastName, AccountId FROM Contact ORDER BY LastName")
    #expect(records.json["records"]?[1]?["AccountId"] == answer.json["results"]?[0]?["id"])
  }

  @Test func `one invalid record rolls back all`() async throws {
    let served = try ServedOrg()
    let answer = try await served.send(
      "POST", "/composite/tree/Account", ["records": [account("a1", "A", [contact("c1", .null)])]])
    #expect(answer.status == 400)
    #expect(answer.json["hasErrors"] == true)
    #expect(answer.json["results"]?[0]?["referenceId"] == "c1")
    #expect(answer.json["results"]?[0]?["errors"]?[0]?["statusCode"] == "REQUIRED_FIELD_MISSING")
    #expect(try await served.query("SELECT COUNT() FROM Account").json["totalSize"] == 0)
  }

  @Test func `a repeated reference, and more than 200 records, are refused`() async throws {
    let served = try ServedOrg()
    let twice = try await served.send(
      "POST", "/composite/tree/Account", ["records": [account("a", "A", [contact("a", "C")])]])
    #expect(twice.outcome == "400 INVALID_INPUT")
    let many = (0..<201).map { contact("c\($0)", "C") }
    let answer = try await served.send("POST", "/composite/tree/Contact", ["records": .array(many)])
    #expect(answer.outcome == "400 EXCEEDED_MAX_SIZE_REQUEST")
  }
}
