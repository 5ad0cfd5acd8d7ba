import HTTP
import Testing

@Suite struct QueryResourceTests {
  let served: ServedOrg
  init() throws {
    served = try ServedOrg()
    try served.fill("Account", 450)
  }

  @Test func `pages are followed to the last`() async throws {
    let size: HTTPHeaders = ["Sforce-Query-Options": "batchSize=200"]
    var response = try await served.query("SELECT Id FROM Account", headers: size)
    #expect(response.json["totalSize"]?.int == 450)
    #expect(response.json["done"]?.bool == false)
    // The next URL precedes the records, so that it can be read while they arrive.
    let text = response.text
    let head = try #require(text.firstRange(of: "\"nextRecordsUrl\""))
    #expect(head.lowerBound < (try #require(text.firstRange(of: "\"records\""))).lowerBound)
    var ids: [String] = []
    var sizes: [Int] = []
    while true {
      let records = response.json["records"]?.array ?? []
      sizes.append(records.count)
      ids += records.compactMap { $0["Id"]?.string }
      guard let next = response.json["nextRecordsUrl"]?.string else { break }
      #expect(next.hasPrefix("/services/data/v66.0/query/"))
      response = try await served.send("GET", next + "?q=ignored", headers: size)
    }
    #expect(sizes == [200, 200, 50])
    #expect(Set(ids).count == 450)
    #expect(response.json["done"]?.bool == true)
    #expect(served.server.log.entries.map(\.kind) == [.query, .queryMore, .queryMore])
    #expect(served.server.log.entries.map(\.records) == [200, 200, 50])
  }

  @Test func `a page can be read again, under both URLs`() async throws {
    let size: HTTPHeaders = ["Sforce-Query-Options": "batchSize=100"]
    let first = try await served.query("SELECT Id FROM Account", headers: size)
    let next = try #require(first.json["nextRecordsUrl"]?.string)
    // Sizes below 200 are raised to 200.
    #expect(first.json["records"]?.array?.count == 200)
    let page = try await served.send("GET", next, headers: size)
    let again = try await served.send("GET", next, headers: size)
    #expect(page.body == again.body)
    let other = next.replacing("/query/", with: "/queryAll/")
    #expect(try await served.send("GET", other, headers: size).body == page.body)
  }

  @Test func `queryAll returns deleted records`() async throws {
    let id = try await served.create("Account", ["Name": "Gone"])
    _ = try await served.send("DELETE", "/sobjects/Account/\(id)")
    let soql = HTTPQuery.encode("SELECT Id, IsDeleted FROM Account WHERE Id = '\(id)'")
    let some = try await served.send("GET", "/query/?q=" + soql)
    #expect(some.json["totalSize"]?.int == 0)
    let all = try await served.send("GET", "/queryAll?q=" + soql)
    #expect(all.json["records"]?[0]?["IsDeleted"]?.bool == true)
  }

  @Test(arguments: [
    ("SELECT Nope FROM Account", "400 INVALID_FIELD"), ("SELECT Id FROM Nope", "400 INVALID_TYPE"),
    ("SELECT FROM", "400 MALFORMED_QUERY"),
  ])
  func `an invalid query is refused`(_ soql: String, _ outcome: String) async throws {
    #expect(try await served.query(soql).outcome == outcome)
  }

  @Test func `an expired locator is refused`() async throws {
    let size: HTTPHeaders = ["Sforce-Query-Options": "batchSize=200"]
    let first = try await served.query("SELECT Id FROM Account", headers: size)
    let next = try #require(first.json["nextRecordsUrl"]?.string)
    try served.org.expireCursors()
    #expect(try await served.send("GET", next).outcome == "400 INVALID_QUERY_LOCATOR")
    #expect(try await served.send("GET", "/query/nonsense").outcome == "400 INVALID_QUERY_LOCATOR")
  }

  @Test func `a count has no records`() async throws {
    let response = try await served.query("SELECT COUNT() FROM Account")
    #expect(response.text == #"{"totalSize":450,"done":true,"records":[]}"#)
  }
}
