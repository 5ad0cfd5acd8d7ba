import JSON
import Ledger
import Salesforce
import Testing

@Suite struct DelegationTests {
  private func day() throws -> FieldDay {
    let day = try FieldDay()
    day.options.sendAs = .integration
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone", "ParentId", "OwnerId"], mode: .overwrite)
    ]
    return day
  }

  @Test func `an unchanged reference is not the device's choice`() async throws {
    let day = try day()
    let parent = try day.make("Account", ["Name": "Not issued"])
    let other = try day.make("Account", ["Name": "Not issued either"])
    let id = try day.make("Account", ["Name": "One", "ParentId": .string(parent)])
    let edit = try day.edited(account: id, ["Phone": "1"])
    #expect(try await day.verdicts([edit]) == "updated 1")
    // The org's current value is not the device's choice either.
    try day.change("Account", id, ["ParentId": .string(other)])
    try day.handBack([try day.edited(account: id, ["Phone": "2", "ParentId": .string(other)])])
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `a reference changed by a device must be to a record of its user`() async throws {
    let day = try day()
    let parent = try day.make("Account", ["Name": "Parent"])
    let id = try day.make("Account", ["Name": "One"])
    let edits: [JSONObject] = [
      ["ParentId": .string(parent)], ["ParentId": .string(String(parent.prefix(15)))],
      ["OwnerId": .string(day.ben.id)],
    ]
    for changes in edits {
      try day.handBack([try day.edited(account: id, changes)])
      #expect(day.verdicts(try await day.run()) == "exceeds user access 1", "\(changes)")
      #expect(try day.details().first?.message?.contains("refers to a record") == true)
    }
    #expect(day.writes.isEmpty)
    day.issued = [parent]
    try day.handBack([try day.edited(account: id, ["ParentId": .string(parent), "Phone": "3"])])
    #expect(try await day.run().verdicts[.updated] == 1)
    #expect(try day.record("Account", id)["ParentId"] == .string(parent))
    // The user may write the user's own ID; the org decides about the rest.
    try day.handBack([try day.edited(account: id, ["OwnerId": .string(day.ada.id)])])
    #expect(try await day.run().verdicts[.exceedsUserAccess] == nil)
  }

  @Test func `records created by one user's edits are not another's`() async throws {
    let day = try day()
    try day.handBack([day.account("local_1", ["Name": "Ben's"])], user: day.ben)
    #expect(day.verdicts(try await day.run()) == "created 1")
    let id = try #require(try day.details().first?.recordID)
    try day.handBack([try day.edited(account: id, ["Phone": "1"], hasBase: false)])
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    try day.handBack(
      [try day.edited(account: id, ["Phone": "2"], hasBase: false)],
      user: day.ben, install: "his other phone", stamp: "stamp of the next bundle")
    #expect(try await day.run().verdicts[.exceedsUserAccess] == nil)
    #expect(try day.record("Account", id)["Phone"] != "1")
  }

  @Test(arguments: ActingUser.allCases)
  func `a global store's record is the integration user's`(_ sender: ActingUser) async throws {
    let day = try day()
    day.options.sendAs = sender
    try day.handBack([day.account("local_1", ["Name": "Everybody's"])], snapshot: "global")
    #expect(day.verdicts(try await day.run()) == "created 1")
    let id = try #require(try day.details().first?.recordID)
    let integration = try #require(day.org.user(named: "attache@example.com")).id
    #expect(try day.record("Account", id)["OwnerId"] == .string(integration))
  }

  @Test func `a record created for a user belongs to the user`() async throws {
    let day = try day()
    try day.handBack([
      day.account("local_1", ["Name": "Ada's"]),
      day.account("local_2", ["Name": "Ada's, too", "OwnerId": .string(day.ada.id)]),
    ])
    #expect(day.verdicts(try await day.run()) == "created 2")
    for detail in try day.details() {
      let id = try #require(detail.recordID)
      #expect(try day.record("Account", id)["OwnerId"] == .string(day.ada.id))
    }
  }

  @Test func `the same edits are sent as when the user sends them`() async throws {
    let day = try day()
    day.options.sendAs = .user
    day.rules = [FieldDay.rule("accounts", ["Name", "Phone", "ParentId"], mode: .overwrite)]
    let id = try day.make("Account", ["Name": "One"])
    let parent = try day.make("Account", ["Name": "Parent"])
    try day.handBack([try day.edited(account: id, ["ParentId": .string(parent)], hasBase: false)])
    #expect(try await day.run().verdicts == [.updated: 1])
  }

  @Test func `an upsert changes no record that its user was not issued`() async throws {
    let day = try day()
    day.rules = [
      FieldDay.rule(
        "contacts", ["LastName", "External_Id__c"], mode: .overwrite, externalID: "External_Id__c")
    ]
    let id = try day.make("Contact", ["LastName": "Office", "External_Id__c": "K"])
    func upsert(_ local: String) throws {
      try day.handBack([day.contact(local, ["LastName": "Device", "External_Id__c": "K"])])
    }
    try upsert("local_1")
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
    #expect(try day.record("Contact", id)["LastName"] == "Office")
    day.issued = [id]
    try upsert("local_2")
    #expect(try await day.run().verdicts[.updated] == 1)
    #expect(try day.record("Contact", id)["LastName"] == "Device")
  }

  @Test func `an upsert changes none of several records with its external ID`() async throws {
    let day = try day()
    day.rules = [
      FieldDay.rule(
        "contacts", ["LastName", "Department"], mode: .overwrite, externalID: "Department")
    ]
    let ids = try ["One", "Two"].map {
      try day.make("Contact", ["LastName": .string($0), "Department": "K"])
    }
    // One of them was not issued; it is unknown which one the org would change.
    for (number, issued) in [Set([ids[0]]), [ids[1]], []].enumerated() {
      day.issued = issued
      try day.handBack([day.contact("local_\(number)", ["LastName": "Device", "Department": "K"])])
      #expect(day.verdicts(try await day.run()) == "exceeds user access 1")
      #expect(try day.details().first?.message?.contains("its external ID") == true)
      #expect(day.writes.isEmpty)
    }
    // If both may be written, the org refuses.
    day.issued = Set(ids)
    try day.handBack([day.contact("local_9", ["LastName": "Device", "Department": "K"])])
    #expect(day.verdicts(try await day.run()) == "failed 1")
    #expect(!day.writes.isEmpty)
    for (id, name) in zip(ids, ["One", "Two"]) {
      #expect(try day.record("Contact", id)["LastName"] == .string(name))
    }
  }

  @Test func `a record issued only in another soup is not written here`() async throws {
    let day = try day()
    let parent = try day.make("Account", ["Name": "Issued elsewhere"])
    let id = try day.make("Account", ["Name": "One"])
    day.issuedElsewhere = [parent]
    // Referring to it is a different matter.
    try day.handBack([
      try day.edited(account: id, ["ParentId": .string(parent)]),
      try day.edited(account: parent, ["Phone": "1"], hasBase: false),
    ])
    #expect(day.verdicts(try await day.run()) == "exceeds user access 1, updated 1")
    #expect(try day.record("Account", id)["ParentId"] == .string(parent))
    #expect(try day.record("Account", parent)["Phone"] != "1")
  }

  @Test func `a row whose record was created for its user gets no other record`() async throws {
    let day = try day()
    let foreign = try day.make("Account", ["Name": "Office"])
    let made = day.account("local_1", ["Name": "Ada's"])
    #expect(try await day.verdicts([made], handback: 1) == "created 1")
    var edit = try day.edited(account: foreign, ["Phone": "1"], hasBase: false)
    (edit.row, edit.created) = (made.row, made.created)
    #expect(try await day.verdicts([edit], handback: 2) == "duplicate created 1")
    #expect(try day.record("Account", foreign)["Phone"] != "1")
  }

  @Test func `a record created and deleted on a device needs no permission`() async throws {
    let day = try day()
    var edit = day.account("local_1", ["Name": "New"])
    edit.operation = EditOperation(isCreated: true, isDeleted: true)
    #expect(try await day.verdicts([edit]) == "unchanged 1")
    #expect(day.writes.isEmpty)
  }
}
