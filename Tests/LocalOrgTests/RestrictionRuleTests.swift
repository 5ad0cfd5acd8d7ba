import JSON
import LocalOrg
import Testing

@Suite struct RestrictionRuleTests {
  let sample: SampleOrg
  let account: String
  /// Shared with ben, who may see only the first.
  let shown: String
  let hidden: String

  static let setup = #"""
    {"objects": {"Account": {"restrictionRules": [{
      "name": "Local sites", "userCriteria": "$Profile.Name = 'Field Technician'",
      "recordFilter": "OwnerId = $User.Id || Site = 'Local'"}]}}}
    """#

  init() throws {
    sample = try SampleOrg()
    account = try sample.make("Account", ["Name": "Bens own"], as: sample.ben)
    shown = try sample.make("Account", ["Name": "Beta shown", "Site": "Local"])
    hidden = try sample.make("Account", ["Name": "Beta hidden", "Site": "Far"])
    for id in [shown, hidden] {
      try sample.org.share(id, with: "ben@example.com")
      // Now both are recent items.
      _ = sample.org.update("Account", id: id, ["Phone": "1"], as: sample.ben)
      try sample.make(
        "Contact",
        ["LastName": "x", "AccountId": .string(id), "OwnerId": .string(sample.ben.id)])
    }
    try sample.org.addBriefcase(
      "All", rules: [BriefcaseRule("Account")], users: ["ben@example.com"])
    try restrict(Self.setup)
  }

  private func restrict(_ text: String) throws {
    try sample.org.setUp(OrgSetup(parsing: Array(text.utf8)))
  }

  @Test func `no kind of read finds a record that a rule hides`() throws {
    let (org, ben) = (sample.org, sample.ben)
    let end = org.now() + 60_000
    let reads: [(String, [String])] = [
      ("query", try sample.column("SELECT Id FROM Account", "Id", as: ben)),
      ("search", try ids(org.search("FIND {Beta} RETURNING Account(Id)", as: ben).records)),
      (
        "retrieve",
        try ids(org.retrieve("Account", ids: [shown, hidden], fields: ["Id"], as: ben))
      ),
      ("priming", try org.primingRecords(as: ben, app: nil).entries.map(\.id)),
      (
        "updated",
        try org.changes("Account", deleted: false, from: 0, to: end, as: ben).map(\.id)
      ),
      (
        "semi-join",
        try sample.column(
          "SELECT AccountId FROM Contact WHERE AccountId IN (SELECT Id FROM Account)",
          "AccountId", as: ben)
      ),
      (
        "access",
        try sample.column(
          """
          SELECT RecordId FROM UserRecordAccess WHERE UserId = '\(ben.id)' \
          AND RecordId IN ('\(shown)', '\(hidden)')
          """, "RecordId", as: ben)
      ),
      ("recent", try org.recentItems("Account", as: ben).map(\.id)),
    ]
    for (kind, found) in reads {
      #expect(found.contains(shown) && !found.contains(hidden), "\(kind)")
    }
    #expect(reads[0].1 == [account, shown])
    let parents = try sample.column(
      "SELECT Account.Name FROM Contact ORDER BY Account.Name", "Account", as: ben)
    #expect(parents.first == "null" && parents.last?.contains("Beta shown") == true)
    let error = #expect(throws: OrgError.self) { try org.read("Account", id: hidden, as: ben) }
    #expect(error?.status == 404)
  }

  private func ids(_ records: [UInt8]) throws -> [String] {
    (try JSONValue(parsing: records).array ?? []).compactMap { $0["Id"]?.string }
  }

  @Test func `a hidden record cannot be changed or named as a parent`() throws {
    let change = sample.org.update("Account", id: hidden, ["Phone": "1"], as: sample.ben)
    #expect(change.errors.first?.code == "NOT_FOUND")
    let child = sample.org.create(
      "Contact", ["LastName": "y", "AccountId": .string(hidden)], as: sample.ben)
    #expect(child.errors.first?.code == "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY")
    #expect(
      sample.org.update("Account", id: shown, ["Phone": "1"], as: sample.ben).errors == [])
  }

  @Test func `a deleted record stays hidden`() throws {
    for id in [shown, hidden] { _ = sample.org.delete("Account", id: id, as: sample.admin) }
    let soql = "SELECT Id FROM Account WHERE IsDeleted = true"
    #expect(try sample.column(soql, "Id", as: sample.ben, all: true) == [shown])
    let gone = try sample.org.changes(
      "Account", deleted: true, from: 0, to: sample.org.now() + 60_000, as: sample.ben)
    #expect(gone.map(\.id) == [shown])
  }

  @Test func `a rule applies to the users whom its criteria name, and as long as it exists`() throws
  {
    func count(_ user: OrgUser) throws -> Int {
      try sample.records("SELECT Id FROM Account", as: user).count
    }
    // Users who may view all records are never restricted.
    #expect(try count(sample.admin) == 3)
    let eva = try sample.org.addUser("eva@example.com", lastName: "Eder", profile: "Guest")
    for id in [shown, hidden] { try sample.org.share(id, with: "eva@example.com") }
    #expect(try count(eva) == 2)
    try restrict(Self.setup.replacing("$Profile.Name = 'Field Technician'", with: "FALSE"))
    #expect(try count(sample.ben) == 3)
    try restrict(
      #"{"objects": {"Account": {"restrictionRules": [{"name": "None", "recordFilter": "FALSE"}]}}}"#
    )
    #expect(try count(sample.ben) == 0 && count(eva) == 0)
    try restrict("{}")
    #expect(try count(sample.ben) == 3)
  }

  @Test func `a record that changes leaves and enters what a user sees`() throws {
    func names() throws -> [String] {
      try sample.column("SELECT Name FROM Account ORDER BY Name", as: sample.ben)
    }
    #expect(try names() == ["Bens own", "Beta shown"])
    for (id, site) in [(shown, "Far"), (hidden, "Local")] {
      _ = sample.org.update("Account", id: id, ["Site": .string(site)], as: sample.admin)
    }
    #expect(try names() == ["Bens own", "Beta hidden"])
  }
}
