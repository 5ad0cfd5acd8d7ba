import LocalOrg
import Testing

@Suite struct CascadeTests {
  let sample: SampleOrg
  let account: String
  let contact: String
  let order: String
  let task: String
  init() throws {
    sample = try SampleOrg()
    account = try sample.make("Account", ["Name": "Alpha"])
    contact = try sample.make("Contact", ["LastName": "Young", "AccountId": .string(account)])
    order = try sample.make("WorkOrder", ["Subject": "Leak", "AccountId": .string(account)])
    task = try sample.make(
      "Task", ["Subject": "Call", "WhoId": .string(contact), "WhatId": .string(account)])
  }

  private func deletedDates(_ objects: [String]) throws -> [String] {
    try objects.flatMap { object in
      try sample.records("SELECT LastModifiedDate FROM \(object) WHERE IsDeleted = true", all: true)
        .compactMap { $0["LastModifiedDate"]?.string }
    }
  }

  @Test func `dependents of a record are deleted with it, at the same time`() throws {
    #expect(sample.org.delete("Account", id: account, as: sample.admin).errors.isEmpty)
    for (object, id) in [("Contact", contact), ("Task", task)] {
      let error = sample.org.update(object, id: id, ["Description": "x"], as: sample.admin)
        .errors.first
      #expect(error?.code == "ENTITY_IS_DELETED", "\(object)")
    }
    let dates = try deletedDates(["Account", "Contact", "Task"])
    #expect(dates.count == 3 && Set(dates).count == 1)
    // A child of a lookup stays, with an empty lookup.
    #expect(try sample.column("SELECT Subject FROM WorkOrder", "Subject") == ["Leak"])
    #expect(try sample.records("SELECT Account.Name FROM WorkOrder")[0]["Account"] == .null)
    // This ignores the user's rights to the children.
    let gone = try sample.org.changes(
      "Contact", deleted: true, from: SampleOrg.start, to: SampleOrg.start + 600_000,
      as: sample.admin)
    #expect(gone.map(\.id) == [contact])
  }

  @Test func `records deleted together are restored together`() throws {
    let early = try sample.make("Contact", ["LastName": "Early", "AccountId": .string(account)])
    _ = sample.org.delete("Contact", id: early, as: sample.admin)
    _ = sample.org.delete("Account", id: account, as: sample.admin)
    try sample.org.undelete(account)
    #expect(try sample.column("SELECT Name FROM Contact") == ["Young"])
    #expect(try sample.column("SELECT Subject FROM Task", "Subject") == ["Call"])
    #expect(try deletedDates(["Account", "Contact", "Task"]).count == 1)
  }

  @Test func `an account or contact with cases cannot be deleted, nor a parent of one`() throws {
    func delete(_ id: String) -> OrgError? {
      sample.org.delete(nil, id: id, as: sample.admin).errors.first
    }
    let incident = try sample.make(
      "Case", ["Subject": "Leak", "ContactId": .string(contact), "AccountId": .string(account)])
    let number = try #require(
      try sample.org.read("Case", id: incident, as: sample.admin)["CaseNumber"]?.string)
    let words =
      "could not be completed because it is associated with the following cases.: \(number)"
    #expect(delete(account)?.code == "DELETE_FAILED")
    #expect(delete(account)?.message == "Your attempt to delete Alpha \(words)")
    #expect(delete(contact)?.message == "Your attempt to delete Young \(words)")
    // The case now belongs to another account, but to a contact of this one.
    let other = try sample.make("Account", ["Name": "Beta"])
    _ = sample.org.update("Case", id: incident, ["AccountId": .string(other)], as: sample.admin)
    #expect(delete(account)?.message == "Your attempt to delete Young \(words)")
    #expect(try sample.column("SELECT Name FROM Account").count == 2)
    #expect(delete(incident) == nil && delete(account) == nil)
    #expect(try deletedDates(["Contact"]).count == 1)
  }

  @Test func `the children of a merged record move to the surviving one`() throws {
    let master = try sample.make("Account", ["Name": "Beta"])
    try sample.make("Case", ["Subject": "Leak", "AccountId": .string(account)])
    try sample.make(
      "ServiceAppointment",
      [
        "ParentRecordId": .string(account), "EarliestStartTime": "2024-01-01T08:00:00Z",
        "DueDate": "2024-01-02T08:00:00Z",
      ])
    try sample.org.merge(account, into: master)
    for object in ["Contact", "Case", "WorkOrder", "ServiceAppointment"] {
      #expect(
        try sample.records("SELECT Account.Name FROM \(object)")[0]["Account"]?["Name"] == "Beta")
    }
    #expect(try sample.column("SELECT What.Name FROM Task", "What").count == 1)
    #expect(throws: OrgError.self) { try sample.org.merge(contact, into: master) }
  }

  @Test func `one request finds existing and deleted records since a date`() throws {
    let before = try sample.records("SELECT LastModifiedDate FROM Account")[0]
    let since = try #require(before["LastModifiedDate"]?.string)
    let other = try sample.make("Account", ["Name": "Beta"])
    _ = sample.org.delete("Account", id: account, as: sample.admin)
    let rows = try sample.records(
      """
      SELECT Id, IsDeleted, LastModifiedDate FROM Account WHERE LastModifiedDate > \(since) \
      ORDER BY LastModifiedDate
      """, all: true)
    #expect(rows.map { $0["Id"]?.string } == [other, account])
    #expect(rows.map { $0["IsDeleted"] } == [false, true])
  }
}
