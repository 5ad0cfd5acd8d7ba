import JSON
import LocalOrg
import Testing

@Suite struct FormulaFieldTests {
  let sample: SampleOrg
  let account: String
  let contact: String

  static let setup = #"""
    {"objects": {
      "Account": {"fields": {
        "Shout__c": {"type": "string", "formula": "UPPER(Name)"}}},
      "Contact": {"fields": {
        "Seen_By__c": {"type": "string", "formula": "$User.FirstName & ' sees ' & LastName"},
        "Seen_As__c": {"type": "string", "formula": "$Profile.Name", "hidesFormula": true},
        "Short__c": {"type": "string", "formula": "LEFT(Seen_By__c, 3)"},
        "Mine__c": {"type": "boolean", "formula": "OwnerId = $User.Id"},
        "Account_Shout__c": {"type": "string", "formula": "Account.Shout__c & '!'"},
        "Age__c": {"type": "double", "scale": 0, "formula": "TODAY() - DATEVALUE(CreatedDate)"},
        "Due__c": {"type": "date", "formula": "TODAY() + 1"},
        "Asked__c": {"type": "datetime", "formula": "NOW() + 1"},
        "Share__c": {"type": "percent", "scale": 1, "formula": "1 / 3"},
        "Blank__c": {"type": "string", "formula": "Title"},
        "Wrong__c": {"type": "date", "formula": "LastName"}
      }}}}
    """#

  init() throws {
    sample = try SampleOrg()
    try sample.org.setUp(OrgSetup(parsing: Array(Self.setup.utf8)))
    account = try sample.make("Account", ["Name": "Alpha"])
    contact = try sample.make(
      "Contact",
      [
        "LastName": "Roe", "AccountId": .string(account), "OwnerId": .string(sample.ada.id),
      ])
    try sample.org.share(contact, with: "ben@example.com")
  }

  private func value(_ field: String, as user: OrgUser) throws -> String {
    try sample.column("SELECT \(field) FROM Contact", field, as: user)[0]
  }

  @Test(arguments: [
    ("Seen_By__c", "Ada sees Roe", "Ben sees Roe"),
    ("Seen_As__c", "Field Technician", "Field Technician"),
    ("Short__c", "Ada", "Ben"),
    ("Mine__c", "true", "false"),
    // The formula reads a parent that the user does not see.
    ("Account_Shout__c", "ALPHA!", "ALPHA!"),
    ("Age__c", "0.0", "0.0"),
    ("Due__c", "2023-11-15", "2023-11-15"),
    ("Share__c", "33.3", "33.3"),
    ("Blank__c", "null", "null"),
    ("Wrong__c", "null", "null"),
  ])
  func `a formula has the value of the user who asks`(
    _ field: String, _ adas: String, _ bens: String
  ) throws {
    #expect(try value(field, as: sample.ada) == adas)
    #expect(try value(field, as: sample.ben) == bens)
  }

  @Test(arguments: [
    ("SELECT Id FROM Contact WHERE Seen_By__c LIKE 'ada%'", 1, 0),
    ("SELECT Id FROM Contact WHERE Mine__c = true", 1, 0),
    ("SELECT Id FROM Contact WHERE Age__c < 1 AND Due__c = TOMORROW", 1, 1),
    ("SELECT Id FROM Contact WHERE Share__c > 33.3", 0, 0),
    ("SELECT Id FROM Contact ORDER BY Seen_By__c DESC", 1, 1),
    ("SELECT Id FROM Contact WHERE Account.Shout__c = 'ALPHA'", 0, 0),
  ])
  func `conditions compare the asking user's value`(_ soql: String, _ adas: Int, _ bens: Int)
    throws
  {
    #expect(try sample.records(soql, as: sample.ada).count == adas)
    #expect(try sample.records(soql, as: sample.ben).count == bens)
  }

  @Test func `every kind of read returns it`() throws {
    let org = sample.org
    let fields = ["Seen_By__c"]
    let retrieved = try org.retrieve("Contact", ids: [contact], fields: fields, as: sample.ben)
    #expect(String(decoding: retrieved, as: UTF8.self).contains("Ben sees Roe"))
    #expect(
      try org.read("Contact", id: contact, as: sample.ben)["Seen_By__c"] == "Ben sees Roe")
    let found = try org.search("FIND {Roe} RETURNING Contact(Seen_By__c)", as: sample.ben)
    #expect(String(decoding: found.records, as: UTF8.self).contains("Ben sees Roe"))
    let children = try sample.records(
      "SELECT Shout__c, (SELECT Seen_By__c FROM Contacts) FROM Account")
    #expect(children[0]["Shout__c"] == "ALPHA")
    #expect(children[0]["Contacts"]?["records"]?[0]?["Seen_By__c"] == "Org sees Roe")
    let greatest = try sample.records("SELECT MAX(Seen_By__c) m FROM Contact", as: sample.ada)
    #expect(greatest[0]["m"] == "Ada sees Roe")
    try org.addBriefcase(
      "Mine", rules: [BriefcaseRule("Contact", filter: "Mine__c = true")],
      users: ["ada@example.com", "ben@example.com"])
    #expect(try org.primingRecords(as: sample.ada, app: nil).entries.map(\.id) == [contact])
    #expect(try org.primingRecords(as: sample.ben, app: nil).entries.isEmpty)
  }

  @Test func `a formula over the clock changes without a new SystemModstamp`() throws {
    let stamp = try value("SystemModstamp", as: sample.ada)
    let asked = try value("Asked__c", as: sample.ada)
    try sample.org.moveClock(by: 2 * 86_400_000)
    #expect(try value("Age__c", as: sample.ada) == "2.0")
    #expect(try value("Due__c", as: sample.ada) == "2023-11-17")
    #expect(try value("Asked__c", as: sample.ada) > asked)
    #expect(try value("SystemModstamp", as: sample.ada) == stamp)
  }

  @Test func `a formula cannot be written, and permissions hide it`() throws {
    let change = sample.org.update(
      "Contact", id: contact, ["Seen_By__c": "x"], as: sample.ada)
    #expect(change.errors.first?.code == "INVALID_FIELD_FOR_INSERT_UPDATE")
    let hiding =
      Self.setup.dropLast() + #"""
        , "profiles": [{"name": "Field Technician",
          "objects": {"Contact": {"fields": {"Seen_By__c": "none"}}}}]}
        """#
    try sample.org.setUp(OrgSetup(parsing: Array(hiding.utf8)))
    let error = #expect(throws: OrgError.self) { try value("Seen_By__c", as: sample.ada) }
    #expect(error?.code == "INVALID_FIELD")
    // The formula that reads it is computed anyway.
    #expect(try value("Short__c", as: sample.ada) == "Ada")
  }

  @Test(arguments: [
    (#""Age": {"type": "date", "formula": "TODAY()"}"#, "cannot be the name of a custom field"),
    (#""Level__c": {"type": "text", "formula": "Name"}"#, "is not a type of custom field"),
    (#""Level__c": {"type": "string"}"#, #"a custom field needs "formula""#),
    (#""Level__c": {"type": "string", "formula": "Nome"}"#, "Contact has no field Nome"),
    (
      #""Level__c": {"type": "boolean", "formula": "ISNEW()"}"#,
      "needs a record that is being saved"
    ),
    (
      #""A__c": {"type": "string", "formula": "B__c"}, "B__c": {"type": "string", "formula": "A__c"}"#,
      "the formula of Contact.A__c depends on itself"
    ),
    (
      #""A__c": {"type": "encryptedstring", "formula": "Name"}"#,
      "an encrypted field has no formula"
    ),
    (
      #""A__c": {"type": "encryptedstring"}, "B__c": {"type": "string", "formula": "A__c"}"#,
      "Contact.A__c is encrypted"
    ),
    (#""A__c": {"type": "encryptedstring", "mask": "?"}"#, "is not a mask's character"),
  ])
  func `an impossible field is refused with its reason`(_ fields: String, _ reason: String) throws {
    let text = #"{"objects": {"Contact": {"fields": {\#(fields)}}}}"#
    let problems = #expect(throws: Problems.self) { try OrgSetup(parsing: Array(text.utf8)) }
    let messages = problems?.list.map(\.message) ?? []
    #expect(messages.contains { $0.contains(reason) }, "\(messages)")
  }
}
