import Dispatch
import HTTP
import JSON
import LocalOrg
import MobileSync
import SQLite
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

@Suite struct BulkPrimeTests {
  private static let query =
    "SELECT Id, Name, Phone, Description, AnnualRevenue, NumberOfEmployees, IsDeleted FROM Account"

  private func snapshot(_ org: SyncedOrg, _ query: String = query, bulkAbove: Int = 100) -> Snapshot
  {
    let snapshot = Snapshot(
      org, soups: [.sample("accounts", "Name")], syncs: [.soql("down", query, into: "accounts")])
    snapshot.bulkAbove = bulkAbove
    return snapshot
  }

  private func filled(_ count: Int = 230) throws -> SyncedOrg {
    let org = try SyncedOrg { $0.bulkPageSize = 60 }
    let texts: [JSONValue] = [
      "plain", .null, "a \"quote\", a comma", "two\nlines\r\nand a tab\t", "ä \u{2028} 😀", "#N/A",
    ]
    let numbers: [JSONValue] = [.null, 0, .number("139000000"), .number("12.5"), .number("-3")]
    try org.org.transaction {
      for number in 0..<count {
        try org.make(
          "Account",
          [
            "Name": .string("Account \(number)"), "Description": texts[number % texts.count],
            "AnnualRevenue": numbers[number % numbers.count],
            "NumberOfEmployees": JSONValue(number),
          ])
      }
    }
    return org
  }

  private func rows(_ snapshot: Snapshot, _ platform: Platform) throws -> [JSONObject] {
    try snapshot.elements("accounts", platform).compactMap(\.object).map { element in
      var element = element
      element["_soupEntryId"] = nil
      return element
    }.sorted { ($0["Id"]?.string ?? "") < ($1["Id"]?.string ?? "") }
  }

  @Test func `a query job fetches the same rows as the query's pages`() async throws {
    let org = try filled()
    let (bulk, paged) = (snapshot(org), snapshot(org, bulkAbove: 1000))
    #expect(try await bulk.prime().soups.map(\.fetched) == [230])
    // The job, its state, four pages of its result; only one page of the query is requested again.
    #expect(org.requests(.bulkCreate) == 1)
    #expect(org.requests(.bulkResults) == 4)
    #expect(org.requests(.bulkDelete) == 1)
    #expect(org.requests(.query) == 1)
    try await paged.prime()
    #expect(org.requests(.bulkCreate) == 1)
    for platform in Platform.allCases {
      #expect(try rows(bulk, platform) == rows(paged, platform))
      #expect(try rows(bulk, platform).count == 230)
    }
  }

  @Test func `a large result by a job equals the one by pages, row by row`() async throws {
    let count = CampaignSize.bulkRecords.count
    let org = try SyncedOrg()
    try org.org.seedBulk(object: "Account", count: count, owner: "admin@example.com")
    let (bulk, paged) = (snapshot(org), snapshot(org, bulkAbove: .max))
    #expect(try await bulk.prime().soups.map(\.fetched) == [count])
    #expect(org.requests(.bulkCreate) == 1)
    try await paged.prime()
    for platform in Platform.allCases {
      let stores = try Connection(bulk.path(platform), mode: .readOnly)
      try stores.run("ATTACH \(paged.path(platform)) AS paged")
      let equal = try stores.integer(
        """
        SELECT count(*) FROM TABLE_1 one JOIN paged.TABLE_1 other ON other.TABLE_1_0 = one.TABLE_1_0
        WHERE json_remove(one.soup, '$._soupEntryId') = json_remove(other.soup, '$._soupEntryId')
        """)
      #expect(equal == Int64(count))
    }
  }

  // MARK: Concurrent pages

  /// A result with more records than are read page by page, in the org's page size.
  private func large(pageSize: Int = 1500) throws -> SyncedOrg {
    let org = try SyncedOrg { $0.bulkPageSize = pageSize }
    try org.org.seedBulk(object: "Account", count: 6400, owner: "admin@example.com")
    return org
  }

  private static let long = "SELECT Id, Name, Description, LastModifiedDate FROM Account"

  private func primesAll(_ org: SyncedOrg) async throws {
    let (snapshot, jobs) = (snapshot(org, Self.long), org.requests(.bulkCreate))
    #expect(try await snapshot.prime().soups.map(\.fetched) == [6400])
    #expect(org.requests(.bulkCreate) - jobs == 1)
    let ids = try snapshot.column("Id", of: "accounts")
    #expect(ids.count == 6400 && Set(ids).count == 6400)
  }

  @Test func `a large result is read with several concurrent pages`() async throws {
    let org = try large()
    let (third, overlaps) = (DispatchSemaphore(value: 0), Locked(false))
    org.server.faults.add(
      .kind(.bulkResults), nth: 2,
      .pause(afterBytes: 100) {
        let isThere = third.wait(timeout: .now() + 60) == .success
        overlaps.withLock { $0 = isThere }
      })
    org.server.faults.add(.kind(.bulkResults), nth: 3, .mutate { _ in third.signal() })
    try await primesAll(org)
    #expect(overlaps.withLock { $0 }, "the third page is asked for while the second arrives")
    // Five pages of the org's size, not two of ours.
    #expect(org.requests(.bulkResults) == 5)
  }

  @Test func `a long list of pages is read to its end`() async throws {
    let org = try large(pageSize: 400)
    try await primesAll(org)
    #expect(org.requests(.bulkResults) == 16)
  }

  @Test(arguments: 1...5)
  func `after a shortened page its own locator is used`(_ page: Int) async throws {
    let org = try large()
    org.server.faults.add(.kind(.bulkResults), nth: page, .shortPage(records: 70))
    try await primesAll(org)
  }

  @Test func `an org without the list of pages is read page by page`() async throws {
    let org = try large()
    org.server.faults.add(.kind(.bulkRead), nth: 2, .status(404, code: "NOT_FOUND"))
    try await primesAll(org)
    #expect(org.requests(.bulkRead) == 2)
  }

  @Test(arguments: losses)
  func `a page list that never arrives costs nothing else`(_ loss: Faults.Action) async throws {
    let org = try large()
    org.server.faults.add(.kind(.bulkRead), nth: 2, times: 1000, loss)
    try await primesAll(org)
    #expect(org.requests(.query) == 1)
  }

  @Test func `a page that exceeds the response limit is read in smaller ones`() async throws {
    let org = try large(pageSize: 6300)
    let job = try await BulkQueryJob.begin(Self.long, try await org.session())
    try await job.complete()
    let longest = try #require(try await job.next()?.count)
    // None of its requests is in transit when others are counted.
    while try await job.next() != nil {}
    await job.remove()
    org.answerLimit = longest - 1
    let before = org.requests(.bulkResults)
    try await primesAll(org)
    // The page that was too large, and two with at most five thousand records.
    #expect(org.requests(.bulkResults) - before == 3)
  }

  @Test func `the next run fetches records that changed since the job started`() async throws {
    let org = try filled()
    let snapshot = try await snapshot(org).primed()
    try org.org.moveClock(by: 60_000)
    let id = try #require(try snapshot.column("Id", of: "accounts").first)
    try org.update("Account", id, ["Phone": "later"])
    #expect(try await snapshot.prime().soups.map(\.written) == [1])
    #expect(try snapshot.column("Phone", of: "accounts") == ["later"])
    #expect(org.requests(.bulkCreate) == 1)
  }

  @Test func `changes during a running job are fetched by the next run`() async throws {
    let org = try SyncedOrg { $0.bulkRuns = 1 }
    try org.org.seedBulk(object: "Account", count: 4500, owner: "admin@example.com")
    let snapshot = snapshot(org, "SELECT Id, Name, Phone FROM Account")
    changeTwo(org)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [4500])
    #expect(try snapshot.column("Phone", of: "accounts").count { $0 == "changed" } == 1)
    try await snapshot.prime()
    #expect(try snapshot.column("Phone", of: "accounts").count { $0 == "changed" } == 2)
  }

  /// While a job is running, another user changes what it has read and, later, what it still reads.
  private func changeTwo(_ org: SyncedOrg) {
    org.server.faults.add(
      .kind(.bulkRead), nth: 2,
      .mutate { org in
        guard let admin = org.user(named: "admin@example.com") else { return }
        for order in ["ASC", "DESC"] {
          let page = try org.query("SELECT Id FROM Account ORDER BY Id \(order) LIMIT 1", as: admin)
          guard let id = try JSONValue(parsing: page.records)[0]?["Id"]?.string else { continue }
          try org.moveClock(by: 7_200_000)
          _ = org.update("Account", id: id, ["Phone": "changed"], as: admin)
        }
      })
  }

  @Test func `a live store's next sync fetches records that changed during a job`() async throws {
    let org = try SyncedOrg { $0.bulkRuns = 1 }
    try org.org.seedBulk(object: "Account", count: 4500, owner: "admin@example.com")
    var settings = SyncSettings(overlapSeconds: 0)
    settings.bulkAbove = 100
    let store = try await ManagedStore(org: org, settings: settings)
    changeTwo(org)
    let target = SyncTarget.soql(SoqlTarget(query: "SELECT Id, Name, Phone FROM Account"))
    #expect(try await store.manager.syncDown(target, named: "down").finish().written == 4500)
    #expect(org.requests(.bulkCreate) == 1)
    func changed() async throws -> Int {
      try await store.elements().count { $0["Phone"] == "changed" }
    }
    #expect(try await changed() == 1)
    try await store.manager.reSync(named: "down").finish()
    #expect(try await changed() == 2)
  }

  @Test func `a running job is polled until it is done`() async throws {
    let org = try SyncedOrg { $0.bulkRuns = 1 }
    try org.org.seedBulk(object: "Account", count: 4500, owner: "admin@example.com")
    let snapshot = snapshot(org, "SELECT Id, Name FROM Account")
    #expect(try await snapshot.prime().soups.map(\.fetched) == [4500])
    #expect(org.requests(.bulkRead) > 1)
  }

  @Test(arguments: [
    "SELECT Id, Name FROM Account LIMIT 200", "SELECT Id, Name, Owner.Name FROM Account",
    "SELECT Id, Name, BillingAddress FROM Account", "SELECT Id, toLabel(Industry) FROM Account",
    "SELECT Id, Name, (SELECT Id FROM Contacts) FROM Account",
  ])
  func `queries that a job does not support are read by pages`(_ query: String) async throws {
    let org = try filled()
    let snapshot = snapshot(org, query)
    let outcome = try await snapshot.prime()
    #expect(org.requests(.bulkCreate) == 0)
    #expect(outcome.warnings == [])
    #expect(try snapshot.elements("accounts").count >= 200)
  }

  // MARK: Unavailable results

  private static let losses: [Faults.Action] = [
    .status(404, code: "NOT_FOUND"), .status(500, code: "UNKNOWN_EXCEPTION"),
    .status(403, code: "API_DISABLED_FOR_ORG"), .drop(afterCommit: true), .truncate(bytes: 10),
    page,
  ]
  private static let page = Faults.Action.respond(
    ServerResponse(status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>".utf8)))

  @Test(arguments: [LocalOrg.RequestKind.bulkCreate, .bulkRead], losses)
  func `an org that creates no job for the user is read by pages, with a warning`(
    _ kind: LocalOrg.RequestKind, _ loss: Faults.Action
  ) async throws {
    let org = try filled()
    org.server.faults.add(.kind(kind), nth: 1, times: 1000, loss)
    let snapshot = snapshot(org)
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.fetched) == [230])
    let warnings = outcome.warnings
    #expect(warnings.count == 1 && warnings[0].contains("is read by pages"))
    #expect(try snapshot.elements("accounts").count == 230)
  }

  private func primesByPages(_ third: Faults.Action) async throws {
    let org = try filled()
    org.server.faults.add(.kind(.bulkResults), nth: 3, times: 1000, third)
    let (snapshot, paged) = (snapshot(org), snapshot(org, bulkAbove: 1000))
    let warnings = try await snapshot.prime().warnings
    #expect(warnings.count == 1 && warnings[0].contains("so all records are read by pages"))
    #expect(org.requests(.bulkCreate) == 1)
    // The org need not keep unread results for days.
    let session = try await org.session()
    let left = try await session.json(OrgCall(.bulk, "GET", session.path("jobs/query")))
    #expect(left["records"]?.array?.isEmpty == true, "\(left.text)")
    try await paged.prime()
    for platform in Platform.allCases {
      #expect(try rows(snapshot, platform) == rows(paged, platform))
      #expect(try rows(snapshot, platform).count == 230)
    }
    // The next run requests what has changed since the job started.
    try org.org.moveClock(by: 60_000)
    let ids = try snapshot.column("Id", of: "accounts")
    try org.update("Account", ids[0], ["Phone": "later"])
    try org.delete(ids[1])
    #expect(try await snapshot.prime(listing: "userstore/down").soups.map(\.written) == [1])
    #expect(try snapshot.column("Id", of: "accounts") == ids.filter { $0 != ids[1] })
  }

  @Test(arguments: losses) func `a result with a missing page is read by pages, once`(
    _ loss: Faults.Action
  ) async throws { try await primesByPages(loss) }

  @Test(arguments: ["Id,Name\n001,\"open", "Id,Nobody\n", "Id\n"])
  func `an unreadable or incomplete page has no further effect`(_ csv: String) async throws {
    try await primesByPages(
      .respond(
        ServerResponse(
          status: 200, headers: ["Content-Type": "text/csv", "Sforce-Locator": "null"],
          body: Array(csv.utf8))))
  }

  @Test func `an HTML page instead of rows is requested again`() async throws {
    let org = try filled()
    org.server.faults.add(.kind(.bulkResults), nth: 3, times: 2, Self.page)
    #expect(try await snapshot(org).prime().warnings == [])
    #expect(org.requests(.bulkResults) == 6)
  }

  @Test
  func `an org that accepts no more requests leaves no store; the next run creates a new job`()
    async throws
  {
    let org = try filled()
    org.server.faults.add(.kind(.bulkResults), nth: 3, times: 1000, .limitExceeded)
    let snapshot = snapshot(org)
    await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(snapshot.files.isEmpty)
    org.server.faults.removeAll()
    #expect(try await snapshot.prime().soups.map(\.fetched) == [230])
    #expect(org.requests(.bulkCreate) == 2)
  }
}
