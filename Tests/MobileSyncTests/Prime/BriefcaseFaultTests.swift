import HTTP
import LocalOrg
import MobileSync
import Testing

/// Cases that the SDK's tests omit (§6.8 of the specification), and defects of its code (D4–D10).
@Suite struct BriefcaseFaultTests {
  private typealias Base = BriefcasePrimeTests

  // D4
  @Test func `relay tokens are followed to the end, and never sent with a date`() async throws {
    let (org, ids, contacts) = try Base.org(accounts: 23, contacts: 4) {
      $0.primingPageSize = 5
      $0.isStrict = true
    }
    let snapshot = Base.snapshot(org)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [23, 4])
    #expect(org.requests(.priming) == 6)
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    #expect(try snapshot.column("Id", of: "contacts") == contacts.sorted())
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a repeated relay token ends the prime with an error`() async throws {
    let (org, _, _) = try Base.org(accounts: 2)
    let page = """
      {"primingRecords":{},"relayToken":"again","ruleErrors":[],"stats":{"ruleCountTotal":1,\
      "recordCountTotal":0,"ruleCountServed":1,"recordCountServed":0}}
      """
    let answer = ServerResponse(
      status: 200, headers: ["Content-Type": "application/json"], body: Array(page.utf8))
    org.server.faults.add(.kind(.priming), times: 5, .respond(answer))
    let snapshot = Base.snapshot(org)
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .badResponse)
    #expect(snapshot.files.isEmpty)
  }

  // D5
  @Test func `a failed rule is reported and removes nothing`() async throws {
    let (org, ids, contacts) = try Base.org(accounts: 4, contacts: 3)
    let snapshot = try await Base.snapshot(org).primed()
    try org.delete(ids[0])
    try org.update("Account", ids[1], ["Name": "new"])
    let rules = try org.org.briefcaseRules(of: org.admin, app: "app")
    let rule = try #require(rules.first { $0.object == "Contact" }).id
    org.server.faults.add(.kind(.priming), .ruleError(ruleID: rule, object: "Contact"))
    let outcome = try await snapshot.prime()
    #expect(outcome.warnings.contains { $0.contains(rule) })
    #expect(outcome.soups.map(\.ghosts) == [0, 0])
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    #expect(try snapshot.column("Id", of: "contacts") == contacts.sorted())
    #expect(try snapshot.column("Name", of: "accounts").contains("new"))
    // The rule works again: deleted records are removed, and nothing omitted is fetched again.
    let retrieves = org.requests(.retrieve)
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [1, 0])
    #expect(org.requests(.retrieve) == retrieves)
  }

  @Test func `a failed rule fails the prime if the pipeline is configured so`() async throws {
    let (org, _, _) = try Base.org(accounts: 2)
    org.server.faults.add(.kind(.priming), .ruleError(ruleID: "0bR000000000001"))
    let snapshot = Base.snapshot(org)
    snapshot.onRuleErrors = .fail
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .ruleErrors)
  }

  // D6
  @Test func `an unreadable record is kept, reported and reread`() async throws {
    let (org, ids, _) = try Base.org(accounts: 4)
    let snapshot = try await Base.snapshot(org, [Base.accounts]).primed()
    for id in ids { try org.update("Account", id, ["Name": "new"]) }
    org.server.faults.add(.kind(.retrieve), .nullEntry(id: ids[2]))
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.unreadable) == [[ids[2]]])
    #expect(outcome.soups.map(\.written) == [3])
    #expect(outcome.soups.map(\.ghosts) == [0])
    #expect(outcome.warnings.count == 1)
    #expect(try snapshot.column("Name", of: "accounts") == ["Account 2", "new", "new", "new"])
    #expect(try await snapshot.prime().soups.map(\.fetched) == [1])
    #expect(try snapshot.column("Name", of: "accounts") == ["new", "new", "new", "new"])
    // Nothing holds the cursor anymore: it equals that of a store that missed nothing.
    let other = Base.snapshot(org, [Base.accounts])
    try await other.prime()
    #expect(snapshot.cursors == other.cursors)
  }

  @Test func `a response with fewer records than ids is an error`() async throws {
    let (org, _, _) = try Base.org(accounts: 4)
    let answer = ServerResponse(
      status: 200, headers: ["Content-Type": "application/json"], body: Array("[null]".utf8))
    org.server.faults.add(.kind(.retrieve), .respond(answer))
    let snapshot = Base.snapshot(org)
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .incomplete)
    #expect(snapshot.files.isEmpty)
  }

  // D7
  @Test func `a type that is no longer listed is cleaned, within the guard`() async throws {
    let (org, accounts, contacts) = try Base.org(accounts: 3, contacts: 3)
    let snapshot = try await Base.snapshot(org).primed()
    for id in contacts { try org.delete(id) }
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [0, 3])
    #expect(try snapshot.column("Id", of: "contacts").isEmpty)
    #expect(try snapshot.column("Id", of: "accounts") == accounts.sorted())
  }

  @Test func `more deletions than the guard allows wait until they are allowed`() async throws {
    let (org, accounts, _) = try Base.org(accounts: 20)
    let snapshot = try await Base.snapshot(org, [Base.accounts]).primed()
    for id in accounts[0..<11] { try org.delete(id) }
    let refused = try await snapshot.prime()
    #expect(refused.guardTripped)
    #expect(!refused.changed)
    #expect(refused.warnings.contains { $0.contains("11 of 20") })
    #expect(try snapshot.column("Id", of: "accounts").count == 20)
    snapshot.ghosts.maxDeletesPercent = 100
    let allowed = try await snapshot.prime()
    #expect(!allowed.guardTripped)
    #expect(allowed.soups.map(\.ghosts) == [11])
    #expect(try snapshot.column("Id", of: "accounts") == accounts[11...].sorted())
  }

  @Test func `types that the target does not name are ignored and counted`() async throws {
    let (org, _, _) = try Base.org(accounts: 3, contacts: 5)
    let snapshot = Base.snapshot(org, [Base.accounts])
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.soup) == ["accounts"])
    #expect(outcome.warnings.contains { $0.contains("5 records") })
  }

  @Test func `two infos of one type fill one soup with both fields, or two soups`() async throws {
    let (org, ids, _) = try Base.org(accounts: 3)
    let site = BriefcaseObjectInfo(
      soupName: "accounts", sobjectType: "account", fieldlist: ["Site"])
    let one = Base.snapshot(org, [Base.accounts, site])
    try await one.prime()
    #expect(org.requests(.retrieve) == 1)
    let element = try #require(try one.elements("accounts").first?.object)
    #expect(element.names.contains("Description") && element.names.contains("Site"))
    var other = site
    other.soupName = "contacts"
    let two = Base.snapshot(org, [Base.accounts, other])
    try await two.prime()
    #expect(try two.column("Id", of: "accounts") == ids.sorted())
    #expect(try two.column("Id", of: "contacts") == ids.sorted())
  }

  // D8
  @Test func `an info's id and date fields are used, also for ghosts`() async throws {
    let org = try SyncedOrg()
    let ids = try (0..<3).map { number in
      try org.make(
        "Account", ["Name": .string("A \(number)"), "AccountNumber": .string("N-\(number)")])
    }
    try org.org.addBriefcase("all", rules: [BriefcaseRule("Account")], users: ["admin@example.com"])
    let info = BriefcaseObjectInfo(
      soupName: "accounts", sobjectType: "Account", fieldlist: ["Name"],
      idFieldName: "AccountNumber", modificationDateFieldName: "SystemModstamp")
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("accounts", "AccountNumber")], syncs: [.briefcase("briefcase", [info])])
    #expect(try snapshot.column("AccountNumber", of: "accounts") == ["N-0", "N-1", "N-2"])
    #expect(snapshot.cursors["userstore/briefcase"] ?? 0 > 0)
    try org.update("Account", ids[1], ["Name": "new"])
    try org.delete(ids[0])
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.written) == [1])
    #expect(outcome.soups.map(\.ghosts) == [1])
    #expect(try snapshot.column("Name", of: "accounts") == ["A 2", "new"])
  }

  @Test func `more than 2,000 ids need several lists and several retrieves`() async throws {
    let org = try SyncedOrg()
    try org.org.seedBulk(object: "Account", count: 2500)
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 50_000)], users: ["admin@example.com"])
    #expect(try await Base.snapshot(org, [Base.accounts]).prime().soups.map(\.total) == [2500])
    #expect(org.requests(.priming) == 2)
    #expect(org.requests(.retrieve) == 2)
  }

  @Test func `a session that cannot be renewed ends the prime and leaves no files`() async throws {
    let (org, _, _) = try Base.org(accounts: 6)
    org.server.faults.add(.kind(.retrieve), nth: 2, .expireSession)
    let snapshot = Base.snapshot(org, [Base.accounts], perRetrieve: 2)
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.cause?.kind == .authentication)
    #expect(snapshot.files.isEmpty)
    // The next run starts over and is complete.
    #expect(try await snapshot.prime().soups.map(\.total) == [6])
  }

  @Test func `a prime cancelled midway leaves no files, the next one is complete`() async throws {
    let (org, _, _) = try Base.org(accounts: 6)
    let snapshot = Base.snapshot(org, [Base.accounts], perRetrieve: 2)
    try await snapshot.cancelPrime(of: org, at: .retrieve, nth: 2)
    #expect(snapshot.files.isEmpty)
    #expect(try await snapshot.prime().soups.map(\.total) == [6])
  }
}
