import LocalOrg
import MobileSync
import SmartStore
import System
import Testing

@Suite struct SharedSoupTests {
  private let org: SyncedOrg
  init() throws { org = try SyncedOrg() }

  private static func families(
    _ org: SyncedOrg, where filter: String, _ adjust: (inout FamilyMember) -> Void = { _ in }
  ) -> Snapshot {
    var target = ParentChildrenTarget.accounts(filter: filter)
    adjust(&target.family.children)
    return Snapshot(
      org, soups: [.sample("accounts", "Name"), .sample("contacts", "LastName", "AccountId")],
      syncs: [.down("down", .parentChildren(target), into: "accounts")])
  }

  @Test func `older children of a newly matching parent arrive with it`() async throws {
    let near = try org.make("Account", ["Name": "Family near"])
    let far = try org.make("Account", ["Name": "Other"])
    let one = try org.make("Contact", ["LastName": "One", "AccountId": .string(near)])
    let two = try org.make("Contact", ["LastName": "Two", "AccountId": .string(far)])
    let snapshot = try await Self.families(org, where: "Name LIKE 'Family%'").primed()
    #expect(try snapshot.column("Id", of: "contacts") == [one])
    try org.update("Account", far, ["Name": "Family far"])
    try await snapshot.prime()
    #expect(try snapshot.columns("Id", of: "contacts") == [one, two].sorted())
    #expect(try snapshot.columns("Id", of: "accounts") == [near, far].sorted())
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `the cursor of families follows the newest record, child or parent`() async throws {
    let family = try #require(try org.makeFamilies(1, children: 2).first)
    try org.update("Contact", family.children[0], ["LastName": "Newest"])
    let snapshot = try await Self.families(org, where: "Name != ''").primed()
    let newest = try #require(
      try snapshot.column("LastModifiedDate", of: "contacts").last
        .flatMap { Dates.milliseconds(iso8601: $0) })
    #expect(snapshot.cursors == ["userstore/down": newest])
    // Existing records are not requested again.
    #expect(try await snapshot.prime().soups.map(\.fetched) == [0, 0])
  }

  @Test func `parents and children of one soup have one id each, on any page`() async throws {
    let families = try org.makeFamilies(5, children: 2)
    for kind in [LocalOrg.RequestKind.query, .queryMore] {
      org.server.faults.add(.kind(kind), times: 9, .shortPage(records: 2))
    }
    // The date fields have different names, so the records need two loads.
    let snapshot = try await Self.families(org, where: "Name != ''") { children in
      children.soupName = "accounts"
      children.modificationDateFieldName = "SystemModstamp"
    }.primed()
    #expect(org.requests(.queryMore) > 0)
    for platform in Platform.allCases {
      #expect(
        try snapshot.column("Id", of: "accounts", platform)
          == families.flatMap { [$0.id] + $0.children }.sorted())
      let entries = try snapshot.elements("accounts", platform).map { $0["_soupEntryId"]?.int }
      #expect(Set(entries) == Set(1...15))
    }
  }

  @Test func `three infos of one soup have one id per record, in any order`() async throws {
    var ids: [String] = []
    for place in 0..<5 {
      ids.append(try org.make("Account", ["Name": .string("Account \(place)")]))
      ids.append(try org.make("Contact", ["LastName": .string("Contact \(place)")]))
      ids.append(try org.make("Case", ["Subject": .string("Case \(place)")]))
    }
    let types = ["Account", "Contact", "Case"]
    try org.org.addBriefcase(
      "all", rules: types.map { BriefcaseRule($0, limit: 5000) }, users: ["admin@example.com"])
    // The second one has another date field; the first and the third share a load.
    let infos = types.enumerated().map { place, type in
      var info = BriefcaseObjectInfo(
        soupName: "records", sobjectType: type,
        fieldlist: [["Name"], ["LastName"], ["Subject"]][place])
      if place == 1 { info.modificationDateFieldName = "SystemModstamp" }
      return info
    }
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("records", "Name")],
      syncs: [.briefcase("briefcase", infos, perRetrieve: 2)])
    for platform in Platform.allCases {
      #expect(try snapshot.column("Id", of: "records", platform) == ids.sorted())
      let entries = try snapshot.elements("records", platform).map { $0["_soupEntryId"]?.int }
      #expect(Set(entries) == Set(1...15))
    }
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a briefcase refetches records that another sync removed as ghosts`() async throws {
    let account = try org.make("Account", ["Name": "Near", "BillingCity": "Oslo"])
    let contact = try org.make("Contact", ["LastName": "One", "AccountId": .string(account)])
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Contact", limit: 5000)], users: ["admin@example.com"])
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("contacts", "LastName")],
      syncs: [
        .briefcase("briefcase", [BriefcasePrimeTests.contacts]),
        .soql(
          "oslo", "SELECT Id, LastName FROM Contact WHERE Account.BillingCity = 'Oslo'",
          into: "contacts"),
      ])
    try org.update("Account", account, ["BillingCity": "Rome"])
    try await snapshot.prime(listing: "userstore/oslo")
    try await snapshot.prime()
    #expect(try snapshot.columns("Id", of: "contacts") == [contact])
  }

  @Test func `the overlap removes no field that a later sync fetched`() async throws {
    let first = try org.make("Account", ["Name": "First", "Phone": "1", "BillingCity": "Oslo"])
    let other = try org.make("Account", ["Name": "Other", "Phone": "2", "BillingCity": "Rome"])
    let snapshot = Snapshot(
      org, soups: [.sample("accounts", "Name")],
      syncs: [
        .soql("oslo", "SELECT Id, Name FROM Account WHERE BillingCity = 'Oslo'", into: "accounts"),
        .soql("all", "SELECT Id, Name, Phone FROM Account", into: "accounts"),
      ])
    snapshot.overlapSeconds = 3
    try await snapshot.prime()
    for place in 0..<10 { try org.update("Account", other, ["Phone": .string("\(place)")]) }
    try await snapshot.prime()
    try org.make("Account", ["Name": "New", "Phone": "3", "BillingCity": "Oslo"])
    try await snapshot.prime()
    for platform in Platform.allCases {
      let element = try snapshot.elements("accounts", platform).first { $0["Id"]?.string == first }
      #expect(element?["Phone"] == "1")
      #expect(element?["__sync_id__"] == 2)
    }
  }

  @Test func `a record that changed while unmatched arrives when ids are listed`() async throws {
    let account = try org.make("Account", ["Name": "Near", "BillingCity": "Oslo"])
    let other = try org.make("Account", ["Name": "Other", "BillingCity": "Oslo"])
    let contact = try org.make("Contact", ["LastName": "Old", "AccountId": .string(account)])
    let snapshot = try await Snapshot.primed(
      org, soups: [.sample("contacts", "LastName")],
      syncs: [
        .soql(
          "down", "SELECT Id, LastName FROM Contact WHERE Account.BillingCity = 'Oslo'",
          into: "contacts")
      ])
    try org.update("Account", account, ["BillingCity": "Rome"])
    try org.update("Contact", contact, ["LastName": "New"])
    try org.make("Contact", ["LastName": "Other", "AccountId": .string(other)])
    try await snapshot.prime()
    try org.update("Account", account, ["BillingCity": "Oslo"])
    #expect(try await snapshot.prime(listing: "userstore/down").soups.map(\.fetched) == [1])
    #expect(try snapshot.columns("LastName", of: "contacts") == ["New", "Other"])
    let outcome = try await snapshot.prime()
    #expect(!outcome.changed)
    #expect(outcome.soups.map(\.fetched) == [0])
  }

  @Test func `a child that changed while unmatched arrives when ids are listed`() async throws {
    let account = try org.make("Account", ["Name": "Family one"])
    let other = try org.make("Account", ["Name": "Family two"])
    let contact = try org.make("Contact", ["LastName": "Old", "AccountId": .string(account)])
    let owner = try org.make("Account", ["Name": "Owner", "BillingCity": "Oslo"])
    for id in [account, other] { try org.update("Account", id, ["ParentId": .string(owner)]) }
    let snapshot = Self.families(org, where: "Parent.BillingCity = 'Oslo'")
    let near = try org.make("Account", ["Name": "Near", "BillingCity": "Oslo"])
    try org.update("Account", other, ["ParentId": .string(near)])
    try await snapshot.prime()
    try org.update("Account", owner, ["BillingCity": "Rome"])
    try org.update("Contact", contact, ["LastName": "New"])
    try org.update("Account", other, ["Name": "Family three"])
    try await snapshot.prime()
    try org.update("Account", owner, ["BillingCity": "Oslo"])
    try await snapshot.prime(listing: "userstore/down")
    #expect(try snapshot.columns("LastName", of: "contacts") == ["New"])
    #expect(try await !snapshot.prime().changed)
  }
}
