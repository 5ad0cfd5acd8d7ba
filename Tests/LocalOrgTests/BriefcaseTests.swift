import LocalOrg
import Testing

@Suite struct BriefcaseTests {
  let sample: SampleOrg
  let org: Org
  init() throws {
    sample = try SampleOrg()
    org = sample.org
    for n in 1...6 {
      let account = try sample.make(
        "Account", ["Name": .string("A\(n)"), "Type": n == 6 ? "Prospect" : "Customer"],
        as: n.isMultiple(of: 3) ? sample.ben : sample.ada)
      try sample.make(
        "Contact",
        [
          "LastName": .string("C\(n)"), "AccountId": .string(account),
          "OwnerId": .string(sample.ada.id),
        ])
    }
    try org.addBriefcase(
      "Main",
      rules: [
        BriefcaseRule(
          "Account", filter: "Type = 'Customer'", orderBy: "Name", ascending: false, limit: 3,
          related: [BriefcaseRule("Contact", relationship: "AccountId")]),
        BriefcaseRule("Contact", filter: "LastName > 'C4'", mine: true),
      ], users: ["ada@example.com"])
  }

  private func names(_ page: PrimingPage) throws -> [String] {
    try page.entries.map { entry in
      let record = try org.read(entry.object, id: entry.id, as: sample.admin)
      #expect(record["SystemModstamp"]?.string?.dropLast(5) == entry.systemModstamp.dropLast())
      return record["Name"]?.string ?? "-"
    }
  }

  private func page(
    _ user: OrgUser? = nil, app: String? = "app", after: Int64? = nil, token: String? = nil,
    size: Int = 2000
  ) throws -> PrimingPage {
    try org.primingRecords(
      as: user ?? sample.ada, app: app, changedAfter: after, relayToken: token, pageSize: size)
  }

  @Test func `rules are served in turn: filter, order, limit, related records`() throws {
    let page = try page()
    #expect(try names(page) == ["A5", "A4", "A2", "C2", "C4", "C5", "C6"])
    #expect(page.relayToken == nil && page.ruleErrors.isEmpty)
    #expect(page.ruleCountTotal == 3 && page.ruleCountServed == 3 && page.recordCountTotal == 8)
    #expect(page.entries[0].recordTypeID == "012000000000000AAA")
    #expect(try self.page(sample.ben).entries.isEmpty)
  }

  @Test func `relay tokens page through one point in time, repeatedly`() throws {
    let first = try page(size: 3)
    let token = try #require(first.relayToken)
    let added = try sample.make("Account", ["Name": "A9", "Type": "Customer"], as: sample.ada)
    let second = try page(token: token, size: 3)
    let third = try page(token: second.relayToken, size: 3)
    #expect(third.relayToken == nil)
    let all = first.entries + second.entries + third.entries
    #expect(all.count == 8 && Set(all.map(\.id)).count == 7)
    #expect(!all.map(\.id).contains(added))
    #expect(try page(token: token, size: 3).entries == second.entries)
    #expect(throws: OrgError.self) { try page(sample.ben, token: token) }
    #expect(throws: OrgError.self) { try page(token: "nonsense") }
  }

  @Test func `a date filters the records of top-level rules, not the related ones`() throws {
    let now = org.now()
    #expect(try names(page(after: now)) == ["C2", "C4", "C5"])
    let id = try #require(try sample.column("SELECT Id FROM Account WHERE Name = 'A4'", "Id").first)
    _ = org.update("Account", id: id, ["Phone": "1"], as: sample.ada)
    #expect(try names(page(after: now)) == ["A4", "C2", "C4", "C5"])
  }

  @Test func `a failing rule is listed on the page of its turn and serves nothing`() throws {
    let rules = try org.briefcaseRules(of: sample.ada, app: "app")
    #expect(rules.map(\.object) == ["Account", "Contact", "Contact"])
    try org.setRuleError(rules[1].id, true)
    #expect(try page().ruleErrors == [rules[1].id])
    #expect(try names(page()) == ["A5", "A4", "A2", "C5", "C6"])
    let first = try page(size: 2)
    #expect(first.ruleErrors.isEmpty)
    #expect(try page(token: first.relayToken, size: 2).ruleErrors == [rules[1].id])
    try org.setRuleError(rules[1].id, false)
    #expect(try page().ruleErrors.isEmpty)
  }

  @Test func `a briefcase may be limited to one app`() throws {
    try org.addBriefcase(
      "Other", rules: [BriefcaseRule("Product2")], users: ["ben@example.com"], app: "special")
    try sample.make("Product2", ["Name": "P"])
    #expect(try page(sample.ben, app: "special").entries.count == 1)
    #expect(try page(sample.ben, app: "app").entries.isEmpty)
    #expect(try page(sample.ben, app: nil).entries.isEmpty)
  }

  @Test func `related records may be parents, and an unshared record is removed`() throws {
    try org.addBriefcase(
      "Up",
      rules: [
        BriefcaseRule(
          "Contact", filter: "LastName IN ('C1', 'C3')",
          related: [BriefcaseRule("Account", relationship: "AccountId")])
      ], users: ["ben@example.com"])
    let contacts = try sample.column("SELECT Id FROM Contact ORDER BY Name", "Id")
    for place in [0, 2] { try org.share(contacts[place], with: "ben@example.com") }
    #expect(try names(page(sample.ben)) == ["C1", "C3", "A3"])
    try org.unshare(contacts[2], from: "ben@example.com")
    #expect(try names(page(sample.ben)) == ["C1"])
  }
}
