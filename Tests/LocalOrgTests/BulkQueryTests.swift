import HTTP
import LocalOrg
import Testing

@Suite struct BulkQueryTests {
  private let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test func `a query job returns its records as CSV, page by page`() async throws {
    try served.fill("Account", 7)
    let id = try await served.queryJob("SELECT Id, Name FROM Account ORDER BY Name")
    let job = try await served.job("query/\(id)")
    #expect(job["state"]?.string == "JobComplete")
    #expect(job["numberRecordsProcessed"]?.int == 7)
    #expect(job["apiVersion"]?.double == 66.0)
    var names: [String] = []
    var locator: String?
    var sizes: [String] = []
    repeat {
      let more = locator.map { "&locator=\($0)" } ?? ""
      let page = try await served.send("GET", "/jobs/query/\(id)/results?maxRecords=3\(more)")
      #expect(page.headers["Content-Type"] == "text/csv")
      locator = page.headers["Sforce-Locator"]
      sizes.append(page.headers["Sforce-NumberOfRecords"] ?? "-")
      let rows = page.text.split(separator: "\n").map(String.init)
      #expect(rows.first == #""Id","Name""#)
      names += rows.dropFirst().map { String($0.split(separator: ",")[1]) }
    } while locator != nil && locator != "null"
    #expect(sizes == ["3", "3", "1"])
    #expect(names == (0..<7).map { "\"Account \($0)\"" })
  }

  @Test func `values are written as in an org's CSV`() async throws {
    let account = try await served.create("Account", ["Name": "Ac\"me,\nInc"])
    _ = try await served.create(
      "Contact",
      [
        "LastName": "Öz", "AccountId": .string(account), "DoNotCall": true,
        "Birthdate": "2001-02-03",
      ])
    _ = try await served.create("Contact", ["LastName": "Solo"])
    let id = try await served.queryJob(
      "SELECT lastname, Account.Name, DoNotCall, Birthdate, Email, CreatedDate FROM Contact "
        + "ORDER BY LastName DESC")
    let rows = try await served.rows("query/\(id)/results")
    #expect(
      rows[0] == ["LastName", "Account.Name", "DoNotCall", "Birthdate", "Email", "CreatedDate"])
    #expect(Array(rows[1][..<5]) == ["Öz", "Ac\"me,\nInc", "true", "2001-02-03", ""])
    #expect(rows[1][5].hasSuffix(".000Z"))
    #expect(Array(rows[2][..<3]) == ["Solo", "", "false"])
    let piped = try await served.queryJob(
      "SELECT LastName, DoNotCall FROM Contact WHERE LastName = 'Solo'",
      ["columnDelimiter": "PIPE", "lineEnding": "CRLF"])
    let text = try await served.send("GET", "/jobs/query/\(piped)/results").text
    #expect(text == "\"LastName\"|\"DoNotCall\"\r\n\"Solo\"|\"false\"\r\n")
  }

  @Test func `pages can be requested concurrently`() async throws {
    let served = try ServedOrg { $0.bulkPageSize = 3 }
    try served.fill("Account", 20)
    let id = try await served.queryJob("SELECT Name FROM Account ORDER BY Name")
    var urls: [String] = []
    var next: String? = "/services/data/v66.0/jobs/query/\(id)/resultPages"
    while let address = next {
      let pages = try await served.send("GET", address).json
      urls += (pages["resultPages"]?.array ?? []).compactMap { $0["resultUrl"]?.string }
      next = pages["nextRecordsUrl"]?.string
      #expect((next == nil) == (pages["done"]?.bool == true))
    }
    #expect(urls.count == 7)
    var names: Set<String> = []
    for url in urls.reversed() {
      names.formUnion(
        try await served.send("GET", url).text.split(separator: "\n").dropFirst().map(String.init))
    }
    #expect(names.count == 20)
  }

  @Test func `a job keeps what it found, whatever happens to the records later`() async throws {
    let kept = try await served.create("Account", ["Name": "before"])
    let id = try await served.queryJob("SELECT Name FROM Account")
    _ = try await served.send("PATCH", "/sobjects/Account/\(kept)", ["Name": "after"])
    _ = try await served.create("Account", ["Name": "late"])
    #expect(try await served.rows("query/\(id)/results") == [["Name"], ["before"]])
  }

  @Test func `only queryAll returns deleted records`() async throws {
    let id = try await served.create("Account", ["Name": "gone"])
    _ = try await served.send("DELETE", "/sobjects/Account/\(id)")
    let plain = try await served.queryJob("SELECT Name FROM Account")
    let all = try await served.queryJob(
      "SELECT Name, IsDeleted FROM Account", ["operation": "queryAll"])
    #expect(try await served.rows("query/\(plain)/results") == [["Name"]])
    #expect(
      try await served.rows("query/\(all)/results") == [["Name", "IsDeleted"], ["gone", "true"]])
  }

  @Test func `a job has several runs, can be aborted, resumes in another process`() async throws {
    let served = try ServedOrg { $0.bulkRuns = 1 }
    try served.org.seedBulk(object: "Account", count: 4500)
    let id = try await served.queryJob("SELECT Id FROM Account")
    let early = try await served.send("GET", "/jobs/query/\(id)/results")
    #expect(early.outcome == "400 INVALIDJOBSTATE")
    let aborted = try await served.queryJob("SELECT Id FROM Account")
    #expect(
      try await served.send("PATCH", "/jobs/query/\(aborted)", ["state": "Aborted"]).json["state"]
        == "Aborted")
    #expect(
      try await served.send("PATCH", "/jobs/query/\(aborted)", ["state": "Aborted"]).outcome
        == "400 INVALIDJOBSTATE")
    #expect(try await served.job("query/\(id)")["state"] == "InProgress")
    served.server.stop()
    let again = try OrgServer(org: Org(directory: served.org.directory))
    let client = try HTTPClient()
    var request = HTTPRequest("GET", again.url + ServedOrg.version + "/jobs/query/\(id)")
    request.headers["Authorization"] = "Bearer " + (try again.token(for: "ada@example.com"))
    #expect(try await client.send(request).json["state"] == "JobComplete")
    request = HTTPRequest(
      "GET", again.url + ServedOrg.version + "/jobs/query/\(id)/results?maxRecords=4400",
      headers: request.headers)
    let page = try await client.send(request)
    #expect(page.headers["Sforce-NumberOfRecords"] == "4400")
    #expect(Set(page.text.split(separator: "\n")).count == 4401)
  }

  @Test(arguments: [
    ("SELECT Name FROM Nothing", "400 INVALID_TYPE"),
    ("SELECT Nothing FROM Account", "400 INVALID_FIELD"),
    ("SELECT Name FROM Account WHERE", "400 MALFORMED_QUERY"),
    ("SELECT COUNT(Id) FROM Account", "400 API_ERROR"),
    ("SELECT Name, (SELECT Name FROM Contacts) FROM Account", "400 API_ERROR"),
    ("SELECT BillingAddress FROM Account", "400 API_ERROR"),
    ("SELECT Name FROM Account OFFSET 3", "400 API_ERROR"),
  ])
  func `an unsupported bulk query is refused early`(soql: String, outcome: String) async throws {
    let response = try await served.send(
      "POST", "/jobs/query", ["operation": "query", "query": .string(soql)])
    #expect(response.outcome == outcome)
    #expect(try await served.job("query")["records"]?.array?.isEmpty == true)
  }

  @Test func `jobs are listed and deleted, and belong to their owners`() async throws {
    try served.org.addUser("ben@example.com", lastName: "Bloch", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    let id = try await served.queryJob("SELECT Id FROM Account")
    #expect(try await served.job("query")["records"]?[0]?["id"]?.string == id)
    #expect(
      try await served.send("GET", "/jobs/query", token: ben).json["records"]?.array?.count == 0)
    #expect(
      try await served.send("GET", "/jobs/query/\(id)", token: ben).outcome == "404 NOT_FOUND")
    #expect(try await served.send("GET", "/jobs/ingest/\(id)").outcome == "404 NOT_FOUND")
    #expect(try await served.send("DELETE", "/jobs/query/\(id)").status == 204)
    #expect(try await served.send("GET", "/jobs/query/\(id)").outcome == "404 NOT_FOUND")
  }

  @Test func `results require the job's version, and jobs a version that has them`() async throws {
    let id = try await served.queryJob("SELECT Id FROM Account")
    func status(_ version: Int, _ path: String) async throws -> Int {
      try await served.send("GET", "/services/data/v\(version).0/jobs/query/\(id)\(path)").status
    }
    #expect(try await status(65, "/results") == 409)
    #expect(try await status(65, "") == 200)
    #expect(try await status(57, "/resultPages") == 404)
    #expect(try await status(46, "") == 404)
  }
}
