import JSON
import Testing

@Suite struct BulkIngestTests {
  private let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test func `rows are inserted, and each has its result`() async throws {
    let id = try await served.ingest(
      "insert", "Account",
      "Name,External_Id__c,NumberOfEmployees\n\"Two\nlines\",e1,5\n,e2,1\nThird,e3,many\n")
    let job = try await served.job("ingest/\(id)")
    #expect(job["state"] == "JobComplete")
    #expect(job["numberRecordsProcessed"]?.int == 3)
    #expect(job["numberRecordsFailed"]?.int == 2)
    let done = try await served.rows("ingest/\(id)/successfulResults")
    #expect(done[0] == ["sf__Id", "sf__Created", "Name", "External_Id__c", "NumberOfEmployees"])
    #expect(Array(done[1][1...]) == ["true", "Two\nlines", "e1", "5"])
    let stored = try await served.query("SELECT Id, Name, NumberOfEmployees FROM Account")
    #expect(stored.json["records"]?[0]?["Id"]?.string == done[1][0])
    #expect(stored.json["records"]?[0]?["Name"] == "Two\nlines")
    #expect(stored.json["records"]?[0]?["NumberOfEmployees"]?.int == 5)
    let failed = try await served.rows("ingest/\(id)/failedResults")
    #expect(failed[1][1] == "REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --")
    #expect(failed[2][1].hasPrefix("JSON_PARSER_ERROR:"))
    #expect(failed.map { $0[3] } == ["External_Id__c", "e2", "e3"])
    #expect(try await served.rows("ingest/\(id)/unprocessedrecords").count == 1)
  }

  @Test func `an empty cell leaves a field unchanged, and #N/A clears it`() async throws {
    let account = try await served.create(
      "Account", ["Name": "A", "Site": "here", "Phone": "1", "External_Id__c": "key"])
    let contact = try await served.create("Contact", ["LastName": "C", "DoNotCall": true])
    _ = try await served.ingest("update", "Account", "Id,Site,Phone\n\(account),#N/A,\n")
    _ = try await served.ingest(
      "update", "Contact", "Id,Account.External_Id__c,DoNotCall\n\(contact),key,0\n")
    let record = try await served.send("GET", "/sobjects/Account/\(account)").json
    #expect(record["Site"] == .null)
    #expect(record["Phone"] == "1")
    let child = try await served.send("GET", "/sobjects/Contact/\(contact)").json
    #expect(child["AccountId"]?.string == account)
    #expect(child["DoNotCall"] == false)
  }

  @Test func `an upsert finds records by an external id, a delete by id`() async throws {
    let known = try await served.create("Account", ["Name": "old", "External_Id__c": "e1"])
    let upsert = try await served.ingest(
      "upsert", "Account", "External_Id__c;Name\r\ne1;new\r\ne2;made\r\n;lost\r\n",
      [
        "externalIdFieldName": "External_Id__c", "columnDelimiter": "SEMICOLON",
        "lineEnding": "CRLF",
      ])
    let results = try await served.rows("ingest/\(upsert)/successfulResults", delimiter: ";")
    #expect(results[1] == [known, "false", "e1", "new"])
    #expect(results[2][1...] == ["true", "e2", "made"])
    let failed = try await served.rows("ingest/\(upsert)/failedResults", delimiter: ";")
    #expect(failed[1][1].hasPrefix("MISSING_ARGUMENT:External_Id__c not specified"))
    let delete = try await served.ingest(
      "delete", "Account", "Id\n\(known)\n\(known)\n001000000000000AAA\n")
    #expect(try await served.rows("ingest/\(delete)/successfulResults").count == 2)
    let refused = try await served.rows("ingest/\(delete)/failedResults")
    #expect(refused[1] == [known, "ENTITY_IS_DELETED:entity is deleted:--", known])
    #expect(refused[2][1].hasPrefix("INVALID_CROSS_REFERENCE_KEY:"))
    #expect(try await served.query("SELECT Name FROM Account").json["records"]?.array?.count == 1)
  }

  @Test(arguments: [
    ("insert", "Nam\nx\n", "InvalidBatch : Field name not found : Nam"),
    (
      "insert", "Name\r\nx\r\n",
      "ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is LF"
    ),
    ("insert", "Name,Site\nx\n", "InvalidBatch : a row has 1 fields, the header has 2"),
    ("insert", "Name\n\"x\n", "InvalidBatch : line 2: the quote opened here is never closed"),
    ("delete", "Id,Name\n1,2\n", "InvalidBatch : A delete has the one column Id"),
  ])
  func `invalid CSV fails the job`(operation: String, csv: String, message: String) async throws {
    let id = try await served.ingest(operation, "Account", csv)
    let job = try await served.job("ingest/\(id)")
    #expect(job["state"] == "Failed")
    #expect(job["errorMessage"]?.string == message)
    #expect(job["numberRecordsProcessed"]?.int == 0)
  }

  @Test func `the remaining rows of an aborted job are reported as unprocessed`() async throws {
    let served = try ServedOrg { $0.bulkRuns = 1 }
    let csv = "Name\n" + (0..<4500).map { "A\($0)\n" }.joined()
    let id = try await served.ingest("insert", "Account", csv)
    #expect(
      try await served.send("GET", "/jobs/ingest/\(id)/failedResults").outcome
        == "400 INVALIDJOBSTATE")
    #expect(try await served.job("ingest/\(id)")["state"] == "InProgress")
    _ = try await served.send("PATCH", "/jobs/ingest/\(id)", ["state": "Aborted"])
    #expect(try await served.job("ingest/\(id)")["state"] == "Aborted")
    let rest = try await served.rows("ingest/\(id)/unprocessedrecords")
    #expect(rest.count == 501)
    #expect(rest[1] == ["A4000"])
    #expect(try await served.rows("ingest/\(id)/successfulResults").count == 4001)
    #expect(try await served.query("SELECT COUNT() FROM Account").json["totalSize"] == 4000)
  }

  @Test func `a job accepts its data once, as text/csv, while it is open`() async throws {
    let job = try await served.send(
      "POST", "/jobs/ingest", ["operation": "insert", "object": "account"])
    #expect(job.json["object"] == "Account")
    #expect(job.json["state"] == "Open")
    let id = try #require(job.json["id"]?.string)
    #expect(job.json["contentUrl"]?.string == "services/data/v66.0/jobs/ingest/\(id)/batches")
    let typed = try await served.upload(id, "Name\nx\n", type: "application/json")
    #expect(typed.outcome == "415 UNSUPPORTED_MEDIA_TYPE")
    #expect(try await served.upload(id, "Name\nx\n").status == 201)
    #expect(try await served.upload(id, "Name\nx\n").outcome == "400 INVALIDJOBSTATE")
    #expect(try await served.send("DELETE", "/jobs/ingest/\(id)").outcome == "400 INVALIDJOBSTATE")
    try await served.close(id)
    #expect(try await served.upload(id, "Name\nx\n").outcome == "400 INVALIDJOBSTATE")
    #expect(try await served.query("SELECT COUNT() FROM Account").json["totalSize"] == 1)
    #expect(try await served.send("DELETE", "/jobs/ingest/\(id)").status == 204)
  }

  @Test(
    arguments: [
      (["operation": "insert", "object": "Nothing"], "400 INVALIDENTITY"),
      (["operation": "query", "object": "Account"], "400 INVALIDJOB"),
      (["operation": "upsert", "object": "Account"], "400 INVALIDJOB"),
      (
        ["operation": "upsert", "object": "Account", "externalIdFieldName": "Site"],
        "400 INVALIDJOB"
      ),
      (["operation": "hardDelete", "object": "Account"], "400 FEATURENOTENABLED"),
      (["operation": "insert", "object": "Account", "contentType": "XML"], "400 INVALIDJOB"),
      (["operation": "insert", "object": "Account", "lineEnding": "CR"], "400 INVALIDJOB"),
      (["operation": "insert", "object": "Account", "objekt": "x"], "400 JSON_PARSER_ERROR"),
    ] as [([String: String], String)])
  func `an invalid job is refused`(body: [String: String], outcome: String) async throws {
    let members = JSONObject(body.map { ($0.key, JSONValue.string($0.value)) })
    #expect(try await served.send("POST", "/jobs/ingest", .object(members)).outcome == outcome)
  }
}
