import JSON
import LocalOrg
import Testing

@Suite struct RowTests {
  let sample: SampleOrg
  let account: String
  let contact: String
  init() throws {
    sample = try SampleOrg()
    account = try sample.make("Account", ["Name": "Alpha"])
    contact = try sample.make("Contact", ["LastName": "Young", "AccountId": .string(account)])
  }

  static let refused: [(String, JSONObject, String, String, [String])] = [
    ("Account", [:], "REQUIRED_FIELD_MISSING", "Required fields are missing: [Name]", ["Name"]),
    ("Account", ["Name": "  "], "REQUIRED_FIELD_MISSING", "[Name]", ["Name"]),
    (
      "ServiceAppointment", ["Subject": "x"], "REQUIRED_FIELD_MISSING",
      "[ParentRecordId, EarliestStartTime, DueDate]",
      ["ParentRecordId", "EarliestStartTime", "DueDate"]
    ),
    (
      "Account", ["Name": "a", "Nme": "b"], "INVALID_FIELD",
      "No such column 'Nme' on sobject of type Account", []
    ),
    (
      "Account", ["Name": "a", "CreatedDate": "2024-01-01T00:00:00Z", "IsDeleted": false],
      "INVALID_FIELD_FOR_INSERT_UPDATE", "CreatedDate, IsDeleted", ["CreatedDate", "IsDeleted"]
    ),
    (
      "Contact", ["LastName": "a", "Name": "b"], "INVALID_FIELD_FOR_INSERT_UPDATE", "Name", ["Name"]
    ),
    (
      "Account", ["Name": "a", "Id": "x"], "INVALID_FIELD_FOR_INSERT_UPDATE", "cannot specify Id",
      ["Id"]
    ),
    (
      "Account", ["Name": .string(String(repeating: "x", count: 256))], "STRING_TOO_LONG",
      "Account Name: data value too large: xxx", ["Name"]
    ),
    (
      "Account", ["Name": 5], "JSON_PARSER_ERROR", "instance of string from VALUE_NUMBER_INT",
      ["Name"]
    ),
    (
      "Account", ["Name": "a", "NumberOfEmployees": "many"], "JSON_PARSER_ERROR",
      "instance of int from VALUE_STRING", ["NumberOfEmployees"]
    ),
    (
      "Account", ["Name": "a", "NumberOfEmployees": 100_000_000], "NUMBER_OUTSIDE_VALID_RANGE",
      "outside of valid range", ["NumberOfEmployees"]
    ),
    (
      "Contact", ["LastName": "a", "Birthdate": "2023-02-29"], "JSON_PARSER_ERROR",
      "instance of date", ["Birthdate"]
    ),
    (
      "WorkOrder", ["StartDate": "tomorrow"], "JSON_PARSER_ERROR", "instance of datetime",
      ["StartDate"]
    ),
    ("Contact", ["LastName": "a", "DoNotCall": 1], "JSON_PARSER_ERROR", "boolean", ["DoNotCall"]),
    (
      "Contact", ["LastName": "a", "Email": "nobody"], "INVALID_EMAIL_ADDRESS", "nobody", ["Email"]
    ),
    (
      "Contact", ["LastName": "a", "AccountId": "x"], "MALFORMED_ID", "incorrect type",
      ["AccountId"]
    ),
    (
      "Contact", ["LastName": "a", "AccountId": "0035g0000000001AAA"], "MALFORMED_ID",
      "incorrect type", ["AccountId"]
    ),
    (
      "Contact", ["LastName": "a", "AccountId": "0015g0000000099AAA"],
      "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", ["AccountId"]
    ),
    ("Acount", ["Name": "x"], "NOT_FOUND", "does not exist", []),
  ]

  @Test(arguments: refused) func `a create is refused as by an org`(
    object: String, fields: JSONObject, code: String, words: String, blamed: [String]
  ) throws {
    let errors = sample.org.create(object, fields, as: sample.admin).errors
    let error = try #require(errors.first)
    #expect(error.code == code && error.fields == blamed, "\(error)")
    #expect(error.message.contains(words), "\(error.message)")
    #expect(try sample.org.query("SELECT COUNT() FROM Account", as: sample.admin).totalSize == 1)
  }

  @Test func `values are stored as by an org`() throws {
    let id = try sample.make(
      "Site_Visit__c",
      [
        "attributes": ["type": "Site_Visit__c"], "name": "Visit  ", "Hours__c": "1.256",
        "Visit_Date__c": "2024-02-29", "Notes__c": "", "Completed__c": "true",
        "Account__c": .string(String(account.prefix(15))), "Cost__c": 12,
      ])
    let record = try sample.org.read("site_visit__c", id: String(id.prefix(15)), as: sample.admin)
    #expect(record["Name"] == "Visit")
    #expect(record["Hours__c"]?.text == "1.26")
    #expect(record["Cost__c"]?.text == "12.0")
    #expect(record["Notes__c"] == .null && record["Completed__c"] == .bool(true))
    #expect(record["Account__c"]?.string == account)
    #expect(record["OwnerId"]?.string == sample.admin.id)
    #expect(record["attributes"]?["type"] == "Site_Visit__c")
    let visit = try sample.org.read(
      "Site_Visit__c", id: id, fields: ["Account__r.Name", "CreatedBy.Username"], as: sample.admin)
    #expect(visit["Account__r"]?["Name"] == "Alpha")
    #expect(visit["CreatedBy"]?["Username"] == "admin@example.com")
    #expect(visit["Id"] == nil)
  }

  @Test func `an update sets the dates, null clears, missing fields stay`() throws {
    let before = try sample.org.read("Account", id: account, as: sample.admin)
    let changes: JSONObject = ["Phone": "1", "Industry": "Energy"]
    #expect(
      sample.org.update("Account", id: account, changes, as: sample.admin)
        == .success(id: account, created: false))
    _ = sample.org.update("Account", id: account, ["Phone": .null], as: sample.ada)
    _ = sample.org.update("Account", id: account, ["Phone": .null], as: sample.admin)
    let after = try sample.org.read("Account", id: account, as: sample.admin)
    #expect(after["Phone"] == .null && after["Industry"] == "Energy" && after["Name"] == "Alpha")
    #expect(after["CreatedDate"] == before["CreatedDate"])
    #expect(before["LastModifiedDate"] == "2023-11-14T22:13:21.000+0000")
    #expect(after["LastModifiedDate"] == "2023-11-14T22:13:24.000+0000")
    #expect(after["SystemModstamp"] == after["LastModifiedDate"])
  }

  @Test func `an update has its own errors`() throws {
    func code(_ id: String, _ fields: JSONObject) -> String? {
      sample.org.update("Account", id: id, fields, as: sample.admin).errors.first?.code
    }
    #expect(code(account, ["Name": .null]) == "REQUIRED_FIELD_MISSING")
    #expect(code(account, ["Id": .string(account)]) == "INVALID_FIELD")
    #expect(code(account, ["OwnerId": .null]) == "INVALID_TYPE_ON_FIELD_IN_RECORD")
    #expect(code("0015g0000000099AAA", ["Name": "x"]) == "NOT_FOUND")
    #expect(code(contact, ["Name": "x"]) == "NOT_FOUND")
    #expect(code("local_1", ["Name": "x"]) == "MALFORMED_ID")
    try sample.org.setActive("ben@example.com", false)
    #expect(code(account, ["OwnerId": .string(sample.ben.id)]) == "INACTIVE_OWNER_OR_USER")
  }

  @Test func `a conditional update fails if the record has changed`() throws {
    let seen = SampleOrg.start + 1000
    func update(_ since: Int64, _ name: String) -> RowOutcome {
      sample.org.update(
        "Account", id: account, ["Name": .string(name)], as: sample.admin, ifUnmodifiedSince: since)
    }
    #expect(update(seen, "first").errors.isEmpty)
    #expect(try #require(update(seen, "second").errors.first).status == 412)
    #expect(try sample.column("SELECT Name FROM Account") == ["first"])
    #expect(update(seen + 999_000, "third").errors.isEmpty)
  }

  @Test func `a deleted record is reported as deleted, and may be restored or merged`() throws {
    _ = sample.org.delete("Account", id: account, as: sample.admin)
    for outcome in [
      sample.org.delete("Account", id: account, as: sample.admin),
      sample.org.update("Account", id: account, ["Name": "x"], as: sample.admin),
    ] { #expect(outcome.errors.first?.code == "ENTITY_IS_DELETED") }
    let read = #expect(throws: OrgError.self) {
      try sample.org.read("Account", id: account, as: sample.admin)
    }
    #expect(read?.code == "ENTITY_IS_DELETED" && read?.status == 404)
    let orphan = sample.org.create(
      "Contact", ["LastName": "x", "AccountId": .string(account)], as: sample.admin)
    #expect(orphan.errors.first?.code == "ENTITY_IS_DELETED")
    #expect(orphan.errors.first?.fields == ["AccountId"])
    try sample.org.undelete(account)
    #expect(try sample.column("SELECT Name FROM Account") == ["Alpha"])
    let master = try sample.make("Account", ["Name": "Master"])
    try sample.org.merge(account, into: master)
    let loser = try sample.records("SELECT IsDeleted, MasterRecordId FROM Account", all: true)[0]
    #expect(loser["IsDeleted"] == .bool(true) && loser["MasterRecordId"]?.string == master)
  }

  @Test func `an upsert creates, then updates, and values are unique`() throws {
    func upsert(_ value: String?, _ name: String) -> RowOutcome {
      sample.org.upsert(
        "Site_Visit__c", externalField: "external_id__c", value: value, ["Name": .string(name)],
        as: sample.admin)
    }
    let id = try #require(upsert("V1", "one").id)
    #expect(upsert("v1", "two") == .success(id: id, created: false))
    #expect(try sample.column("SELECT Name FROM Site_Visit__c") == ["two"])
    let again = sample.org.create(
      "Site_Visit__c", ["Name": "x", "External_Id__c": "V1"], as: sample.admin)
    #expect(again.errors.first?.code == "DUPLICATE_VALUE")
    #expect(upsert(nil, "three").id != id)
    let found = try sample.org.find(
      "Site_Visit__c", externalField: "External_Id__c", value: "V1", as: sample.admin)
    #expect(found == id)
    let wrong = sample.org.upsert(
      "Site_Visit__c", externalField: "Name", value: "x", [:], as: sample.admin)
    #expect(wrong.errors.first?.code == "NOT_FOUND")
    let link = try sample.make("WorkOrder", ["Subject": "x", "Account": ["Id": .string(account)]])
    #expect(
      try sample.records("SELECT Account.Name FROM WorkOrder")[0]["Account"]?["Name"] == "Alpha")
    #expect(link.hasPrefix("0WO"))
  }

  @Test func `a retrieve keeps the order and returns null for missing records`() throws {
    let gone = try sample.make("Account", ["Name": "Gone"])
    _ = sample.org.delete(nil, id: gone, as: sample.admin)
    let ids = [
      gone, account, "nonsense", contact, "0015g0000000099AAA", String(account.prefix(15)),
    ]
    let bytes = try sample.org.retrieve(
      "Account", ids: ids, fields: ["Name", "Id", "id"], as: sample.admin)
    let records = try #require(try JSONValue(parsing: bytes).array)
    #expect(records.map { $0["Name"]?.string } == [nil, "Alpha", nil, nil, nil, "Alpha"])
    #expect(records[0] == .null)
    let error = #expect(throws: OrgError.self) {
      try sample.org.retrieve("Account", ids: [], fields: ["Nme"], as: sample.admin)
    }
    #expect(error?.code == "INVALID_FIELD")
  }

  @Test func `a transaction that throws leaves no change, not even of the clock`() throws {
    struct Stop: Error {}
    let before = try sample.org.dump()
    let now = sample.org.now()
    #expect(throws: Stop.self) {
      try sample.org.transaction {
        try sample.make("Account", ["Name": "Never"])
        try sample.org.transaction { try sample.make("Account", ["Name": "Nor this"]) }
        throw Stop()
      }
    }
    #expect(try sample.org.dump() == before && sample.org.now() == now)
    try sample.org.transaction { try sample.make("Account", ["Name": "Kept"]) }
    #expect(sample.org.now() == now + 1000)
  }

  @Test func `computed fields are updated`() throws {
    let visit: JSONObject = [
      "ParentRecordId": .string(try sample.make("WorkOrder", ["AccountId": .string(account)])),
      "EarliestStartTime": "2024-01-01T08:00:00Z", "DueDate": "2024-01-02T08:00:00.5+01:00",
    ]
    try sample.make("ServiceAppointment", visit)
    let record = try sample.records(
      "SELECT AccountId, AppointmentNumber, DueDate, Status FROM ServiceAppointment")[0]
    #expect(record["AccountId"]?.string == account && record["AppointmentNumber"] == "SA-0001")
    #expect(record["DueDate"] == "2024-01-02T07:00:00.000+0000" && record["Status"] == "None")
    let id = try sample.make("Case", ["Subject": "x"])
    _ = sample.org.update("Case", id: id, ["Status": "Closed"], as: sample.admin)
    let closed = try sample.records("SELECT CaseNumber, IsClosed, ClosedDate FROM Case")[0]
    #expect(closed["CaseNumber"] == "00001001" && closed["IsClosed"] == .bool(true))
    #expect(closed["ClosedDate"]?.string?.hasPrefix("2023-11-14") == true)
  }
}
