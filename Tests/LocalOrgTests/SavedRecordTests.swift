import JSON
import LocalOrg
import Testing

@Suite struct SavedRecordTests {
  let sample: SampleOrg
  init() throws { sample = try SampleOrg() }

  private func setUp(_ objects: String) throws {
    try sample.org.setUp(OrgSetup(parsing: Array(#"{"objects": {\#(objects)}}"#.utf8)))
  }

  private func refusal(_ object: String, _ fields: JSONObject, as user: OrgUser? = nil)
    -> [OrgError]
  { sample.org.create(object, fields, as: user ?? sample.admin).errors }

  private func visit(_ fields: JSONObject) -> [OrgError] {
    var all: JSONObject = ["Name": "v"]
    for (name, value) in fields { all[name] = value }
    return refusal("Site_Visit__c", all)
  }

  @Test func `a restricted picklist accepts only its own values, in every write`() throws {
    try setUp(
      """
      "Case": {"picklists": {"Status": {"restricted": true},
        "Priority": {"values": ["Soon", "Later"], "restricted": true}, "Origin": {"values": ["Fax"]}}},
      "Site_Visit__c": {"picklists": {
        "Equipment__c": {"values": ["Ladder", "Hoist"], "restricted": true}}}
      """)
    let error = try #require(refusal("Case", ["Status": "Lost"]).first)
    #expect(error.code == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
    #expect(error.message == "Status: bad value for restricted picklist field: Lost")
    #expect(error.fields == ["Status"])
    let id = try sample.make("Case", ["Status": "Closed", "Priority": "Soon", "Origin": "Owl"])
    let change = sample.org.update("Case", id: id, ["Priority": "High"], as: sample.admin)
    #expect(
      change.errors.first?.message == "Priority: bad value for restricted picklist field: High")
    #expect(sample.org.update("Case", id: id, ["Priority": .null], as: sample.admin).errors == [])
    #expect(visit(["Equipment__c": "Hoist;Ladder"]) == [])
    #expect(
      visit(["Equipment__c": "Hoist;Crane"]).first?.message
        == "Equipment: bad value for restricted picklist field: Crane")
    // The default was removed with its value.
    let plain = try sample.make("Case", ["Subject": "x"])
    #expect(
      try sample.org.read("Case", id: plain, fields: ["Priority", "Status"], as: sample.admin)[
        "Priority"] == .null)
    let schema = try #require(sample.org.schema("Case", as: sample.ada))
    #expect(schema.field("Status")?.isRestricted == true)
    #expect(schema.field("Priority")?.picklistValues.map(\.value) == ["Soon", "Later"])
  }

  @Test func `a field made required must be set`() throws {
    try setUp(#""Contact": {"required": ["Phone"]}"#)
    let missing = try #require(refusal("Contact", ["LastName": "x"]).first)
    #expect(missing.code == "REQUIRED_FIELD_MISSING" && missing.fields == ["Phone"])
    let id = try sample.make("Contact", ["LastName": "x", "Phone": "1"])
    let blanked = sample.org.update("Contact", id: id, ["Phone": ""], as: sample.admin)
    #expect(blanked.errors.first?.code == "REQUIRED_FIELD_MISSING")
    let problems = #expect(throws: Problems.self) {
      try OrgSetup(
        parsing: Array(
          """
          {"objects": {"Contact": {"required": ["Phone"]}},
           "profiles": [{"name": "x", "objects": {"Contact": {"fields": {"Phone": "none"}}}}]}
          """.utf8))
    }
    #expect(problems?.list.first?.message.contains("no rights to Contact.Phone") == true)
  }

  @Test func `a matching rule refuses the record with its message, all rules at once`() throws {
    try setUp(
      """
      "Case": {"validationRules": [
        {"name": "Reason", "condition": "AND(ISPICKVAL(Status, 'Closed'), ISBLANK(TEXT(Reason)))",
         "message": "Say why the case is closed.", "field": "Reason"},
        {"name": "Subject", "condition": "LEN(Subject) < 3", "message": "Say more."},
        {"name": "Reopen", "condition": "NOT(ISNEW()) && ISCHANGED(Status) && IsClosed = FALSE &&
          ISPICKVAL(PRIORVALUE(Status), 'Closed') && $Profile.Name <> 'System Administrator'",
         "message": "Only an administrator reopens a case.", "field": "Status"}]}
      """.replacing("\n    ", with: " "))
    let before = sample.org.now()
    let errors = refusal("Case", ["Status": "Closed", "Subject": "x"], as: sample.ada)
    #expect(
      errors.map(\.code) == [
        "FIELD_CUSTOM_VALIDATION_EXCEPTION", "FIELD_CUSTOM_VALIDATION_EXCEPTION",
      ])
    #expect(errors.map(\.message) == ["Say why the case is closed.", "Say more."])
    #expect(errors.map(\.fields) == [["Reason"], []])
    #expect(errors.map(\.status) == [400, 400])
    // Nothing has changed: no record, no number, not even the clock.
    #expect(sample.org.now() == before)
    let id = try sample.make(
      "Case", ["Status": "Closed", "Subject": "Leak", "Reason": "Other"], as: sample.ada)
    #expect(try sample.org.read("Case", id: id, as: sample.ada)["CaseNumber"]?.string == "00001001")
    func reopen(_ user: OrgUser) -> [String] {
      sample.org.update("Case", id: id, ["Status": "Working"], as: user).errors.map(\.message)
    }
    #expect(reopen(sample.ada) == ["Only an administrator reopens a case."])
    #expect(try sample.column("SELECT Status FROM Case", "Status") == ["Closed"])
    #expect(reopen(sample.admin) == [])
    // Administrative changes are not checked, such as a transfer.
    #expect(throws: Never.self) { try sample.org.transfer(id, to: "ben@example.com") }
  }

  @Test func `fields are set before a record is saved, and the rules see them`() throws {
    try setUp(
      """
      "Site_Visit__c": {
        "fieldUpdates": [
          {"name": "Rate", "condition": "Hours__c > 0 && (ISNEW() || ISCHANGED(Hours__c))",
           "set": {"Cost__c": "Hours__c * IF(Completed__c, 80, 100)"}},
          {"name": "Title", "set": {"Notes__c": "Account__r.Name & ': ' & TEXT(Cost__c)",
            "Visit_Date__c": "BLANKVALUE(Visit_Date__c, TODAY() + 7)"}}],
        "validationRules": [{"name": "Dear", "condition": "Cost__c > 500", "message": "Too dear.",
          "field": "Cost__c"}]}
      """)
    let account = try sample.make("Account", ["Name": "Alpha"])
    let id = try sample.make(
      "Site_Visit__c", ["Name": "v", "Hours__c": 3, "Account__c": .string(account)])
    func read() throws -> JSONObject {
      try sample.org.read("Site_Visit__c", id: id, as: sample.admin)
    }
    #expect(try read()["Cost__c"]?.double == 300)
    #expect(try read()["Notes__c"] == "Alpha: 300")
    #expect(try read()["Visit_Date__c"] == "2023-11-21")
    let change: JSONObject = ["Hours__c": 6.5]
    #expect(
      sample.org.update("Site_Visit__c", id: id, change, as: sample.admin).errors.map(\.message)
        == ["Too dear."])
    #expect(try read()["Cost__c"]?.double == 300)
    let done: JSONObject = ["Hours__c": 6, "Completed__c": true, "Visit_Date__c": "2023-12-01"]
    #expect(sample.org.update("Site_Visit__c", id: id, done, as: sample.admin).errors == [])
    #expect(try read()["Cost__c"]?.double == 480 && read()["Visit_Date__c"] == "2023-12-01")
    // Without a change of the hours the cost stays as written.
    _ = sample.org.update("Site_Visit__c", id: id, ["Cost__c": 5], as: sample.admin)
    #expect(try read()["Notes__c"] == "Alpha: 5")
  }

  @Test func `an update that fails refuses the record and is named`() throws {
    try setUp(
      """
      "Account": {"fieldUpdates": [
        {"name": "Too long", "condition": "Name = 'long'", "set": {"Sic": "Name & Name & Name & Name & Name & Name"}},
        {"name": "Nothing", "condition": "Name = 'none'", "set": {"Name": "NULL"}}],
        "picklists": {"Rating": {"restricted": true}}}
      """)
    let long = try #require(refusal("Account", ["Name": "long"]).first)
    #expect(long.code == "CANNOT_EXECUTE_FLOW_TRIGGER")
    #expect(
      long.message.contains("“Too long” process failed") && long.message.contains("STRING_TOO_LONG")
    )
    #expect(refusal("Account", ["Name": "none"]).first?.message.contains("cannot be empty") == true)
    #expect(try sample.column("SELECT Name FROM Account") == [])
  }

  @Test(arguments: [
    ("'a' & \"b\" & 'c\\'d'", "abc'd"), ("TEXT(1 + 2 * 3 - 4 / 2)", "5"),
    ("TEXT((1 + 2) * 3)", "9"), ("TEXT(-2 * 3)", "-6"),
    ("IF(1 < 2 && !(3 >= 4), 'yes', 'no')", "yes"), ("IF(1 = 2 || 2 == 2, 'yes', 'no')", "yes"),
    ("IF('a' <> 'A', 'yes', 'no')", "yes"), ("CASE(Rating, 'Hot', 'h', 'Cold', 'c', 'other')", "h"),
    ("CASE(2, 1, 'one', 'more')", "more"), ("TEXT(Rating) & TEXT(Type)", "Hot"),
    ("IF(ISBLANK(Phone) && ISNULL(AnnualRevenue), 'blank', '')", "blank"),
    ("IF(AnnualRevenue > 1 || AnnualRevenue <= 1, 'some', 'none')", "none"),
    ("BLANKVALUE(Phone, 'no phone')", "no phone"), ("TEXT(LEN(Name))", "5"),
    ("LEFT(Name, 2) & '-' & RIGHT(Name, 1) & '-' & MID(Name, 2, 3)", "Al-a-lph"),
    ("UPPER(Name) & LOWER('XY') & TRIM('  z ')", "ALPHAxyz"),
    ("IF(CONTAINS(Name, 'lph') && BEGINS(Name, 'Al') && !BEGINS(Name, 'al'), 'y', 'n')", "y"),
    ("SUBSTITUTE(Name, 'a', 'o')", "Alpho"), ("TEXT(VALUE('12.5') * 2)", "25"),
    ("TEXT(DATE(2024, 2, 28) + 2)", "2024-03-01"),
    ("TEXT(DATE(2024, 3, 1) - DATE(2024, 2, 1))", "29"),
    ("BLANKVALUE(TEXT(DATE(2023, 2, 29)), 'no day')", "no day"),
    ("TEXT(YEAR(TODAY())) & TEXT(MONTH(TODAY())) & TEXT(DAY(DATEVALUE(NOW())))", "20231114"),
    ("TEXT(ROUND(2.345, 1)) & ' ' & TEXT(MOD(-1, 3)) & ' ' & TEXT(ABS(-2))", "2.3 2 2"),
    ("TEXT(FLOOR(1.7) + CEILING(1.2)) & TEXT(MIN(3, 1, 2)) & TEXT(MAX(3, 1))", "313"),
    ("BLANKVALUE(TEXT(1 / 0), 'nothing')", "nothing"),
    ("$User.Username & ' ' & Owner.Profile.Name", "admin@example.com System Administrator"),
    ("Parent.Name & Parent.Parent.Name", "Top"),
    ("IF(OR(ISNEW(), 1 / 0 > 1), 'new', 'old')", "new"),
  ])
  func `a formula is evaluated as by an org`(_ formula: String, _ result: String) throws {
    let set = JSONValue.object(["Description": .string(formula)])
    try setUp(#""Account": {"fieldUpdates": [{"name": "f", "set": \#(set.text)}]}"#)
    let top = try sample.make("Account", ["Name": "Top"])
    let id = try sample.make(
      "Account", ["Name": "Alpha", "Rating": "Hot", "ParentId": .string(top)])
    let record = try sample.org.read("Account", id: id, fields: ["Description"], as: sample.admin)
    #expect(record["Description"]?.string == result)
  }

  @Test(arguments: [
    ("Rating = 'Hot'", "Rating is a picklist", 8, #"write TEXT(Rating)"#),
    ("ISBLNK(Phone)", "no function ISBLNK", 1, #"did you mean "ISBLANK"?"#),
    ("ISBLANK(Phon)", "Account has no field Phon", 9, #"did you mean "Phone"?"#),
    ("Owner.Nmae = 'x'", "User has no field Nmae", 1, #"did you mean "Name"?"#),
    ("Boss.Name = 'x'", "Account has no relationship Boss", 1, "write one of"),
    ("LEN(Name, 2) > 1", "LEN has 2 arguments", 1, "write 1"),
    ("ISCHANGED(1)", "ISCHANGED requires a field", 1, "name a field"),
    ("Name = 'x", "is not closed", 8, "close it with '"),
    ("Name = ", "unexpected end", 8, "write a value"),
    ("1 ? 2", "unknown character: ?", 3, "remove it"),
    ("(1 = 1", "unexpected end", 7, "write ) here"),
    ("$Org.Name = 'x'", "has no $Org", 1, "$User, $Profile, $Permission or $Setup"),
    ("1 = 1 2", "unexpected 2", 7, "write a value"),
    (String(repeating: "(", count: 90) + "1", "nested too deeply", 65, "at most 64"),
  ])
  func `an invalid formula is reported with its position and a fix`(
    _ formula: String, _ message: String, _ place: Int, _ fix: String
  ) throws {
    let rule = JSONValue.object(["name": "r", "message": "m", "condition": .string(formula)])
    let problem = #expect(throws: Problems.self) {
      try setUp(#""Account": {"validationRules": [\#(rule.text)]}"#)
    }?.list.first
    #expect(problem?.message.contains(message) == true, "\(problem?.description ?? "")")
    #expect(
      problem?.message.hasSuffix("(at character \(place) of the formula)") == true,
      "\(problem?.description ?? "")")
    #expect(problem?.fix.contains(fix) == true, "\(problem?.fix ?? "")")
    #expect(problem?.path == "objects.Account.validationRules[0].condition")
  }

  @Test func `all errors of an object's setup are reported at once`() throws {
    let problems = #expect(throws: Problems.self) {
      try setUp(
        """
        "Acount": {}, "Case": {"picklists": {"Subject": {}, "Status": {"restrict": true},
          "Type": {"values": [], "restricted": true}}, "required": ["IsClosed", "Sbject"],
          "validationRules": [{"name": "x"}], "fieldUpdates": [
            {"name": "y", "set": {"CaseNumber": "'1'", "Nothing": "'2'"}}, {"name": "z"}]}
        """)
    }
    let words = [
      "no object \"Acount\"", "no picklist \"Subject\"", "no key \"restrict\"", "accepts none",
      "cannot be required", "no field \"Sbject\"", "needs \"message\"", "needs \"condition\"",
      "CaseNumber cannot be set", "no field \"Nothing\"", "needs \"set\"",
    ]
    let found = problems?.list.map(\.message) ?? []
    for word in words { #expect(found.contains { $0.contains(word) }, "\(word): \(found)") }
    #expect(found.count == words.count, "\(found)")
  }

  @Test func `a record type belongs to one object, and must be active`() throws {
    func type(_ object: String, _ active: Bool) throws -> String {
      try sample.make(
        "RecordType",
        [
          "Name": "T", "DeveloperName": "T", "SobjectType": .string(object),
          "IsActive": .bool(active),
        ])
    }
    let (good, retired, foreign) = (
      try type("Case", true), try type("Case", false), try type("Account", true)
    )
    #expect(refusal("Case", ["RecordTypeId": .string(good)]) == [])
    for id in [retired, foreign] {
      let error = try #require(refusal("Case", ["RecordTypeId": .string(id)]).first)
      #expect(error.code == "INVALID_CROSS_REFERENCE_KEY" && error.fields == ["RecordTypeId"])
      #expect(error.message == "Record Type ID: this ID value isn't valid for the user: \(id)")
    }
  }
}

@Suite struct ServedRulesTests {
  @Test func `each row of a collection, a job and a tree is refused separately`() async throws {
    let served = try ServedOrg()
    try served.org.setUp(
      OrgSetup(
        parsing: Array(
          """
          {"objects": {"Account": {"validationRules": [
            {"name": "r", "condition": "BEGINS(Name, 'x')", "message": "No x.", "field": "Name"}]}}}
          """.utf8)))
    func record(_ name: String) -> JSONValue {
      ["attributes": ["type": "Account"], "Name": .string(name)]
    }
    let rows = try await served.send(
      "POST", "/composite/sobjects", ["records": [record("a"), record("xb"), record("c")]])
    #expect((rows.json.array ?? []).map { $0["success"] } == [true, false, true])
    #expect(
      rows.json[1]?["errors"]?[0]
        == [
          "statusCode": "FIELD_CUSTOM_VALIDATION_EXCEPTION", "message": "No x.",
          "fields": ["Name"],
        ])
    let whole = try await served.send(
      "POST", "/composite/sobjects", ["allOrNone": true, "records": [record("d"), record("xe")]])
    #expect(
      (whole.json.array ?? []).map { $0["errors"]?[0]?["statusCode"]?.string } == [
        "ALL_OR_NONE_OPERATION_ROLLED_BACK", "FIELD_CUSTOM_VALIDATION_EXCEPTION",
      ])
    let one = try await served.send("POST", "/sobjects/Account", ["Name": "xf"])
    #expect(one.outcome == "400 FIELD_CUSTOM_VALIDATION_EXCEPTION")
    #expect(one.json[0]?["fields"] == ["Name"])
    let tree = try await served.send(
      "POST", "/composite/tree/Account",
      ["records": [["attributes": ["type": "Account", "referenceId": "r1"], "Name": "xg"]]])
    #expect(tree.status == 400 && tree.json["hasErrors"] == true)
    #expect(try await served.query("SELECT Id FROM Account").json["totalSize"] == 2)
  }

  @Test func `describe shows record types, strict picklists and required fields`() async throws {
    let served = try ServedOrg()
    try served.org.seed(SeedOptions(scale: 1))
    try served.org.setUp(
      OrgSetup(
        parsing: Array(
          #"{"objects": {"Case": {"picklists": {"Status": {"restricted": true}}, "required": ["Subject"]}}}"#
            .utf8)))
    let describe = try await served.send("GET", "/sobjects/Case/describe")
    let types = describe.json["recordTypeInfos"]?.array ?? []
    #expect(types.map { $0["name"]?.string } == ["Master", "Installation", "Repair"])
    let layout = try #require(types.last?["urls"]?["layout"]?.string)
    #expect(try await served.send("GET", layout).status == 200)
    let fields = describe.json["fields"]?.array ?? []
    func field(_ name: String) -> JSONValue? { fields.first { $0["name"]?.string == name } }
    #expect(field("Status")?["restrictedPicklist"] == true)
    #expect(field("Origin")?["restrictedPicklist"] == false)
    #expect(field("Subject")?["nillable"] == false)
  }
}
