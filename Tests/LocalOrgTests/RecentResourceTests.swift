import HTTP
import Testing

@Suite struct RecentResourceTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  private func recent(_ object: String, token: String? = nil) async throws -> [String] {
    let response = try await served.send("GET", "/sobjects/\(object)/", token: token)
    #expect(response.json["objectDescribe"]?["name"]?.string == object)
    return (response.json["recentItems"]?.array ?? []).compactMap { $0["Name"]?.string }
  }

  @Test func `the most recently created or changed records come first`() async throws {
    let first = try await served.create("Account", ["Name": "One"])
    _ = try await served.create("Account", ["Name": "Two"])
    _ = try await served.create("Contact", ["LastName": "Three"])
    #expect(try await recent("Account") == ["Two", "One"])
    _ = try await served.send("PATCH", "/sobjects/Account/\(first)", ["Name": "Uno"])
    #expect(try await recent("Account") == ["Uno", "Two"])
    #expect(try await recent("Contact") == ["Three"])
    let all = try await served.send("GET", "/recent?limit=2")
    #expect(all.json.array?.map { $0["Name"]?.string } == ["Uno", "Three"])
    #expect(
      all.json[0]
        == [
          "attributes": [
            "type": "Account", "url": .string("/services/data/v66.0/sobjects/Account/\(first)"),
          ], "Id": .string(first), "Name": "Uno",
        ])
    #expect(try await served.send("GET", "/recent?limit=0").status == 400)
  }

  @Test func `each user has a list, without deleted or hidden records`() async throws {
    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    let id = try await served.create("Account", ["Name": "One"])
    _ = try await served.create("Account", ["Name": "Two"])
    #expect(try await recent("Account", token: ben) == [])
    try served.org.share(id, with: "ben@example.com")
    _ = try await served.send("PATCH", "/sobjects/Account/\(id)", ["Name": "Uno"], token: ben)
    #expect(try await recent("Account", token: ben) == ["Uno"])
    #expect(try await recent("Account") == ["Two", "Uno"])
    try served.org.unshare(id, from: "ben@example.com")
    #expect(try await recent("Account", token: ben) == [])
    _ = try await served.send("DELETE", "/sobjects/Account/\(id)")
    #expect(try await recent("Account") == ["Two"])
  }

  @Test(arguments: ["VIEW", "REFERENCE"])
  func `a query for view makes records recent, a read does not`(_ purpose: String) async throws {
    try served.org.addUser("eve@example.com", lastName: "Ebner", profile: "Integration")
    let eve = try served.server.token(for: "eve@example.com")
    try served.fill("Account", 3)
    let soql = "SELECT Id FROM Account WHERE Name != 'Account 1' ORDER BY Name"
    let plain = try await served.send("GET", "/query?q=" + HTTPQuery.encode(soql), token: eve)
    let id = try #require(plain.json["records"]?[0]?["Id"]?.string)
    _ = try await served.send("GET", "/sobjects/Account/\(id)", token: eve)
    #expect(try await recent("Account", token: eve) == [])
    let view = HTTPQuery.encode(soql + " FOR \(purpose)")
    _ = try await served.send("GET", "/query?q=" + view, token: eve)
    #expect(try await recent("Account", token: eve) == ["Account 0", "Account 2"])
  }

  @Test func `at most two hundred are kept`() async throws {
    try served.fill("Account", 330)
    let names = try await recent("Account")
    #expect(names.count == 200)
    #expect(names.first == "Account 329" && names.last == "Account 130")
  }
}
