import JSON
import LocalOrg
import Testing

@Suite struct PersonAccountTests {
  let sample: SampleOrg
  init() throws {
    sample = try SampleOrg()
    try sample.make("Account", ["Name": "Mill"])
    try sample.org.setUp(OrgSetup(parsing: Array(#"{"personAccounts": true}"#.utf8)))
  }

  private let fields = "IsPersonAccount, Name, FirstName, LastName, PersonEmail, PersonMailingCity"

  private func person() throws -> (account: String, contact: String) {
    let id = try sample.make(
      "Account",
      [
        "FirstName": "Grace", "LastName": "Hart", "PersonEmail": "grace@example.com",
        "PersonMailingCity": "Leith", "Phone": "1",
      ])
    let row = try sample.records("SELECT PersonContactId FROM Account WHERE Id = '\(id)'").first
    return (id, try #require(row?["PersonContactId"]?.string))
  }

  private func code(_ outcome: RowOutcome) -> String? { outcome.errors.first?.code }

  @Test func `an account with a last name is a person account, which has a contact`() throws {
    let (account, contact) = try person()
    let row = try #require(
      try sample.records(
        """
        SELECT \(fields), PersonMailingAddress, PersonContact.Email FROM Account
        WHERE Id = '\(account)'
        """
      ).first)
    #expect(row["Name"] == "Grace Hart" && row["IsPersonAccount"] == true)
    #expect(row["PersonMailingAddress"]?["city"] == "Leith")
    #expect(row["PersonContact"]?["Email"] == "grace@example.com")
    let own = try #require(
      try sample.records(
        """
        SELECT Name, Email, MailingCity, Phone, AccountId, IsPersonAccount FROM Contact
        WHERE Id = '\(contact)'
        """
      ).first)
    #expect(own["Name"] == "Grace Hart" && own["MailingCity"] == "Leith" && own["Phone"] == "1")
    #expect(own["AccountId"]?.string == account && own["IsPersonAccount"] == true)
    #expect(
      try sample.column("SELECT Name FROM Account WHERE IsPersonAccount = false") == ["Mill"])
  }

  @Test func `a change of a person account changes its contact, with the same date`() throws {
    let (account, contact) = try person()
    let change = sample.org.update(
      "Account", id: account, ["LastName": "Hill", "PersonEmail": .null], as: sample.admin)
    #expect(change.errors.isEmpty)
    func dates(_ object: String, _ id: String) throws -> [String] {
      try sample.column(
        "SELECT LastModifiedDate FROM \(object) WHERE Id = '\(id)'", "LastModifiedDate")
    }
    #expect(try dates("Account", account) == dates("Contact", contact))
    let row = try sample.records("SELECT Name, Email FROM Contact WHERE Id = '\(contact)'").first
    #expect(row?["Name"] == "Grace Hill" && row?["Email"] == .null)
    #expect(try sample.column("SELECT Name FROM Account WHERE Id = '\(account)'") == ["Grace Hill"])
  }

  @Test func `the fields of person accounts and of others exclude each other`() throws {
    let (account, contact) = try person()
    let mill = try #require(
      try sample.records("SELECT Id FROM Account WHERE Name = 'Mill'").first?["Id"]?.string)
    let code = "INVALID_FIELD_FOR_INSERT_UPDATE"
    let org = sample.org
    let admin = sample.admin
    #expect(self.code(org.create("Account", ["Name": "A", "LastName": "B"], as: admin)) == code)
    #expect(self.code(org.update("Account", id: account, ["Name": "A"], as: admin)) == code)
    #expect(self.code(org.update("Account", id: mill, ["PersonTitle": "A"], as: admin)) == code)
    #expect(
      self.code(org.create("Account", ["PersonTitle": "A"], as: admin)) == "REQUIRED_FIELD_MISSING")
    let refusal = "INVALID_OPERATION"
    #expect(self.code(org.update("Contact", id: contact, ["Title": "A"], as: admin)) == refusal)
    #expect(self.code(org.delete("Contact", id: contact, as: admin)) == refusal)
  }

  @Test func `a person account is deleted and restored with its contact`() throws {
    let (account, contact) = try person()
    #expect(sample.org.delete("Account", id: account, as: sample.admin).errors.isEmpty)
    #expect(try sample.records("SELECT Id FROM Contact").isEmpty)
    #expect(sample.org.undelete(account, as: sample.admin).errors.isEmpty)
    #expect(try sample.column("SELECT Id FROM Contact", "Id") == [contact])
  }

  @Test func `an org without person accounts has none of their fields`() throws {
    let plain = try SampleOrg()
    let schema = try #require(plain.org.schema("Account", as: plain.admin))
    #expect(schema.field("IsPersonAccount") == nil && schema.field("LastName") == nil)
  }
}
