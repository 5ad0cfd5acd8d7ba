import LocalOrg
import MobileSync
import SmartStore
import System
import Testing

/// Cases that the SDK's tests of briefcases omit (§6.8 of the specification), and defects of its code
/// (D4–D10).
@Suite struct BriefcaseDownFaultTests {
  private typealias Base = BriefcaseDownTests

  @Test(arguments: Platform.allCases)
  func `relay tokens are followed to the end, and never sent with a date`(_ platform: Platform)
    async throws
  {
    let (store, accounts, contacts) = try await Base.store(platform, accounts: 23, contacts: 4) {
      $0.primingPageSize = 5
      $0.isStrict = true
    }
    let run = try await Base.start(store)
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/27", "DONE 100/27"])
    #expect(store.org.requests(.priming) == 6)
    #expect(try await store.column("Id") == accounts.sorted())
    #expect(try await store.column("Id", of: "contacts") == contacts.sorted())
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 0)
  }

  @Test func `a failed rule is reported, holds the cursor and makes no ghosts`() async throws {
    let (store, accounts, contacts) = try await Base.store(accounts: 3, contacts: 3)
    let run = try await Base.start(store).finished()
    let cursor = await run.lastState.maxTimeStamp
    let rules = try store.org.org.briefcaseRules(of: store.org.admin, app: "app")
    let rule = try #require(rules.first { $0.object == "Contact" }).id
    try store.org.update("Contact", contacts[0], ["LastName": "missed"])
    try store.org.update("Account", accounts[0], ["Name": "seen"])
    let fault = Faults.Action.ruleError(ruleID: rule, object: "Contact")
    store.org.server.faults.add(.kind(.priming), fault)
    let broken = try await store.manager.reSync(id: run.syncID)
    let report = try await broken.finish()
    #expect(report.fetched == 1)
    #expect(report.warnings.contains { $0.contains(rule) })
    #expect(await broken.lastState.maxTimeStamp == cursor)
    try store.org.delete(accounts[1])
    store.org.server.faults.add(.kind(.priming), fault)
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == 0)
    #expect(ghosts.warnings.contains { $0.contains(rule) })
    // The rule works again: changes made while it failed are not missed.
    let healed = try await store.manager.reSync(id: run.syncID).finished()
    #expect(try await store.element(contacts[0], in: "contacts")?["LastName"] == "missed")
    #expect(await healed.lastState.maxTimeStamp > cursor)
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
  }

  @Test func `after a first run with a failed rule the next run is full again`() async throws {
    let (store, _, contacts) = try await Base.store(accounts: 2, contacts: 2)
    store.org.server.faults.add(
      .kind(.priming), .ruleError(ruleID: "0bR000000000001", object: "Contact"))
    let run = try await Base.start(store).finished()
    #expect(await run.lastState.maxTimeStamp == -1)
    #expect(try await store.manager.reSync(id: run.syncID).finish().fetched == 4)
    #expect(try await store.column("Id", of: "contacts") == contacts.sorted())
  }

  @Test(arguments: Platform.allCases)
  func `an unreadable record is kept, reported and reread`(_ platform: Platform) async throws {
    let (store, ids, _) = try await Base.store(platform, accounts: 4)
    let run = try await Base.start(store, Base.target([Base.accounts])).finished()
    for id in ids { try store.org.update("Account", id, ["Name": "new"]) }
    store.org.server.faults.add(.kind(.retrieve), .nullEntry(id: ids[2]))
    let second = try await store.manager.reSync(id: run.syncID)
    #expect(await second.story == ["RUNNING 0/-1", "RUNNING 0/4", "DONE 100/4"])
    let report = try await second.finish()
    #expect(report.unreadable == ["accounts": [ids[2]]])
    #expect(report.fetched == 3)
    #expect(try await store.element(ids[2])?["Name"] == "Account 2")
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 0)
    #expect(try await store.manager.reSync(id: run.syncID).finish().unreadable.isEmpty)
    #expect(try await store.column("Name") == ["new", "new", "new", "new"])
  }

  @Test func `of several unreadable records the earliest holds the cursor`() async throws {
    let (store, all, _) = try await Base.store(accounts: 4)
    let run = try await Base.start(store, Base.target([Base.accounts], perRetrieve: 1)).finished()
    let ids = Array(all.sorted()[0..<3])
    // The record changed first is requested first, in the middle, or last. The readable ones change
    // later, by more than the overlap.
    for place in 0..<3 {
      let order = [ids[place]] + all.sorted().filter { $0 != ids[place] }
      for id in order {
        try store.org.update("Account", id, ["Name": .string("new \(place)")])
        try store.org.org.moveClock(by: 600_000)
      }
      for id in ids { store.org.server.faults.add(.kind(.retrieve), times: 9, .nullEntry(id: id)) }
      let held = try await store.manager.reSync(id: run.syncID)
      #expect(try await held.finish().unreadable["accounts"]?.count == 3)
      let record = try store.org.org.read("Account", id: ids[place], as: store.org.admin)
      let stamp = try #require(
        record["SystemModstamp"]?.string.flatMap { Dates.milliseconds(iso8601: $0) })
      #expect(await held.lastState.maxTimeStamp < stamp)
      store.org.server.faults.removeAll()
      try await store.manager.reSync(id: run.syncID).finish()
      #expect(Set(try await store.column("Name")) == ["new \(place)"])
    }
  }

  @Test func `a type no longer listed is cleaned, an unknown one is reported`() async throws {
    let (store, _, contacts) = try await Base.store(accounts: 3, contacts: 3)
    let run = try await Base.start(store, Base.target([Base.contacts]))
    #expect(try await run.finish().warnings.contains { $0.contains("3 records of types") })
    for id in contacts { try store.org.delete(id) }
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 3)
    #expect(try await store.elements("contacts").isEmpty)
  }

  @Test func `two infos of one type fill one soup with both fields, or two soups`() async throws {
    var site = BriefcaseObjectInfo(
      soupName: "accounts", sobjectType: "account", fieldlist: ["Site"])
    let (one, _, _) = try await Base.store(accounts: 3)
    let run = try await Base.start(one, Base.target([Base.accounts, site]))
    #expect(await run.story.last == "DONE 100/3")
    #expect(one.org.requests(.retrieve) == 1)
    let element = try #require(try await one.elements().first?.object)
    #expect(element.names.contains("Description") && element.names.contains("Site"))
    site.soupName = "contacts"
    let (two, ids, _) = try await Base.store(accounts: 3)
    let both = try await Base.start(two, Base.target([Base.accounts, site]))
    #expect(await both.story.last == "DONE 100/6")
    #expect(try await two.column("Id", of: "contacts") == ids.sorted())
    try two.org.delete(ids[0])
    #expect(try await two.manager.cleanResyncGhosts(id: both.syncID).count == 2)
  }

  @Test(arguments: Platform.allCases)
  func `an info's id and date fields are used, also for ghosts`(_ platform: Platform) async throws {
    let org = try SyncedOrg()
    let ids = try (0..<3).map { number in
      try org.make(
        "Account", ["Name": .string("A \(number)"), "AccountNumber": .string("N-\(number)")])
    }
    try org.org.addBriefcase("all", rules: [BriefcaseRule("Account")], users: ["admin@example.com"])
    let store = try await ManagedStore(platform, org: org) { store in
      try store.registerSoup(
        "numbered",
        indexSpecs: [
          IndexSpec(path: "AccountNumber", type: .string),
          IndexSpec(path: "__local__", type: .string),
        ])
    }
    let info = BriefcaseObjectInfo(
      soupName: "numbered", sobjectType: "Account", fieldlist: ["Name"],
      idFieldName: "AccountNumber", modificationDateFieldName: "SystemModstamp")
    let run = try await Base.start(store, Base.target([info])).finished()
    #expect(await run.lastState.maxTimeStamp > 0)
    try org.update("Account", ids[1], ["Name": "new"])
    try org.delete(ids[0])
    #expect(try await store.manager.reSync(id: run.syncID).finish().fetched == 1)
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column("Name", of: "numbered") == ["A 2", "new"])
  }

  @Test func `more than 2,000 ids need several lists and several retrieves`() async throws {
    let org = try SyncedOrg()
    try org.org.seedBulk(object: "Account", count: 2500)
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 50_000)], users: ["admin@example.com"])
    let store = try await ManagedStore(org: org)
    let run = try await Base.start(store, Base.target([Base.accounts]))
    #expect(
      await run.story == ["RUNNING 0/-1", "RUNNING 0/2500", "RUNNING 80/2500", "DONE 100/2500"])
    #expect(org.requests(.priming) == 2)
    #expect(org.requests(.retrieve) == 2)
  }

  @Test func `a repeated relay token or a short response fails the sync`() async throws {
    let (store, _, _) = try await Base.store(accounts: 4)
    let page = """
      {"primingRecords":{},"relayToken":"again","ruleErrors":[],"stats":{"ruleCountTotal":1,\
      "recordCountTotal":0,"ruleCountServed":1,"recordCountServed":0}}
      """
    store.org.server.faults.add(.kind(.priming), times: 2, .respond(.json(page)))
    let first = try await Base.start(store)
    let again = await #expect(throws: SyncError.self) { try await first.finish() }
    #expect(again?.code == .badResponse)
    store.org.server.faults.add(.kind(.retrieve), .respond(.json("[null]")))
    let second = try await Base.start(store)
    let short = await #expect(throws: SyncError.self) { try await second.finish() }
    #expect(short?.code == .incomplete)
    #expect(try await store.elements().isEmpty)
  }
}
