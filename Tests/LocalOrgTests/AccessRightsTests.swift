import HTTP
import JSON
import LocalOrg
import Testing

@Suite struct AccessRightsTests {
  let sample: SampleOrg
  let account: String
  private static let secret = "canary of the trade"

  /// The rights that the setup removes from technicians, and those that ada gets back.
  static let setup = """
    {
      "profiles": [{
        "name": "Field Technician",
        "objects": {
          "Account": {
            "delete": false,
            "fields": {"Tradestyle": "none", "ShippingAddress": "none", "Rating": "read",
              "ParentId": "none", "External_Id__c": "none"}
          },
          "Opportunity": {"read": false},
          "Case": {"create": false, "edit": false}
        }
      }],
      "permissionSets": [{
        "name": "Trade", "users": ["ADA@example.com"],
        "objects": {
          "Account": {"fields": {"Tradestyle": "edit"}},
          "Opportunity": {"read": true, "create": true, "edit": true},
          "Case": {"edit": true, "delete": true}
        }
      }]
    }
    """

  init() throws {
    sample = try SampleOrg()
    let parent = try sample.make("Account", ["Name": "Parent"])
    account = try sample.make(
      "Account",
      [
        "Name": "Alpha", "Tradestyle": .string(Self.secret), "ShippingCity": "Hidden City",
        "BillingCity": "Shown City", "Rating": "Hot", "ParentId": .string(parent),
        "External_Id__c": "A-1",
      ])
    for id in [parent, account] {
      for name in ["ada", "ben"] { try sample.org.share(id, with: name + "@example.com") }
    }
    try sample.org.setUp(OrgSetup(parsing: Array(Self.setup.utf8)))
  }

  private func refusal(_ soql: String, as user: OrgUser) -> OrgError? {
    do {
      _ = try sample.org.query(soql, as: user)
      return nil
    } catch { return error }
  }

  @Test(arguments: [
    "SELECT Tradestyle FROM Account", "SELECT Id FROM Account WHERE Tradestyle != null",
    "SELECT Id FROM Account WHERE (NOT Tradestyle LIKE 'x%')",
    "SELECT Id FROM Account ORDER BY Tradestyle", "SELECT MAX(Tradestyle) FROM Account",
    "SELECT Tradestyle, COUNT(Id) FROM Account GROUP BY Tradestyle",
    "SELECT COUNT(Id) FROM Account GROUP BY Name HAVING MAX(Tradestyle) != 'x'",
    "SELECT Account.Tradestyle FROM Contact",
    "SELECT Id FROM Contact WHERE Account.Tradestyle = 'x'",
    "SELECT Id FROM Contact WHERE AccountId IN (SELECT Id FROM Account WHERE Tradestyle = 'x')",
    "SELECT (SELECT Tradestyle FROM ChildAccounts) FROM Account",
    "SELECT TYPEOF What WHEN Account THEN Tradestyle END FROM Event",
    "SELECT COUNT() FROM Account WHERE Tradestyle = 'x'",
  ])
  func `a hidden field is refused in a query like an unknown one`(_ soql: String) throws {
    let error = try #require(refusal(soql, as: sample.ben), "\(soql)")
    #expect(error.code == "INVALID_FIELD", "\(soql): \(error)")
    if soql.contains("ChildAccounts") {
      #expect(error.message.contains("relationship 'ChildAccounts'"))
    } else {
      #expect(error.message.contains("No such column 'Tradestyle' on entity 'Account'"))
    }
    // The other user's view differs.
    if !soql.contains("ChildAccounts") { #expect(refusal(soql, as: sample.ada) == nil) }
  }

  @Test func `the target of a hidden lookup is hidden, too`() throws {
    #expect(
      refusal("SELECT Parent.Name FROM Account", as: sample.ben)?.message.contains(
        "Didn't understand relationship 'Parent'") == true)
    #expect(try sample.records("SELECT ParentId, Parent.Name FROM Account").count == 2)
    let error = refusal("SELECT Id FROM Opportunity", as: sample.ben)
    #expect(error?.code == "INVALID_TYPE")
    #expect(error?.message.contains("sObject type 'Opportunity' is not supported") == true)
    #expect(
      refusal("SELECT (SELECT Id FROM Opportunities) FROM Account", as: sample.ben)?.code
        == "INVALID_FIELD")
    #expect(refusal("SELECT Id FROM Opportunity", as: sample.ada) == nil)
  }

  @Test func `no kind of read returns a byte of it`() throws {
    let org = sample.org
    let ids = [account]
    func texts(_ user: OrgUser) throws -> [String] {
      [
        String(
          decoding: try org.query("SELECT FIELDS(ALL) FROM Account LIMIT 200", as: user).records,
          as: UTF8.self), JSONValue.object(try org.read("Account", id: account, as: user)).text,
        String(decoding: try org.search("FIND {canary}", as: user).records, as: UTF8.self),
      ]
    }
    for text in try texts(sample.ben) {
      #expect(!text.contains("canary") && !text.contains("Hidden City"))
      #expect(!text.contains("Tradestyle") && !text.contains("ShippingAddress"))
    }
    #expect(try texts(sample.ben)[2] == "[]")
    #expect(try texts(sample.ben)[0].contains("Shown City"))
    let all = try texts(sample.ada)
    #expect(all[0].contains(Self.secret) && all[1].contains(Self.secret))
    #expect(all[2].contains(account))
    for fields in [["Tradestyle"], ["Name", "ShippingCity"], ["Parent.Name"]] {
      let error = #expect(throws: OrgError.self) {
        try org.retrieve("Account", ids: ids, fields: fields, as: sample.ben)
      }
      #expect(error?.code == "INVALID_FIELD")
      #expect(throws: OrgError.self) {
        try org.read("Account", id: account, fields: fields, as: sample.ben)
      }
    }
    let key = #expect(throws: OrgError.self) {
      try org.find("Account", externalField: "External_Id__c", value: "A-1", as: sample.ben)
    }
    #expect(key?.status == 404)
    #expect(
      try org.find("Account", externalField: "External_Id__c", value: "A-1", as: sample.admin)
        == account)
  }

  @Test func `a read-only field cannot be written, a hidden one does not exist`() throws {
    func error(_ fields: JSONObject, as user: OrgUser) -> OrgError? {
      sample.org.update("Account", id: account, fields, as: user).errors.first
    }
    let hidden = try #require(error(["Tradestyle": "x"], as: sample.ben))
    #expect(hidden.code == "INVALID_FIELD")
    #expect(hidden.message == "No such column 'Tradestyle' on sobject of type Account")
    let readOnly = try #require(error(["Rating": "Cold"], as: sample.ben))
    #expect(readOnly.code == "INVALID_FIELD_FOR_INSERT_UPDATE")
    #expect(readOnly.fields == ["Rating"])
    #expect(readOnly.message.contains("check the security settings of this field"))
    #expect(error(["Tradestyle": "x"], as: sample.ada) == nil)
    #expect(error(["Parent": ["External_Id__c": "A-1"]], as: sample.ben)?.code == "INVALID_FIELD")
    let made = sample.org.create("Account", ["Name": "B", "Rating": "Hot"], as: sample.ben)
    #expect(made.errors.first?.code == "INVALID_FIELD_FOR_INSERT_UPDATE")
    #expect(sample.org.create("Account", ["Name": "B"], as: sample.ben).errors.isEmpty)
    let upsert = sample.org.upsert(
      "Account", externalField: "External_Id__c", value: "A-1", ["Phone": "1"], as: sample.ben)
    #expect(upsert.errors.first?.status == 404)
  }

  @Test func `rights to an object are checked before those to its records`() throws {
    let own = try sample.make("Account", ["Name": "Own"], as: sample.ben)
    let deleted = sample.org.delete("Account", id: own, as: sample.ben)
    #expect(deleted.errors.first?.code == "INSUFFICIENT_ACCESS_OR_READONLY")
    let create = sample.org.create("Case", ["Subject": "x"], as: sample.ben).errors.first
    #expect(create?.code == "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY")
    let incident = try sample.make("Case", ["Subject": "x"])
    for name in ["ada", "ben"] { try sample.org.transfer(incident, to: name + "@example.com") }
    try sample.org.share(incident, with: "ada@example.com")
    func change(_ user: OrgUser) -> String? {
      sample.org.update("Case", id: incident, ["Subject": "y"], as: user).errors.first?.code
    }
    #expect(change(sample.ben) == "INSUFFICIENT_ACCESS_OR_READONLY")
    #expect(change(sample.ada) == nil)
    let hidden = sample.org.create(
      "Opportunity", ["Name": "o", "StageName": "Proposal", "CloseDate": "2024-01-01"],
      as: sample.ben)
    #expect(hidden.errors.first?.code == "NOT_FOUND")
    let access = try sample.records(
      """
      SELECT RecordId, HasEditAccess, HasDeleteAccess FROM UserRecordAccess
      WHERE UserId = '\(sample.ben.id)' AND RecordId IN ('\(own)', '\(incident)')
      """, as: sample.ben)
    #expect(access.map { $0["HasEditAccess"] } == [true, false])
    #expect(access.map { $0["HasDeleteAccess"] } == [false, false])
  }

  @Test func `a briefcase rule with a field that its user may not read is an error`() throws {
    try sample.org.addBriefcase(
      "Trade",
      rules: [
        BriefcaseRule("Account", filter: "Tradestyle != null"),
        BriefcaseRule("Account", orderBy: "Tradestyle"), BriefcaseRule("Opportunity"),
        BriefcaseRule("Account", filter: "Name = 'Alpha'"),
      ], users: ["ada@example.com", "ben@example.com"])
    let ben = try sample.org.primingRecords(as: sample.ben, app: nil)
    #expect(ben.ruleErrors.count == 3 && ben.entries.map(\.id) == [account])
    let ada = try sample.org.primingRecords(as: sample.ada, app: nil)
    #expect(ada.ruleErrors.isEmpty && ada.recordCountTotal == 4)
  }

  @Test func `a setup is stored in the org, and the next one replaces it`() throws {
    let again = try Org(
      directory: sample.directory.path, options: .init(clockStart: SampleOrg.start))
    #expect(throws: OrgError.self) {
      try again.query("SELECT Tradestyle FROM Account", as: sample.ben)
    }
    try again.setUp(
      OrgSetup(
        parsing: Array(
          """
          {"profiles": [{"name": "Guest", "users": ["ben@example.com"],
            "objects": {"Account": {"read": false, "create": true}}}]}
          """.utf8)))
    let ben = try #require(again.user(named: "ben@example.com"))
    #expect(ben.profileName == "Guest")
    #expect(again.schema("Account", as: ben) == nil)
    #expect(again.schema("Contact", as: ben) != nil)
    _ = try again.query("SELECT Tradestyle FROM Account", as: sample.ada)
    let unknown = try OrgSetup(
      parsing: Array(#"{"permissionSets": [{"name": "X", "users": ["nobody@x.org"]}]}"#.utf8))
    let error = #expect(throws: OrgError.self) { try again.setUp(unknown) }
    #expect(error?.message == "there is no user nobody@x.org in this org")
    #expect(again.schema("Account", as: ben) == nil)
  }

  @Test func `all errors of a setup are reported with their positions`() throws {
    let text = """
      {"profile": [{"name": "A", "objects": {
        "Acount": {"read": true},
        "User": {"read": false},
        "Account": {"fields": {"Tradestile": "none", "Name": "none",
          "BillingCity": "none", "Phone": "hide"}, "read": 1}}}]}
      """
    let problems = #expect(throws: Problems.self) {
      try OrgSetup(parsing: Array(text.utf8), name: "setup.json")
    }
    let account = "profile[0].objects.Account"
    #expect(
      problems?.list.map { "\($0.line):\($0.column) \($0.path): \($0.message)" } == [
        #"1:2 profile: the setup of an org has no key "profile""#,
        #"2:3 profile[0].objects.Acount: the org has no object "Acount" that can be set up"#,
        #"3:3 profile[0].objects.User: the org has no object "User" that can be set up"#,
        #"4:26 \#(account).fields.Tradestile: Account has no field "Tradestile""#,
        "4:48 \(account).fields.Name: there are no rights to Account.Name: an org shows it to "
          + "all users",
        "5:5 \(account).fields.BillingCity: there are no rights to Account.BillingCity: an org "
          + "shows it to all users",
        #"5:37 \#(account).fields.Phone: "hide" is not a right to a field"#,
        "5:54 \(account).read: this must be true or false, not a number",
      ])
    let fixes = problems?.list.map(\.fix) ?? []
    #expect(fixes[0] == #"did you mean "profiles"?"#)
    #expect(fixes[1].hasPrefix(#"did you mean "Account"?"#))
    #expect(fixes[3].hasPrefix(#"did you mean "Tradestyle"?"#))
    #expect(fixes[5] == #"name "BillingAddress", which contains it"#)
  }
}

@Suite struct ServedAccessRightsTests {
  let served: ServedOrg
  let ben: String
  init() throws {
    served = try ServedOrg { $0.adminSecret = "open sesame" }
    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    ben = try served.server.token(for: "ben@example.com")
  }

  private func setUp(_ text: String) async throws -> HTTPResponse {
    var request = HTTPRequest("PUT", served.server.url + "/attache/setup")
    request.headers["X-Attache-Admin"] = "open sesame"
    request.body = Array(text.utf8)
    return try await served.client.send(request)
  }

  private static let hidden = """
    {"profiles": [{"name": "Field Technician", "objects": {
      "Account": {"create": false, "fields": {"Tradestyle": "none", "Rating": "read"}},
      "Lead": {"read": false}}}]}
    """

  @Test func `describe, layouts and the list of objects show the user's rights`() async throws {
    let path = "/sobjects/Account/describe"
    let before = try await served.send("GET", path, token: ben)
    #expect(try await setUp(Self.hidden).status == 204)
    let tag = try #require(before.headers["ETag"])
    let after = try await served.send("GET", path, headers: ["If-None-Match": tag], token: ben)
    #expect(after.status == 200 && after.headers["ETag"] != tag)
    let fields = after.json["fields"]?.array ?? []
    #expect(!fields.contains { $0["name"]?.string == "Tradestyle" })
    let rating = fields.first { $0["name"]?.string == "Rating" }
    #expect(rating?["updateable"] == false && rating?["createable"] == false)
    #expect(after.json["createable"] == false && after.json["updateable"] == true)
    for other in [
      "/ui-api/layout/Account", "/ui-api/layout/Account?mode=Edit",
      "/sobjects/Account/describe/layouts", "/sobjects/Account",
    ] {
      let text = try await served.send("GET", other, token: ben).text
      #expect(text.contains("Account") && !text.contains("Tradestyle"), "\(other)")
    }
    #expect(try await !served.send("GET", "/sobjects", token: ben).text.contains("\"Lead\""))
    #expect(try await served.send("GET", "/sobjects/Lead/describe", token: ben).status == 404)
    #expect(try await served.send("GET", "/sobjects/Lead/describe").status == 200)
    #expect(try await served.send("GET", path).text.contains("Tradestyle"))
    #expect(try await setUp(#"{"profles": []}"#).outcome == "400 INVALID_INPUT")
    #expect(try await setUp("{}").status == 204)
    #expect(try await served.send("GET", path, token: ben).text.contains("Tradestyle"))
  }

  @Test func `collections, composites, trees and jobs respect the rights`() async throws {
    #expect(try await setUp(Self.hidden).status == 204)
    let record: JSONValue = [
      "attributes": ["type": "Account"], "Name": "x", "Tradestyle": "canary",
    ]
    let rows = try await served.send(
      "POST", "/composite/sobjects", ["records": [record, ["attributes": ["type": "Lead"]]]],
      token: ben)
    let codes = (rows.json.array ?? []).map { $0["errors"]?[0]?["statusCode"]?.string }
    #expect(codes == ["CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "INVALID_TYPE"])
    let retrieve = try await served.send(
      "POST", "/composite/sobjects/Account",
      ["ids": ["001000000000001"], "fields": ["Tradestyle"]], token: ben)
    #expect(retrieve.outcome == "400 INVALID_FIELD")
    let query = "/services/data/v66.0/query?q=SELECT+Tradestyle+FROM+Account"
    let composite = try await served.send(
      "POST", "/composite",
      ["compositeRequest": [["method": "GET", "url": .string(query), "referenceId": "a"]]],
      token: ben)
    #expect(composite.json["compositeResponse"]?[0]?["httpStatusCode"]?.int == 400)
    let job = try await served.send(
      "POST", "/jobs/query",
      ["operation": "query", "query": "SELECT Tradestyle FROM Account"], token: ben)
    #expect(job.outcome == "400 INVALID_FIELD")
    let ingest = try await served.send(
      "POST", "/jobs/ingest", ["operation": "insert", "object": "Account"], token: ben)
    let id = try #require(ingest.json["id"]?.string)
    var upload = HTTPRequest(
      "PUT", served.server.url + ServedOrg.version + "/jobs/ingest/\(id)/batches")
    upload.headers["Authorization"] = "Bearer " + ben
    upload.headers["Content-Type"] = "text/csv"
    upload.body = Array("Name,Tradestyle\nx,y\n".utf8)
    #expect(try await served.client.send(upload).status == 201)
    let path = "/jobs/ingest/\(id)"
    _ = try await served.send("PATCH", path, ["state": "UploadComplete"], token: ben)
    let ended = try await served.send("GET", path, token: ben)
    #expect(ended.json["state"] == "Failed")
    #expect(ended.json["errorMessage"]?.string?.contains("Tradestyle") == true)
    let missing = try await served.send(
      "POST", "/jobs/ingest", ["operation": "insert", "object": "Lead"], token: ben)
    #expect(missing.outcome == "400 INVALIDENTITY")
    #expect(try await served.query("SELECT Id FROM Account").json["totalSize"] == 0)
  }

  @Test func `a parent that may not be set cannot be set by its key either`() async throws {
    let made = try await served.send(
      "POST", "/sobjects/Account", ["Name": "x", "CreatedBy": ["Username": "ben@example.com"]])
    #expect(made.outcome == "400 INVALID_FIELD_FOR_INSERT_UPDATE")
  }
}
