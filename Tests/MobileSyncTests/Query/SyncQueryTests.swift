import MobileSync
import Salesforce
import Testing

/// Rows 38–45 of the conformance table (SoqlSyncDownTargetTest, SyncManagerTests), and D2.
@Suite struct SyncQueryTests {
  private static let since: Int64 = 1_706_704_496_000
  private static let date = "2024-01-31T12:34:56.000Z"

  // SDK: testAddFilterForResync (38)
  @Test(
    arguments: [
      "select Id, LastModifiedDate from Account order by LastModifiedDate":
        "select Id, LastModifiedDate from Account where LastModifiedDate > D "
        + "order by LastModifiedDate, Id",
      "SELECT Id, LastModifiedDate FROM Account LIMIT 100":
        "select Id, LastModifiedDate from Account where LastModifiedDate > D "
        + "order by LastModifiedDate limit 100",
      "SELECT Id, LastModifiedDate FROM Account WHERE Name = 'J B' LIMIT 100":
        "select Id, LastModifiedDate from Account where LastModifiedDate > D and Name = 'J B' "
        + "order by LastModifiedDate limit 100",
      "SELECT Id, LastModifiedDate FROM Account WHERE A = 'x' OR B = 'y'":
        "select Id, LastModifiedDate from Account where LastModifiedDate > D "
        + "and (A = 'x' OR B = 'y') order by LastModifiedDate, Id",
      "SELECT Name FROM Account ORDER BY Name LIMIT 7":
        "select Id,LastModifiedDate,Name from Account where LastModifiedDate > D "
        + "order by Name limit 7",
    ] as [String: String])
  func `the time filter precedes the conditions`(_ query: String, _ expected: String) throws {
    let text = try SyncQuery(query).fetch(since: Self.since)
    #expect(text == expected.replacing("> D", with: "> \(Self.date)"))
  }

  // SDK: testAddFilterForResync (38)
  @Test func `the time filter uses the target's modification date`() throws {
    let query = try SyncQuery(
      "SELECT Key__c FROM A", idField: "Key__c", modificationField: "SystemModstamp")
    #expect(
      query.fetch(since: Self.since) == "select SystemModstamp,Key__c from A "
        + "where SystemModstamp > \(Self.date) order by SystemModstamp, Key__c")
  }

  // SDK: testGetSoqlForRemoteIds (39), testQueryWithSubqueries (40)
  @Test(
    arguments: [
      "select Id, Name from Account where Name = 'J B'":
        "select Id from Account where Name = 'J B'",
      "SELECT Id, (SELECT Id FROM Contacts) FROM Account "
        + "WHERE Id IN (SELECT AccountId FROM Contact) ORDER BY Name LIMIT 10":
        "select Id from Account where Id IN (SELECT AccountId FROM Contact) limit 10",
    ] as [String: String])
  func `the query for ids selects them, unordered`(_ query: String, _ expected: String) throws {
    #expect(try SyncQuery(query).ids == expected)
  }

  // SDK: testAddMissingFieldsAndOrderByToSOQLTarget (42)
  @Test func `fields that a sync needs are added to the query`() throws {
    #expect(
      try SyncQuery("SELECT FirstName, LastName FROM Contact").stored
        == "select Id,LastModifiedDate,FirstName, LastName from Contact order by LastModifiedDate")
  }

  @Test(arguments: [
    "SELECT Id, LastModifiedDate FROM Account ORDER BY Name",
    "Select LastModifiedDate,Id,Name From Account  Where A=1  Order By LastModifiedDate Limit 1",
  ])
  func `a query that lacks nothing keeps its text`(_ text: String) throws {
    #expect(try SyncQuery(text).stored == text)
  }

  @Test(
    arguments: [
      "SELECT\n  id, lastmodifieddate\nFROM Account ORDER BY Name":
        "select Id, LastModifiedDate from Account order by Name",
      "SELECT Id, LastModifiedDate\nFROM Account ORDER BY Name":
        "SELECT Id, LastModifiedDate FROM Account ORDER BY Name",
      "SELECT a.Id, LastModifiedDate FROM Account a WHERE A = 1 OR B = 2 ORDER BY Name":
        "select Id, LastModifiedDate from Account a where (A = 1 OR B = 2) order by Name",
      "SELECT Id, LastModifiedDate FROM Account WITH USER_MODE ORDER BY LastModifiedDate":
        "select Id, LastModifiedDate from Account where Id != null with USER_MODE "
        + "order by LastModifiedDate",
      "SELECT Id, LastModifiedDate FROM Account USING SCOPE mine WHERE A = 1 OR B = 2 "
        + "WITH SECURITY_ENFORCED":
        "select Id, LastModifiedDate from Account using scope mine where (A = 1 OR B = 2) "
        + "with SECURITY_ENFORCED order by LastModifiedDate",
    ] as [String: String])
  func `the stored query can be parsed by both SDKs`(_ text: String, _ expected: String) throws {
    #expect(try SyncQuery(text).stored == expected)
  }

  @Test func `a chain continues after the last record by date and id`() throws {
    let query = try SyncQuery("SELECT Id, LastModifiedDate FROM A WHERE B = 1 OR C = 2")
    #expect(
      query.fetch(after: .init(modified: Self.date, id: "001000000000001AAA"))
        == "select Id, LastModifiedDate from A where (LastModifiedDate > \(Self.date) or "
        + "(LastModifiedDate = \(Self.date) and Id > '001000000000001AAA')) "
        + "and (B = 1 OR C = 2) order by LastModifiedDate, Id")
    #expect(
      try SyncQuery.count(of: query.fetch()) == "select COUNT() from A where (B = 1 OR C = 2)")
    #expect(try !SyncQuery("SELECT Id FROM A LIMIT 5").canResume)
  }

  @Test func `deleted records are queried by object and time`() throws {
    #expect(
      try SyncQuery("SELECT Id FROM A WHERE B = 1").deleted(since: Self.since)
        == "select Id from A where IsDeleted = true and SystemModstamp > \(Self.date)")
  }

  // SDK: testNoBatchSizeHeaderPresentByDefault (43)
  // SDK: testNoBatchSizeHeaderPresentWithDefaultBatchSize (44)
  // SDK: testBatchSizeHeaderPresentWithNonDefaultBatchSize (45)
  @Test(arguments: [
    (2000, nil as String?), (200, "batchSize=200"), (1, "batchSize=200"), (5000, nil),
    (1999, "batchSize=1999"),
  ])
  func `a page size goes into a header unless it is the default`(_ size: Int, _ header: String?) {
    #expect(Session.queryOptions(batchSize: size) == header)
  }

  @Test func `grouped rows cannot be synced`() {
    #expect(throws: SyncError.self) { try SyncQuery("SELECT Name FROM A GROUP BY Name") }
  }

  @Test func `lookups by id omit the LIMIT`() throws {
    let query = try SyncQuery("SELECT Id, Name FROM A WHERE B = 1 ORDER BY Name LIMIT 5 OFFSET 2")
    let text = query.fetch(among: ["x", "y"])
    #expect(!text.lowercased().contains("limit") && !text.lowercased().contains("offset"))
    #expect(query.fetch(among: ["x"], .ids).hasPrefix("select Id from A"))
    #expect(query.fetch(among: ["x"], .dates).hasPrefix("select Id, LastModifiedDate from A"))
  }
}
