import JSON
import LocalOrg
import Testing

@Suite struct FieldAliasTests {
  let sample: SampleOrg
  init() throws { sample = try QueryTests.filled() }

  private func refusal(_ soql: String) throws -> String? {
    do {
      _ = try sample.records(soql)
      return nil
    } catch let error as OrgError { return error.code }
  }

  @Test(arguments: [
    "SELECT FirstName LastName FROM Contact", "SELECT Id, FirstName LastName FROM Contact",
    "SELECT Name n FROM Account", "SELECT Account.Name Parent FROM Contact",
    "SELECT Id, (SELECT FirstName LastName FROM Contacts) FROM Account",
    "SELECT Name n, COUNT(Id) FROM Account",
  ])
  func `ungrouped fields have no alias, as with a missing comma`(soql: String) throws {
    #expect(try refusal(soql) == "MALFORMED_QUERY")
  }

  @Test func `a field that a search returns has no alias`() throws {
    let error = #expect(throws: OrgError.self) {
      try sample.org.search("FIND {Young} RETURNING Contact(FirstName LastName)", as: sample.admin)
    }
    #expect(error?.code == "MALFORMED_QUERY" || error?.code == "MALFORMED_SEARCH")
  }

  @Test(arguments: [
    "SELECT Industry i, COUNT(Id) n FROM Account GROUP BY Industry",
    "SELECT COUNT(Id) n FROM Account",
    "SELECT CALENDAR_YEAR(CreatedDate) y, MAX(CreatedDate) FROM Account GROUP BY CALENDAR_YEAR(CreatedDate)",
    "SELECT toLabel(Industry), COUNT(Id) FROM Account GROUP BY Industry",
  ])
  func `aggregates, and fields of grouped rows, have an alias`(soql: String) throws {
    #expect(try refusal(soql) == nil)
  }

  @Test func `a function's result has its alias, next to the field itself`() throws {
    let soql = """
      SELECT Id, CreatedDate, FORMAT(CreatedDate) Made, Industry, toLabel(Industry) Branch, \
      FORMAT(NumberOfEmployees) Staff FROM Account WHERE Name = 'Alpha'
      """
    let record = try #require(try sample.records(soql).first)
    #expect(record["Branch"] == "Energy" && record["Industry"] == "Energy")
    #expect(record["Staff"] == "10")
    let made = try #require(record["Made"]?.string)
    #expect(made.wholeMatch(of: /\d{1,2}\/\d{1,2}\/\d{4}, \d{1,2}:\d\d [AP]M/) != nil, "\(made)")
    #expect(record["CreatedDate"]?.string?.hasSuffix("+0000") == true)
    let parent = try sample.records(
      "SELECT toLabel(Account.Industry) Branch FROM Contact WHERE LastName = 'Young'")
    #expect(parent.first?["Branch"] == "Energy")
  }

  @Test func `a function without an alias has the name of its field, once`() throws {
    let record = try sample.records("SELECT toLabel(Industry) FROM Account WHERE Name = 'Alpha'")
    #expect(record.first?["Industry"] == "Energy")
    #expect(try refusal("SELECT Industry, toLabel(Industry) FROM Account") == "INVALID_FIELD")
  }

  @Test(arguments: [
    "SELECT COUNT(Id) c, COUNT(Name) c FROM Account": "c",
    "SELECT COUNT(Id) expr0, MAX(Name) FROM Account": "expr0",
    "SELECT Industry i, COUNT(Id) I FROM Account GROUP BY Industry": "I",
    "SELECT Industry, COUNT(Id) Industry FROM Account GROUP BY Industry": "Industry",
    "SELECT Industry, Industry FROM Account GROUP BY Industry": "Industry",
    "SELECT Account.Name, Owner.Name FROM Contact GROUP BY Account.Name, Owner.Name": "Name",
    "SELECT FORMAT(CreatedDate) a, toLabel(Industry) A FROM Account": "A",
    "SELECT Name, toLabel(Industry) name FROM Account": "name",
    "SELECT toLabel(Industry) name, Name FROM Account": "Name",
    "SELECT toLabel(Salutation) Account, Account.Name FROM Contact": "Account",
    "SELECT Account.Name, toLabel(Salutation) account FROM Contact": "account",
    "SELECT (SELECT Id FROM Contacts), (SELECT Name FROM contacts) FROM Account": "Contacts",
    "SELECT FORMAT(CreatedDate) Contacts, (SELECT Id FROM Contacts) FROM Account": "Contacts",
    "SELECT What.Name, TYPEOF What WHEN Account THEN Phone END FROM Task": "What",
    "SELECT Id, (SELECT FORMAT(CreatedDate) x, toLabel(Salutation) x FROM Contacts) FROM Account":
      "x",
  ])
  func `two columns of an answer never have the same name`(_ soql: String, _ name: String) throws {
    let error = #expect(throws: OrgError.self) { try sample.records(soql) }
    #expect(error?.code == "MALFORMED_QUERY")
    #expect(error?.message.hasSuffix("duplicate alias: \(name)") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    "toLabel(Industry) = 'Energy'", "toLabel(Industry) != null AND TOLABEL(Industry) LIKE 'En%'",
    "toLabel(Industry) IN ('Energy', 'x')", "NOT (toLabel(Account.Industry) != 'Energy')",
    "toLabel(Industry) NOT IN ('x') AND Industry != null",
  ])
  func `a picklist is compared by its label as by its value`(_ condition: String) throws {
    let plain = condition.replacing(/(?i)tolabel\(([A-Za-z.]+)\)/) { $0.output.1 }
    let names = try sample.column("SELECT Name FROM Account WHERE \(condition) ORDER BY Name")
    let same = try sample.column("SELECT Name FROM Account WHERE \(plain) ORDER BY Name")
    #expect(names.contains("Alpha") && names == same)
  }

  @Test func `a label is compared in WHERE only, of picklists only, also of a parent's`() throws {
    let contacts = try sample.column(
      "SELECT LastName FROM Contact WHERE toLabel(Account.Industry) = 'Energy'", "LastName")
    #expect(contacts.contains("Young"))
    try sample.make("Site_Visit__c", ["Name": "V", "Equipment__c": "Ladder;Rope"])
    let visits = try sample.column(
      "SELECT Name FROM Site_Visit__c WHERE toLabel(Equipment__c) INCLUDES ('Rope')")
    #expect(visits == ["V"])
    for condition in ["toLabel(Name) = 'Alpha'", "toLabel(RecordType.Name) = 'x'"] {
      #expect(
        try refusal("SELECT Id FROM Account WHERE \(condition)") == "INVALID_FIELD", "\(condition)")
    }
    for rest in [
      "WHERE FORMAT(Name) = 'x'", "ORDER BY toLabel(Industry)",
      "GROUP BY Industry HAVING toLabel(Industry) = 'Energy'", "WHERE toLabel() = 'x'",
    ] {
      #expect(try refusal("SELECT COUNT(Id) FROM Account \(rest)") == "MALFORMED_QUERY", "\(rest)")
    }
  }

  @Test(arguments: [
    "SELECT Name, name FROM Account", "SELECT Account.Name, Id, account.Name FROM Contact",
    "SELECT TYPEOF What WHEN Account THEN Phone, phone END FROM Task",
  ])
  func `a field is selected once`(soql: String) throws {
    #expect(try refusal(soql) == "INVALID_FIELD")
  }

  @Test(arguments: [
    "SELECT Account.Name, Account.Phone, Account.Owner.Name, Owner.Name, Name FROM Contact",
    "SELECT COUNT(Id), COUNT(Name), MAX(Name) expr7 FROM Account",
    "SELECT Account.Name a, Owner.Name o FROM Contact GROUP BY Account.Name, Owner.Name",
    "SELECT Name, (SELECT Name FROM Contacts), (SELECT Name FROM Opportunities) FROM Account",
  ])
  func `names that differ are kept apart`(soql: String) throws {
    #expect(try refusal(soql) == nil)
  }

  @Test func `a parent of several kinds shows its type, for tasks, events and cases`() throws {
    let lead = try sample.make("Lead", ["LastName": "L", "Company": "C"])
    let contact = try #require(
      try sample.records("SELECT Id FROM Contact WHERE LastName = 'Young'").first?["Id"]?.string)
    for object in ["Task", "Event"] {
      for (who, type) in [(lead, "Lead"), (contact, "Contact")] {
        try sample.make(object, ["Subject": .string(type), "WhoId": .string(who)])
        let found = try sample.records(
          "SELECT Who.Type, Who.Name FROM \(object) WHERE Who.Type = '\(type)'")
        #expect(found.map { $0["Who"]?["Type"] } == [.string(type)])
      }
    }
    try sample.make("Case", ["Subject": "S"])
    let owned = try #require(
      try sample.records(
        "SELECT Owner.Type, Owner.Username, Owner.Name FROM Case WHERE Owner.Type = 'User'"
      ).first)
    let typed = try sample.records("SELECT TYPEOF Owner WHEN User THEN Email END FROM Case").first
    #expect(typed?["Owner"]?["Email"]?.string?.contains("@") == true)
    #expect(owned["Owner"]?["Type"] == "User")
    #expect(owned["Owner"]?["Username"]?.string?.contains("@") == true)
  }

  private static let queued: [(object: String, fields: JSONObject)] = [
    ("Case", [:]), ("Task", [:]), ("WorkOrder", [:]),
    ("Lead", ["LastName": "L", "Company": "C"]), ("Site_Visit__c", ["Name": "V"]),
    (
      "ServiceAppointment",
      ["EarliestStartTime": "2026-01-01T08:00:00Z", "DueDate": "2026-01-02T08:00:00Z"]
    ),
  ]

  @Test func `an owner that may be a queue shows its type, any other owner is a user`() throws {
    let account = try sample.make("Account", ["Name": "Q"])
    let queue = try sample.make("Group", ["Name": "Queue One", "Type": "Queue"])
    let group = try sample.make("Group", ["Name": "Group One", "Type": "Regular"])
    for (object, required) in Self.queued {
      var fields = required
      if object == "ServiceAppointment" { fields["ParentRecordId"] = .string(account) }
      let id = try sample.make(object, fields)
      func owner() throws -> JSONValue? {
        try sample.records("SELECT Owner.Type, Owner.Name FROM \(object) WHERE Id = '\(id)'")
          .first?["Owner"]
      }
      #expect(try owner()?["Type"] == "User", "\(object)")
      let moved = sample.org.update(object, id: id, ["OwnerId": .string(queue)], as: sample.admin)
      #expect(moved.errors.isEmpty, "\(object) \(moved.errors)")
      let queued = try owner()
      #expect(queued?["Type"] == "Group" && queued?["Name"] == "Queue One")
      let wrong = sample.org.update(object, id: id, ["OwnerId": .string(group)], as: sample.admin)
      #expect(wrong.errors.first?.code == "INVALID_OPERATION")
    }
    for object in ["Account", "Contact", "Opportunity", "Event"] {
      #expect(try refusal("SELECT Owner.Type FROM \(object)") == "INVALID_FIELD")
      #expect(try refusal("SELECT Owner.Email FROM \(object)") == nil)
    }
    let refused = sample.org.update(
      "Account", id: account, ["OwnerId": .string(queue)], as: sample.admin)
    #expect(refused.errors.first?.code == "MALFORMED_ID")
  }

  @Test func `a time of day is stored to the millisecond, and compared`() throws {
    func visit(_ time: JSONValue) throws -> String {
      try sample.make("Site_Visit__c", ["Name": "V", "Start_Time__c": time])
    }
    let (early, late) = (try visit("08:05:00Z"), try visit("17:30:15.25Z"))
    let records = try sample.records(
      "SELECT Id, Start_Time__c FROM Site_Visit__c ORDER BY Start_Time__c")
    #expect(records.map { $0["Start_Time__c"] } == ["08:05:00.000Z", "17:30:15.250Z"])
    func ids(_ condition: String) throws -> [String] {
      try sample.records("SELECT Id FROM Site_Visit__c WHERE Start_Time__c \(condition)")
        .compactMap { $0["Id"]?.string }
    }
    #expect(try ids("< 12:00:00.000Z") == [early])
    #expect(try ids(">= 17:30:15.250Z") == [late])
    for wrong: JSONValue in ["25:00:00Z", "8:05", 5] {
      #expect(
        sample.org.create("Site_Visit__c", ["Name": "V", "Start_Time__c": wrong], as: sample.admin)
          .errors.first?.code == "JSON_PARSER_ERROR")
    }
  }

  @Test func `a picklist value has 40 characters, and a case's owner may be a queue`() throws {
    let describe = try #require(sample.org.objects().first { $0.name == "Case" })
    #expect(describe.field("Status")?.length == 40)
    #expect(describe.field("OwnerId")?.referenceTo == ["User", "Group"])
    let long = String(repeating: "x", count: 41)
    #expect(
      sample.org.create("Case", ["Status": .string(long)], as: sample.admin).errors.first?.code
        == "STRING_TOO_LONG")
  }
}
