import HTTP
import JSON
import LocalOrg
import Testing

@Suite struct RelationshipQueryTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg { $0.childPageSize = 2 } }

  /// Accounts with the given numbers of contacts, whose last names are numbered.
  private func families(_ sizes: [Int]) async throws -> [String] {
    var ids: [String] = []
    for (place, size) in sizes.enumerated() {
      let id = try await served.create("Account", ["Name": .string("Account \(place)")])
      ids.append(id)
      for number in 0..<size {
        _ = try await served.create(
          "Contact", ["LastName": .string("\(place).\(number)"), "AccountId": .string(id)])
      }
    }
    return ids
  }

  private func lastNames(_ page: JSONValue?) -> [String] {
    (page?["records"]?.array ?? []).compactMap { $0["LastName"]?.string }
  }

  @Test func `children are nested in their parent, null if there are none`() async throws {
    _ = try await families([2, 0, 1])
    let response = try await served.query(
      """
      select Id, Name, (select Id, LastName from Contacts where LastName != '0.0' \
      order by LastName desc limit 5) from Account order by Name
      """)
    let records = try #require(response.json["records"]?.array)
    #expect(records[0]["Contacts"]?.object?.names == ["totalSize", "done", "records"])
    #expect(records[0]["Contacts"]?["totalSize"] == 1)
    #expect(lastNames(records[0]["Contacts"]) == ["0.1"])
    #expect(records[1]["Contacts"] == .null)
    #expect(lastNames(records[2]["Contacts"]) == ["2.0"])
    #expect(records[2]["Contacts"]?["records"]?[0]?["attributes"]?["type"] == "Contact")
  }

  @Test func `children beyond the page have a separate locator`() async throws {
    _ = try await families([5, 1, 3])
    let response = try await served.query(
      "SELECT Name, (SELECT LastName FROM Contacts ORDER BY LastName) FROM Account ORDER BY Name")
    #expect(response.json["done"] == true)
    let records = try #require(response.json["records"]?.array)
    #expect(records[1]["Contacts"]?["done"] == true)
    for (place, size) in [(0, 5), (2, 3)] {
      var page = try #require(records[place]["Contacts"])
      #expect(page["totalSize"]?.int == Int64(size))
      var names = lastNames(page)
      while let next = page["nextRecordsUrl"]?.string {
        #expect(page["done"] == false)
        let answer = try await served.send("GET", next)
        #expect(try await served.send("GET", next).body == answer.body)
        page = answer.json
        #expect(page["totalSize"]?.int == Int64(size))
        names += lastNames(page)
      }
      #expect(page["done"] == true)
      #expect(names == (0..<size).map { "\(place).\($0)" })
    }
    // A child deleted by then is omitted.
    let again = try await served.query(
      "SELECT Id, (SELECT Id FROM Contacts) FROM Account WHERE Name = 'Account 0'")
    let next = try #require(again.json["records"]?[0]?["Contacts"]?["nextRecordsUrl"]?.string)
    let rest = try await served.query("SELECT Id FROM Contact WHERE LastName = '0.2'")
    let id = try #require(rest.json["records"]?[0]?["Id"]?.string)
    _ = try await served.send("DELETE", "/sobjects/Contact/\(id)")
    #expect(try await served.send("GET", next).json["records"]?.array?.count == 1)
    try served.org.expireCursors()
    #expect(try await served.send("GET", next).outcome == "400 INVALID_QUERY_LOCATOR")
  }

  @Test func `pages of parents and pages of children are independent`() async throws {
    _ = try await families([3, 3, 3, 3])
    served.server.faults.add(.any, times: .max, .shortPage(records: 1))
    var response = try await served.query(
      """
      SELECT Name, (SELECT LastName, (SELECT Subject FROM Tasks) FROM Contacts ORDER BY LastName) \
      FROM Account ORDER BY Name
      """)
    var names: [String] = []
    for place in 0... {
      let record = try #require(response.json["records"]?[0])
      #expect(record["Name"]?.string == "Account \(place)")
      var page = try #require(record["Contacts"])
      names += lastNames(page)
      while let next = page["nextRecordsUrl"]?.string {
        page = try await served.send("GET", next).json
        names += lastNames(page)
      }
      guard let next = response.json["nextRecordsUrl"]?.string else { break }
      response = try await served.send("GET", next)
    }
    #expect(names == (0..<4).flatMap { parent in (0..<3).map { "\(parent).\($0)" } })
  }

  @Test func `the next page of parents invalidates locators of earlier children`() async throws {
    _ = try await families([3, 3, 3])
    for (isKept, outcome) in [(false, "400 INVALID_QUERY_LOCATOR"), (true, "200")] {
      var options = OrgServer.Options()
      options.childPageSize = 2
      options.endsChildLocators = !isKept
      let server = try OrgServer(org: served.org, options: options)
      server.faults.add(.any, times: .max, .shortPage(records: 1))
      let token = try server.token(for: "ada@example.com")
      func get(_ path: String) async throws -> HTTPResponse {
        var request = HTTPRequest("GET", server.url + path)
        request.headers["Authorization"] = "Bearer " + token
        return try await served.client.send(request)
      }
      let soql = HTTPQuery.encode("SELECT Id, (SELECT LastName FROM Contacts) FROM Account")
      let first = try await get("/services/data/v66.0/query?q=" + soql)
      let child = try #require(first.json["records"]?[0]?["Contacts"]?["nextRecordsUrl"]?.string)
      let next = try #require(first.json["nextRecordsUrl"]?.string)
      #expect(try await get(child).status == 200)
      let second = try await get(next)
      #expect(try await get(child).outcome == outcome)
      let other = try #require(second.json["records"]?[0]?["Contacts"]?["nextRecordsUrl"]?.string)
      #expect(try await get(other).status == 200)
      let third = try await get(try #require(second.json["nextRecordsUrl"]?.string))
      #expect(third.json["done"] == true)
      #expect(try await get(other).outcome == outcome)
    }
  }

  @Test func `grandchildren have pages too`() async throws {
    let ids = try await families([1])
    let contact = try await served.query("SELECT Id FROM Contact")
    let who = try #require(contact.json["records"]?[0]?["Id"])
    for number in 0..<3 {
      _ = try await served.create(
        "Task", ["Subject": .string("T\(number)"), "WhoId": who, "WhatId": .string(ids[0])])
    }
    let response = try await served.query(
      "SELECT Id, (SELECT Id, (SELECT Subject FROM Tasks ORDER BY Subject) FROM Contacts) FROM Account"
    )
    let tasks = response.json["records"]?[0]?["Contacts"]?["records"]?[0]?["Tasks"]
    #expect(tasks?["totalSize"] == 3 && tasks?["records"]?.array?.count == 2)
    let next = try #require(tasks?["nextRecordsUrl"]?.string)
    let rest = try await served.send("GET", next)
    #expect(rest.json["records"]?[0]?["Subject"] == "T2")
    #expect(rest.json["records"]?[0]?["attributes"]?["type"] == "Task")
  }

  @Test func `a user who sees a parent may not see all its children`() async throws {
    let ids = try await families([3])
    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    try served.org.share(ids[0], with: "ben@example.com")
    let soql = HTTPQuery.encode("SELECT Id, (SELECT LastName FROM Contacts) FROM Account")
    let none = try await served.send("GET", "/query?q=" + soql, token: ben)
    #expect(none.json["records"]?[0]?["Contacts"] == .null)
  }

  @Test func `parents are returned by name, also those of several kinds`() async throws {
    let ids = try await families([1])
    let incident = try await served.create("Case", ["Subject": "Leak"])
    _ = try await served.create("Task", ["Subject": "a", "WhatId": .string(ids[0])])
    _ = try await served.create("Task", ["Subject": "b", "WhatId": .string(incident)])
    _ = try await served.create("Task", ["Subject": "c"])
    let response = try await served.query(
      "SELECT Owner.Name, What.Name, What.Type FROM Task ORDER BY Subject")
    let records = try #require(response.json["records"]?.array)
    #expect(records[0]["Owner"]?["Name"] == "Adams")
    #expect(
      records[0]["What"]
        == [
          "attributes": [
            "type": "Name", "url": .string("/services/data/v66.0/sobjects/Account/\(ids[0])"),
          ], "Name": "Account 0", "Type": "Account",
        ])
    #expect(records[1]["What"]?["Type"] == "Case")
    #expect(records[2]["What"] == .null)
    let some = try await served.query("SELECT Subject FROM Task WHERE What.Type = 'Case'")
    #expect(some.json["records"]?.array?.map { $0["Subject"] } == ["b"])
    let contact = try await served.query("SELECT Account.Name, Account.Owner.Name FROM Contact")
    #expect(contact.json["records"]?[0]?["Account"]?["Owner"]?["Name"] == "Adams")
  }

  @Test func `a set may be selected by another query`() async throws {
    _ = try await families([1, 0, 2])
    func names(_ condition: String) async throws -> [String?] {
      let response = try await served.query(
        "SELECT Name FROM Account WHERE \(condition) ORDER BY Name")
      return (response.json["records"]?.array ?? []).map { $0["Name"]?.string }
    }
    #expect(
      try await names("Id IN (SELECT AccountId FROM Contact WHERE LastName LIKE '2.%')")
        == ["Account 2"])
    #expect(try await names("Id NOT IN (select AccountId from Contact)") == ["Account 1"])
  }
}
