import JSON
import LocalOrg
import Testing

@Suite struct AttachmentTests {
  private let served: ServedOrg
  init() throws { served = try ServedOrg() }

  /// An account with a file.
  private func attached() async throws -> (account: String, file: String) {
    let account = try await served.create("Account", ["Name": "Mill"])
    return (account, try await served.create("Attachment", file("aGVsbG8=", of: account)))
  }

  private func file(_ body: JSONValue, of account: String) -> JSONValue {
    ["ParentId": .string(account), "Name": "plan.txt", "Body": body]
  }

  @Test func `a query returns the address of a file, which returns its bytes`() async throws {
    let id = try await attached().file
    let page = try await served.query("SELECT Name, BodyLength, Body FROM Attachment")
    let row = try #require(page.json["records"]?[0])
    #expect(row["BodyLength"]?.int == 5)
    let address = try #require(row["Body"]?.string)
    #expect(address == "/services/data/v66.0/sobjects/Attachment/\(id)/Body")
    let file = try await served.send("GET", address)
    #expect(file.status == 200 && file.text == "hello")
    try served.org.addUser("ben@example.com", lastName: "Bloch", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    #expect(try await served.send("GET", address, token: ben).status == 404)
  }

  @Test(arguments: ["?", 5, .null] as [JSONValue])
  func `a file is written as base64`(_ body: JSONValue) async throws {
    let account = try await served.create("Account", ["Name": "Mill"])
    #expect(
      try await served.send("POST", "/sobjects/Attachment", file(body, of: account)).status == 400)
  }

  @Test(arguments: ["WHERE Body = 'a'", "ORDER BY Body", "GROUP BY Body"])
  func `no condition, order or group uses a file`(_ tail: String) async throws {
    #expect(try await served.query("SELECT Id FROM Attachment \(tail)").status == 400)
  }

  @Test func `no bulk query reads a file`() async throws {
    _ = try await attached()
    let job: JSONValue = ["operation": "query", "query": "SELECT Id, Body FROM Attachment"]
    let response = try await served.send("POST", "/jobs/query", job)
    #expect(response.json[0]?["errorCode"] == "FEATURENOTENABLED")
  }

  @Test func `a file is deleted with its record`() async throws {
    let (account, file) = try await attached()
    #expect(try await served.send("DELETE", "/sobjects/Account/\(account)").status == 204)
    #expect(try await served.send("GET", "/sobjects/Attachment/\(file)").status == 404)
  }
}
