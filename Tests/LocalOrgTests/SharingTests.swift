import JSON
import LocalOrg
import Testing

@Suite struct SharingTests {
  let sample: SampleOrg
  let adas: String
  let bens: String
  init() throws {
    sample = try SampleOrg()
    adas = try sample.make("Account", ["Name": "Adas"], as: sample.ada)
    bens = try sample.make("Account", ["Name": "Bens"], as: sample.ben)
  }

  @Test func `a user reads owned and shared records, an administrator all`() throws {
    let soql = "SELECT Name FROM Account ORDER BY Name"
    #expect(try sample.column(soql, as: sample.ada) == ["Adas"])
    #expect(try sample.column(soql, as: sample.admin) == ["Adas", "Bens"])
    try sample.org.share(bens, with: "ada@example.com", edit: false)
    #expect(try sample.column(soql, as: sample.ada) == ["Adas", "Bens"])
    #expect(try sample.org.query("SELECT COUNT() FROM Account", as: sample.ada).totalSize == 2)
    try sample.org.unshare(bens, from: "ada@example.com")
    try sample.org.transfer(adas, to: "ben@example.com")
    #expect(try sample.column(soql, as: sample.ada).isEmpty)
    #expect(try sample.column(soql, as: sample.ben) == ["Adas", "Bens"])
  }

  @Test func `an org returns a user's access to the records with given ids`() throws {
    func access(_ ids: [String], as user: OrgUser) throws -> [String] {
      let list = ids.map { "'\($0)'" }.joined(separator: ", ")
      return try sample.records(
        """
        SELECT RecordId, HasEditAccess, HasDeleteAccess FROM UserRecordAccess
        WHERE UserId = '\(user.id)' AND RecordId IN (\(list))
        """, as: user
      ).map { row in
        let words = [("HasEditAccess", "edit"), ("HasDeleteAccess", "delete")]
        return words.filter { row[$0.0] == true }.map(\.1).joined(separator: " ")
      }
    }
    #expect(try access([adas, bens], as: sample.ada) == ["edit delete"])
    #expect(try access([adas, bens], as: sample.admin) == ["edit delete", "edit delete"])
    try sample.org.share(bens, with: "ada@example.com", edit: false)
    #expect(try access([bens], as: sample.ada) == [""])
    try sample.org.share(bens, with: "ada@example.com", edit: true)
    #expect(try access([bens], as: sample.ada) == ["edit"])
    let all = try #require(
      #expect(throws: OrgError.self) {
        try access([String](repeating: adas, count: 201), as: sample.ada)
      })
    #expect(all.code == "EXCEEDED_ID_LIMIT")
    let none = #expect(throws: OrgError.self) {
      try sample.records("SELECT RecordId FROM UserRecordAccess", as: sample.ada)
    }
    #expect(none?.code == "MALFORMED_QUERY")
  }

  @Test func `a hidden record is hidden in every resource`() throws {
    let org = sample.org
    let error = #expect(throws: OrgError.self) { try org.read("Account", id: bens, as: sample.ada) }
    #expect(error?.code == "NOT_FOUND")
    let bytes = try org.retrieve("Account", ids: [bens, adas], fields: ["Name"], as: sample.ada)
    #expect(try JSONValue(parsing: bytes)[0] == .null)
    #expect(
      org.update("Account", id: bens, ["Name": "x"], as: sample.ada).errors.first?.code
        == "NOT_FOUND")
    #expect(org.delete("Account", id: bens, as: sample.ada).errors.first?.code == "NOT_FOUND")
    let child = org.create(
      "Contact", ["LastName": "x", "AccountId": .string(bens)], as: sample.ada)
    #expect(child.errors.first?.code == "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY")
    let contact = try sample.make("Contact", ["LastName": "c", "AccountId": .string(bens)])
    try org.share(contact, with: "ada@example.com")
    let record = try sample.records("SELECT AccountId, Account.Name FROM Contact", as: sample.ada)[
      0]
    #expect(record["Account"] == .null && record["AccountId"]?.string == bens)
    let byParent = "SELECT Name FROM Contact WHERE Account.Name = 'Bens'"
    #expect(try sample.column(byParent, as: sample.ada).isEmpty)
    #expect(try sample.column(byParent, as: sample.admin) == ["c"])
    let semi = "SELECT Name FROM Contact WHERE AccountId IN (SELECT Id FROM Account)"
    #expect(try sample.column(semi, as: sample.ada).isEmpty)
    let children = "SELECT (SELECT LastName FROM Contacts) FROM Account WHERE Name = 'Bens'"
    try org.share(bens, with: "ada@example.com")
    try org.unshare(contact, from: "ada@example.com")
    #expect(try sample.records(children, as: sample.ada)[0]["Contacts"] == .null)
    #expect(try org.dump().contains("\"Bens\""))
  }

  @Test func `read, edit and full access differ`() throws {
    try sample.org.share(adas, with: "ben@example.com", edit: false)
    func rename() -> String? {
      sample.org.update("Account", id: adas, ["Name": "x"], as: sample.ben).errors.first?.code
    }
    #expect(rename() == "INSUFFICIENT_ACCESS_OR_READONLY")
    try sample.org.share(adas, with: "ben@example.com", edit: true)
    #expect(rename() == nil)
    let give: JSONObject = ["OwnerId": .string(sample.ben.id)]
    let refused = "INSUFFICIENT_ACCESS_OR_READONLY"
    #expect(
      sample.org.update("Account", id: adas, give, as: sample.ben).errors.first?.code == refused)
    #expect(sample.org.delete(nil, id: adas, as: sample.ben).errors.first?.code == refused)
    #expect(sample.org.update("Account", id: adas, give, as: sample.ada).errors.isEmpty)
    let product = try sample.make("Product2", ["Name": "p"])
    #expect(
      sample.org.update("Product2", id: product, ["Name": "q"], as: sample.ada).errors.first?.code
        == refused)
    #expect(!sample.org.create("Product2", ["Name": "q"], as: sample.ada).errors.isEmpty)
  }

  @Test func `users are found by name in any case`() throws {
    #expect(sample.org.user(named: "ADA@example.com") == sample.ada)
    #expect(sample.org.user(id: String(sample.ada.id.prefix(15))) == sample.ada)
    #expect(sample.org.user(named: "nobody@example.com") == nil)
    try sample.org.setActive("ada@example.com", false)
    #expect(sample.org.user(named: "ada@example.com")?.isActive == false)
    let soql =
      "SELECT Username FROM User WHERE IsActive = true AND Profile.Name = 'Field Technician'"
    #expect(try sample.column(soql, "Username", as: sample.admin) == ["ben@example.com"])
    #expect(throws: OrgError.self) {
      try sample.org.addUser("BEN@example.com", lastName: "x", profile: "Field Technician")
    }
  }
}
