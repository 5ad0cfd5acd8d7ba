import JSON
import Pipelines
import System
import TestSupport
import Testing

struct PreflightTests {
  /// A pipeline with one store with these syncs, on the demo's org.
  static func world(_ syncs: String) throws -> World {
    let directory = TemporaryDirectory("preflight")
    let file = directory.file("check.json")
    try DurableFile.write(
      Array(
        """
        {"format": 1, "name": "check",
         "org": {"url": {"env": "ATTACHE_ORG_URL"}, "login": {"method": "jwt",
           "clientId": {"env": "ATTACHE_CLIENT_ID"}, "key": {"env": "ATTACHE_JWT_KEY"},
           "integrationUser": "attache@example.com"}},
         "users": {"list": ["ada@example.com", "ben@example.com"]},
         "stores": [{"schema": "store.json", "syncs": "syncs.json"}], "platforms": ["ios"]}
        """.utf8), to: file)
    let soups = ["contacts", "accounts", "cases"].map {
      #"{"soupName": "\#($0)", "indexes": [{"path": "Id", "type": "string"}, "#
        + #"{"path": "Identity", "type": "string"}, "#
        + #"{"path": "__local__", "type": "string"}, {"path": "__sync_id__", "type": "integer"}]}"#
    }
    try DurableFile.write(
      Array(#"{"soups": [\#(soups.joined(separator: ", "))]}"#.utf8),
      to: directory.file("store.json"))
    try DurableFile.write(Array(syncs.utf8), to: directory.file("syncs.json"))
    return try World(file: file)
  }

  private static func check(_ world: World) async throws -> OrgCheck {
    try await OrgCheck.run(world.pipeline, root: world.root, variables: world.variables)
  }

  /// Nine faults.
  static let mistakes = {
    let file = World.repository + "/Tests/Fixtures/mistakes.syncs.json"
    return String(decoding: (try? Files.read(file)) ?? [], as: UTF8.self)
  }()

  static func expectMistakes(_ problems: [Problem]) throws {
    let found = problems.map { "\($0.line):\($0.column) \($0.message); \($0.fix)" }
    let expected = [
      (3, #""Birthdate" for this user|Contact.Birthdate has the type date, not date and time"#),
      (4, #"Contact has no field "FristName" for this user; did you mean "FirstName"?"#),
      (4, #"User has no field "Nmae" for this user; did you mean "Name"?"#),
      (4, "which no query can compare"),
      (7, #"the org has no object "Csae" for this user; did you mean "Case"?"#),
      (11, #"Account has no field "Identity" for this user"#),
      (16, "Account.CreatedDate in new records"), (18, "Account.LastModifiedById"),
      (19, "Account.Phone is not an external ID"),
    ]
    for (line, words) in expected {
      #expect(
        found.contains { text in
          text.hasPrefix("\(line):") && words.split(separator: "|").contains { text.contains($0) }
        }, "\(line): \(words) is not among:\n\(found.joined(separator: "\n"))")
    }
    #expect(problems.count == expected.count, "\(found.joined(separator: "\n"))")
    #expect(problems.allSatisfy { $0.file.hasSuffix("syncs.json") })
    // A name in a query is located inside the query.
    let query = try #require(mistakes.split(separator: "\n").first { $0.contains("FristName") })
    let column = query.distance(
      from: query.startIndex, to: try #require(query.range(of: "FristName")).lowerBound)
    #expect(found.contains { $0.hasPrefix("4:\(column + 1) Contact has no field") })
  }

  @Test func `nine faults are reported at once, with locations, for each user`() async throws {
    let check = try await Self.check(try Self.world(Self.mistakes))
    try Self.expectMistakes(check.findings.map(\.problem))
    #expect(check.findings.allSatisfy { $0.users.isEmpty })
    #expect(check.failures == [])
    // A fault in a fetch is fatal; of a sync up, the other fields are sent.
    #expect(check.findings.filter { !$0.fault.isFatal }.map(\.problem.line) == [16, 18, 19])
  }

  @Test func `a pipeline that the org can serve has no finding, even without briefcase`()
    async throws
  {
    let world = try Self.world(
      """
      {"syncs": [
        {"syncName": "contacts", "syncType": "syncDown", "soupName": "contacts",
         "target": {"type": "soql", "query": "SELECT c.Id, c.Account.Name, toLabel(c.LeadSource),
           (SELECT Id, Nothing FROM Cases) FROM Contact c WHERE (NOT c.Title LIKE 'x%') AND
           (c.Phone = null OR c.AccountId IN (SELECT Id FROM Account WHERE Nothing = 'x')) AND
           CALENDAR_YEAR(CreatedDate) > 2000 ORDER BY c.LastModifiedDate"},
         "options": {"mergeMode": "OVERWRITE"}},
        {"syncName": "up", "syncType": "syncUp", "soupName": "contacts", "target": {},
         "options": {"fieldlist": ["Id", "LastName", "LastModifiedDate"],
           "mergeMode": "LEAVE_IF_CHANGED"}}
      ]}
      """.replacing("\n", with: " "))
    // An org without briefcases, and a user who has no access to the limits.
    world.server.faults.add(.kind(.priming), nth: 1, times: .max, .status(404, code: "NOT_FOUND"))
    world.server.faults.add(
      .kind(.limits), nth: 1, times: .max, .status(403, code: "INSUFFICIENT_ACCESS"))
    let check = try await Self.check(world)
    #expect(check.findings.map(\.description) == [])
    #expect(check.failures == [])
    #expect(check.requests == nil)
    #expect(check.lines.contains { $0 == "ada@example.com: logged in" })
    #expect(check.lines.contains { $0.contains("has no access to the limits") })
  }

  @Test func `names that identify rows need the org's case, queries any case`() async throws {
    let world = try Self.world(
      """
      {"syncs": [
        {"syncName": "contacts", "syncType": "syncDown", "soupName": "contacts",
         "target": {"type": "soql", "modificationDateFieldName": "systemmodstamp",
           "query": "select id, LASTNAME, account.name, systemmodstamp from contact where title = 'x'"},
         "options": {"mergeMode": "OVERWRITE"}},
        {"syncName": "up", "syncType": "syncUp", "soupName": "contacts",
         "target": {"createFieldlist": ["lastName", "Account.Name"], "updateFieldlist": ["TITLE"]},
         "options": {"mergeMode": "LEAVE_IF_CHANGED"}}
      ]}
      """)
    let check = try await Self.check(world)
    let found = check.findings.filter(\.fault.isInOtherCase)
    #expect(
      found.map(\.problem.fix)
        == [#"write "SystemModstamp""#, #"write "LastName""#, #"write "Title""#])
    #expect(found.map(\.problem.line) == [3, 7, 7])
    #expect(found.allSatisfy { $0.fault.isFatal })
    #expect(check.findings.allSatisfy { !$0.fault.isFatal || $0.fault.isInOtherCase })
  }

  @Test func `the org has everything that the demo's syncs need`() async throws {
    let check = try await Self.check(try World())
    #expect(check.findings.map(\.description) == [])
  }

  @Test func `a user whom the pipeline excludes from its query is not checked`() async throws {
    let world = try World {
      $0.replacing(
        "\"users\": {", with: "\"users\": { \"except\": [\"ada@example.com\", \"ben@example.com\"],"
      )
    }
    let names = try await Self.check(world).identities.map(\.username)
    #expect(!names.isEmpty && !names.contains { $0.hasPrefix("ada@") || $0.hasPrefix("ben@") })
  }
}
