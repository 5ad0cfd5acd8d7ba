import JSON
import LocalOrg
import Testing

@Suite struct EncryptedFieldTests {
  let sample: SampleOrg
  init() throws { sample = try SampleOrg() }

  private func setUp(_ mask: String = "") throws {
    let text = #"""
      {"objects": {"Contact": {"fields": {
         "Passport__c": {"type": "encryptedstring", "length": 20\#(mask)}}}},
       "permissionSets": [{"name": "Secrets", "users": ["ada@example.com"],
         "viewEncryptedData": true}]}
      """#
    try sample.org.setUp(OrgSetup(parsing: Array(text.utf8)))
  }

  private func make(_ value: JSONValue) throws -> String {
    let id = try sample.make(
      "Contact",
      ["LastName": "Roe", "Passport__c": value, "OwnerId": .string(sample.ada.id)])
    try sample.org.share(id, with: "ben@example.com")
    return id
  }

  @Test(arguments: [
    ("", "secret", "******"),
    (#", "maskType": "all", "mask": "X""#, "été", "XXX"),
    (#", "maskType": "lastFour""#, "secret12", "****et12"),
    (#", "maskType": "lastFour""#, "four", "****"),
    (#", "maskType": "creditCard""#, "4111111111111234", "****-****-****-1234"),
    (#", "maskType": "ssn", "mask": "X""#, "123456789", "XXX-XX-6789"),
    (#", "maskType": "ssn""#, "12345", "*****"),
  ])
  func `users see the mask unless they may view encrypted data`(
    _ mask: String, _ value: String, _ masked: String
  ) throws {
    try setUp(mask)
    let id = try make(.string(value))
    let soql = "SELECT Passport__c FROM Contact"
    #expect(try sample.column(soql, "Passport__c", as: sample.ada) == [value])
    // Modifying all records does not include the permission.
    for user in [sample.ben, sample.admin] {
      #expect(try sample.column(soql, "Passport__c", as: user) == [masked])
      let retrieved = try sample.org.retrieve(
        "Contact", ids: [id], fields: ["Passport__c"], as: user)
      #expect(String(decoding: retrieved, as: UTF8.self).contains("\"\(masked)\""))
      #expect(
        try sample.org.read("Contact", id: id, as: user)["Passport__c"] == .string(masked))
    }
  }

  @Test func `it is written by anyone, and null stays null`() throws {
    try setUp()
    let id = try make(.null)
    let soql = "SELECT Passport__c FROM Contact"
    #expect(try sample.column(soql, "Passport__c", as: sample.ben) == ["null"])
    let change = sample.org.update("Contact", id: id, ["Passport__c": "new"], as: sample.ben)
    #expect(change.errors == [])
    #expect(try sample.column(soql, "Passport__c", as: sample.ben) == ["***"])
    #expect(try sample.column(soql, "Passport__c", as: sample.ada) == ["new"])
    // A setup without the field hides it, and the next one with it finds its values.
    try sample.org.setUp(OrgSetup(parsing: Array("{}".utf8)))
    #expect(throws: OrgError.self) { try sample.records(soql, as: sample.ada) }
    try setUp()
    #expect(try sample.column(soql, "Passport__c", as: sample.ada) == ["new"])
  }

  @Test(arguments: [
    ("SELECT Id FROM Contact WHERE Passport__c = 'secret'", "INVALID_FIELD"),
    ("SELECT Id FROM Contact WHERE Passport__c LIKE 's%'", "INVALID_FIELD"),
    ("SELECT Id FROM Contact ORDER BY Passport__c", "MALFORMED_QUERY"),
    ("SELECT Passport__c FROM Contact GROUP BY Passport__c", "MALFORMED_QUERY"),
  ])
  func `no condition, order or group can use it`(_ soql: String, _ code: String) throws {
    try setUp()
    for user in [sample.ada, sample.ben] {
      let error = #expect(throws: OrgError.self) { try sample.org.query(soql, as: user) }
      #expect(error?.code == code)
    }
  }

  @Test func `a search does not find it`() throws {
    try setUp()
    _ = try make("secret")
    for user in [sample.ada, sample.ben] {
      let found = try sample.org.search("FIND {secret} RETURNING Contact(Id)", as: user)
      #expect(found.count == 0)
    }
  }
}
