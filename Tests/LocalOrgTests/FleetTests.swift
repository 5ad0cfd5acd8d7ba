import HTTP
import JSON
import LocalOrg
import System
import Testing

/// What a client of many users relies on: their rights, and what its calls cost.
@Suite struct FleetTests {
  @Test func `each user has the rights of the profile and of every permission set`() throws {
    let sample = try SampleOrg()
    let fields = ["Phone", "Fax", "Site", "Rating"]
    func users(_ wanted: (Int) -> Bool) -> JSONValue {
      JSONValue((0..<12).filter(wanted).map { "u\($0)@example.com" })
    }
    for number in 0..<12 {
      try sample.org.addUser(
        "u\(number)@example.com", lastName: "U\(number)", profile: "Field Technician")
    }
    // A profile hides two of the fields, a permission set gives one back, for reading.
    let profiles = (0..<4).map { place -> JSONValue in
      let rights: JSONObject = [
        fields[place]: "none", fields[(place + 1) % 4]: "none",
      ]
      return [
        "name": .string("Profile \(place)"), "users": users { $0 % 4 == place },
        "objects": ["Account": ["fields": .object(rights)]],
      ]
    }
    let sets = (0..<3).map { place -> JSONValue in
      let rights: JSONObject = [fields[place]: "read"]
      return [
        "name": .string("Set \(place)"), "users": users { $0 % 3 == place },
        "objects": ["Account": ["fields": .object(rights)]],
      ]
    }
    let setup: JSONValue = ["profiles": .array(profiles), "permissionSets": .array(sets)]
    try sample.org.setUp(OrgSetup(parsing: setup.bytes))
    for number in 0..<12 {
      let user = try #require(sample.org.user(named: "u\(number)@example.com"))
      let schema = try #require(sample.org.schema("Account", as: user))
      for (place, field) in fields.enumerated() {
        let isHidden = [number % 4, (number + 1) % 4].contains(place)
        let isGiven = number % 3 == place
        let note: Comment = "user \(number), \(field)"
        #expect((schema.field(field) != nil) == (!isHidden || isGiven), note)
        #expect((schema.field(field)?.updateable == true) == !isHidden, note)
        let code: String?
        do {
          _ = try sample.org.query("SELECT \(field) FROM Account", as: user)
          code = nil
        } catch { code = error.code }
        #expect(code == (isHidden && !isGiven ? "INVALID_FIELD" : nil), note)
      }
    }
  }
}

@Suite struct FleetCallTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg { $0.adminSecret = "open sesame" } }

  /// Queries of a composite, named `q0`, `q1` and so on.
  private func run(_ statements: [String]) async throws -> HTTPResponse {
    let parts = statements.enumerated().map { place, soql -> JSONValue in
      [
        "method": "GET", "referenceId": .string("q\(place)"),
        "url": .string(ServedOrg.version + "/query?q=" + HTTPQuery.encode(soql)),
      ]
    }
    return try await served.send("POST", "/composite", ["compositeRequest": .array(parts)])
  }

  private func counts(_ response: HTTPResponse) -> [Int] {
    (response.json["compositeResponse"]?.array ?? []).map {
      $0["body"]?["records"]?.array?.count ?? -1
    }
  }

  /// Five statements whose ranges of IDs cover all accounts.
  private func ranges(_ fields: String) async throws -> [String] {
    let found = try await served.query("SELECT Id FROM Account ORDER BY Id")
    let ids = (found.json["records"]?.array ?? []).compactMap { $0["Id"]?.string }
    let cuts = (1..<5).map { ids[ids.count * $0 / 5] }
    let lower = [nil] + cuts.map(Optional.some)
    return zip(lower, cuts.map(Optional.some) + [nil]).map { from, to in
      let bounds = [from.map { "Id >= '\($0)'" }, to.map { "Id < '\($0)'" }].compactMap(\.self)
      return "SELECT \(fields) FROM Account WHERE " + bounds.joined(separator: " AND ")
    }
  }

  @Test func `five queries in a composite are one call, and a sixth is refused`() async throws {
    try served.fill("Account", 50)
    let statements = try await ranges("Id, Name")
    let before = (served.server.log.count, served.server.usage)
    #expect(counts(try await run(statements)) == [10, 10, 10, 10, 10])
    let totals = served.server.log.totals(after: before.0)
    #expect(totals.requests == 1 && totals.calls == 1)
    #expect(totals.records == 50 && totals.ids == 0)
    #expect(served.server.usage == before.1 + 1)
    #expect(try await run(statements + statements).outcome == "400 EXCEEDED_MAX_SIZE_REQUEST")
  }

  @Test func `a part of a composite fails alone`() async throws {
    try served.fill("Account", 50)
    let statements = try await ranges("Id")
    served.server.faults.add(
      .kind(.composite), .refusePart(2, status: 400, code: "QUERY_TIMEOUT"))
    let response = try await run(statements)
    #expect(response.status == 200)
    #expect(counts(response) == [10, 10, -1, 10, 10])
    let part = response.json["compositeResponse"]?[2]
    #expect(part?["httpStatusCode"] == 400)
    #expect(part?["body"]?[0]?["errorCode"] == "QUERY_TIMEOUT")
    #expect(counts(try await run(statements)) == [10, 10, 10, 10, 10])
  }

  @Test func `a part with more records than a page is continued alone`() async throws {
    try served.fill("Account", 50)
    let statements = try await ranges("Id")
    served.server.faults.add(.kind(.composite), .shortPage(records: 8))
    let response = try await run(statements)
    #expect(counts(response) == [8, 8, 8, 8, 8])
    let body = response.json["compositeResponse"]?[4]?["body"]
    #expect(body?["done"] == false && body?["totalSize"] == 10)
    let next = try #require(body?["nextRecordsUrl"]?.string)
    let rest = try await served.send("GET", next)
    #expect(rest.json["records"]?.array?.count == 2 && rest.json["done"] == true)
  }

  @Test(arguments: [#"{"kind":"composite","delayPart":1,"delay":200}"#])
  func `a part of a composite takes long`(_ order: String) async throws {
    let statements = Array(repeating: "SELECT Id FROM Account", count: 2)
    var request = HTTPRequest("POST", served.server.url + "/attache/faults")
    request.headers["X-Attache-Admin"] = "open sesame"
    request.body = Array(order.utf8)
    #expect(try await served.client.send(request).status == 204)
    let start = Clock.monotonicNanoseconds()
    #expect(counts(try await run(statements)) == [0, 0])
    #expect(Clock.monotonicNanoseconds() - start >= 200_000_000)
    #expect(served.server.log.entries.last?.fault == "delay part 1 by 200")
  }

  @Test func `the log tells the calls, the records and the IDs apart`() async throws {
    try served.fill("Account", 30)
    try served.org.addBriefcase("B", rules: [BriefcaseRule("Account")], users: ["ada@example.com"])
    let log = served.server.log
    func cost(_ body: () async throws -> HTTPResponse) async throws -> [Int] {
      let count = log.count
      let response = try await body()
      let totals = log.totals(after: count)
      #expect(totals.bytes == response.body.count)
      return [totals.requests, totals.calls, totals.records, totals.ids]
    }
    #expect(
      try await cost { try await served.query("SELECT Id, Name FROM Account") } == [1, 1, 30, 0])
    #expect(
      try await cost { try await served.query("SELECT Id, SystemModstamp FROM Account") }
        == [1, 1, 0, 30])
    #expect(
      try await cost { try await run(["SELECT Id FROM Account", "SELECT Name FROM Account"]) }
        == [1, 1, 30, 30])
    #expect(
      try await cost { try await served.send("GET", "/connect/briefcase/priming-records") }
        == [1, 1, 0, 30])
    #expect(try await cost { try await served.send("GET", "/services/data") } == [1, 0, 0, 0])
    let usage = served.server.usage
    let describe: JSONValue = ["method": "GET", "url": "v66.0/sobjects/Account/describe"]
    #expect(
      try await cost {
        try await served.send(
          "POST", "/composite/batch", ["batchRequests": [describe, describe, describe]])
      } == [1, 3, 0, 0])
    #expect(served.server.usage == usage + 3)
    let lines = try String(
      contentsOfFile: served.org.directory + "/requests.jsonl", encoding: .utf8)
    let last = try #require(lines.split(separator: "\n").last)
    #expect(try JSONValue(parsing: String(last))["calls"] == 3)
    var request = HTTPRequest("GET", served.server.url + "/attache/log/totals")
    request.headers["X-Attache-Admin"] = "open sesame"
    let totals = try await served.client.send(request)
    #expect(totals.json["calls"] == 7 && totals.json["ids"] == 90)
    #expect(totals.json["bytes"]?.int == Int64(log.totals().bytes))
  }

  @Test(arguments: [
    ("Seen_By__c", "calculatedFormula", "$User.Username" as JSONValue),
    ("Seen_By__c", "calculated", true), ("Seen_By__c", "type", "string"),
    ("Seen_By__c", "updateable", false), ("Seen_By__c", "filterable", true),
    ("Managed__c", "calculated", true), ("Managed__c", "calculatedFormula", .null),
    ("Passport__c", "type", "encryptedstring"), ("Passport__c", "encrypted", true),
    ("Passport__c", "maskType", "lastFour"), ("Passport__c", "mask", "X"),
    ("Passport__c", "filterable", false), ("Passport__c", "updateable", true),
    ("LastName", "calculated", false), ("LastName", "encrypted", false),
  ])
  func `describe tells formula and encrypted fields`(
    _ name: String, _ member: String, _ value: JSONValue
  ) async throws {
    let setup = #"""
      {"objects": {"Contact": {"fields": {
        "Seen_By__c": {"type": "string", "formula": "$User.Username"},
        "Managed__c": {"type": "date", "formula": "TODAY()", "hidesFormula": true},
        "Passport__c": {"type": "encryptedstring", "maskType": "lastFour", "mask": "X"}}}}}
      """#
    try served.org.setUp(OrgSetup(parsing: Array(setup.utf8)))
    let describe = try await served.send("GET", "/sobjects/Contact/describe")
    let field = describe.json["fields"]?.array?.first { $0["name"]?.string == name }
    #expect(field?[member] == value)
  }

  @Test func `priming pages have a thousand records if the org says so`() async throws {
    let served = try ServedOrg { $0.primingPageSize = 1000 }
    try served.fill("Account", 1200)
    try served.org.addBriefcase(
      "B", rules: [BriefcaseRule("Account", limit: 50_000)], users: ["ada@example.com"])
    var path = "/connect/briefcase/priming-records"
    var sizes: [Int64] = []
    while true {
      let page = try await served.send("GET", path)
      sizes.append(try #require(page.json["stats"]?["recordCountServed"]?.int))
      guard let token = page.json["relayToken"]?.string else { break }
      path = "/connect/briefcase/priming-records?relayToken=" + HTTPQuery.encode(token)
    }
    #expect(sizes == [1000, 200])
  }
}
