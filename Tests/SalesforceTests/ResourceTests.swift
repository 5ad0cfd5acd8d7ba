import HTTP
import JSON
import Salesforce
import Testing

@Suite struct ResourceTests {
  private func answering(_ status: Int, _ body: String) throws -> ScriptedOrg {
    try ScriptedOrg { $0.path.hasPrefix("/services/data/") ? .json(status, body) : nil }
  }

  @Test func `IDs are primed with a date or a token, never with both`() async throws {
    let scripted = try answering(
      200,
      """
      {"primingRecords":{"Account":{"012000000000000AAA":[{"id":"001S000001QEDnz",
        "systemModstamp":"2021-08-23T18:42:32.000Z"}],"012S00000009B8HIAU":[]},"Contact":{}},
       "relayToken":"more","ruleErrors":[{"ruleId":"r1"}],
       "stats":{"ruleCountTotal":3,"recordCountTotal":200,"ruleCountServed":2,"recordCountServed":1}}
      """)
    let session = try await scripted.session()
    let page = try await session.primingRecords(changedAfter: 1_643_601_010_000)
    #expect(
      page.records["Account"]
        == [PrimingPage.Record(id: "001S000001QEDnzIAH", systemModstamp: 1_629_744_152_000)])
    #expect(page.relayToken == "more")
    #expect(page.ruleErrors == ["r1"])
    #expect(page.statistics.recordCountTotal == 200)
    _ = try await session.primingRecords(changedAfter: 5, relayToken: "a+b")
    _ = try await session.primingRecords(changedAfter: 0)
    #expect(
      scripted.log.map(\.rawTarget)
        == ["?changedAfterTimestamp=2022-01-31T03%3A50%3A10.000Z", "?relayToken=a%2Bb", ""]
        .map { "/services/data/v66.0/connect/briefcase/priming-records" + $0 })
  }

  @Test(arguments: [
    #"{"ruleErrors":[]}"#, #"{"primingRecords":{"A":[]},"ruleErrors":[]}"#,
    #"{"primingRecords":{"A":{"r":[{"id":"x","systemModstamp":"2021-08-23T18:42:32.000Z"}]}},"ruleErrors":[]}"#,
    #"{"primingRecords":{"A":{"r":[{"id":"001S000001QEDnz"}]}},"ruleErrors":[]}"#,
  ])
  func `a priming page with a fault is rejected completely`(body: String) async throws {
    let session = try await answering(200, body).session()
    let error = await #expect(throws: OrgError.self) { try await session.primingRecords() }
    #expect(error?.kind == .invalidResponse)
  }

  @Test func `a retrieve is a read that posts its IDs`() async throws {
    let number = Kept(0)
    let scripted = try ScriptedOrg { request in
      guard request.method == "POST", request.path.contains("composite") else { return nil }
      let first = number.change {
        $0 += 1
        return $0 == 1
      }
      return first ? ServerResponse(status: 503) : .json(200, #"[{"Id":"a"},null]"#)
    }
    let session = try await scripted.session()
    let body = try await session.retrieve("Account", ids: ["a", "b"], fields: ["Id", "Name"])
    #expect(text(body) == #"[{"Id":"a"},null]"#)
    #expect(text(scripted.log[1].body) == #"{"ids":["a","b"],"fields":["Id","Name"]}"#)
    #expect(scripted.log[1].path == "/services/data/v66.0/composite/sobjects/Account")
  }

  @Test func `records of more IDs than fit in one retrieve come in several`() async throws {
    let scripted = try ScriptedOrg { request in
      guard request.path.hasSuffix("/composite/sobjects/Account"),
        let ids = (try? JSONValue(parsing: request.body))?["ids"]?.array
      else { return nil }
      return .json(200, JSONValue.array(ids.map { ["Id": $0] }).text)
    }
    let ids = (0..<2001).map { RecordID("00100000000\(1000 + $0)")?.text18 ?? "" }
    let found = try await scripted.session().records("Account", ids: ids, fields: ["Id"])
    #expect(Set(found.keys) == Set(ids))
    #expect(scripted.log.count == 2)
  }

  @Test func `collections are sent as given and answered by position`() async throws {
    let scripted = try answering(
      200,
      """
      [{"id":"001S000001QEDnzIAH","success":true,"errors":[],"created":true},
       {"success":false,"errors":[{"statusCode":"UNABLE_TO_LOCK_ROW","message":"later","fields":["A"]}]}]
      """)
    let session = try await scripted.session()
    let records = [#"{"Name":"a"}"#, #"{"Name":1.50}"#].map { Array($0.utf8) }
    let created = try await session.create(records)
    #expect(created.map(\.success) == [true, false])
    #expect(created[0].id == "001S000001QEDnzIAH")
    #expect(created[0].created == true)
    #expect(created[1].errors[0].statusCode == "UNABLE_TO_LOCK_ROW")
    #expect(created[1].errors[0].fields == ["A"])
    _ = try await session.update(records, allOrNone: true)
    _ = try await session.upsert("X__c", externalIDField: "Ext__c", records)
    _ = try await session.delete(["a", "b"])
    let log = scripted.log
    #expect(log.map(\.method) == ["POST", "PATCH", "PATCH", "DELETE"])
    #expect(text(log[0].body) == #"{"allOrNone":false,"records":[{"Name":"a"},{"Name":1.50}]}"#)
    #expect(text(log[1].body).hasPrefix(#"{"allOrNone":true,"#))
    #expect(log[2].path == "/services/data/v66.0/composite/sobjects/X__c/Ext__c")
    #expect(log[3].rawTarget == "/services/data/v66.0/composite/sobjects?allOrNone=false&ids=a,b")
  }

  @Test func `a wrong number of results is not assigned to records`() async throws {
    let session = try await answering(200, #"[{"id":"x","success":true,"errors":[]}]"#).session()
    let error = await #expect(throws: OrgError.self) {
      try await session.create([[0x7B, 0x7D], [0x7B, 0x7D]])
    }
    #expect(error?.kind == .invalidResponse)
    #expect(error?.isAmbiguous == true)
  }

  @Test func `nothing is sent for no records, or for more than two hundred`() async throws {
    let scripted = try answering(200, "[]")
    let session = try await scripted.session()
    #expect(try await session.create([]).isEmpty)
    #expect(try await session.delete([]).isEmpty)
    let error = await #expect(throws: OrgError.self) {
      try await session.create([[UInt8]](repeating: [0x7B, 0x7D], count: 201))
    }
    #expect(error?.kind == .configuration)
    #expect(scripted.log.isEmpty)
  }

  @Test func `composite results are matched by name`() async throws {
    let scripted = try answering(
      200,
      """
      {"compositeResponse":[
        {"body":[{"errorCode":"PRECONDITION_FAILED","message":"changed"}],"httpHeaders":{},
         "httpStatusCode":412,"referenceId":"b"},
        {"body":null,"httpHeaders":{"Last-Modified":"x"},"httpStatusCode":204,"referenceId":"a"}]}
      """)
    let session = try await scripted.session()
    let results = try await session.composite([
      CompositeRequest(
        method: "PATCH", url: "/services/data/v66.0/sobjects/Account/1", referenceId: "a",
        body: Array(#"{"Name":"n"}"#.utf8),
        headers: [("If-Unmodified-Since", "Wed, 31 Jan 2024 12:34:56 GMT")]),
      CompositeRequest(
        method: "DELETE", url: "/services/data/v66.0/sobjects/Account/2", referenceId: "b"),
    ])
    #expect(results.map(\.referenceId) == ["a", "b"])
    #expect(results.map(\.isSuccess) == [true, false])
    #expect(results[1].errorCode == "PRECONDITION_FAILED")
    let sent = try JSONValue(parsing: scripted.log[0].body)
    #expect(sent["allOrNone"] == false)
    let first = sent["compositeRequest"]?[0]
    #expect(
      first?["httpHeaders"]?["If-Unmodified-Since"]?.string == "Wed, 31 Jan 2024 12:34:56 GMT")
    #expect(first?["body"]?["Name"] == "n")
    #expect(sent["compositeRequest"]?[1]?["body"] == nil)
  }

  @Test(arguments: [
    #"{"compositeResponse":[]}"#,
    #"{"compositeResponse":[{"httpStatusCode":204,"referenceId":"z"}]}"#,
    #"{"compositeResponse":[{"httpStatusCode":204,"referenceId":"a"},{"httpStatusCode":204,"referenceId":"a"}]}"#,
    #"{"compositeResponse":[{"referenceId":"a"}]}"#,
  ])
  func `mismatched composite results leave the write unconfirmed`(body: String) async throws {
    let session = try await answering(200, body).session()
    let error = await #expect(throws: OrgError.self) {
      try await session.composite([CompositeRequest(method: "DELETE", url: "/x", referenceId: "a")])
    }
    #expect(error?.kind == .invalidResponse)
    #expect(error?.isAmbiguous == true)
  }

  @Test func `a description has the user's permissions for each field`() async throws {
    let session = try await answering(
      200,
      """
      {"name":"Contact","keyPrefix":"003","createable":true,"updateable":true,"deletable":false,
       "queryable":true,"fields":[
        {"name":"AccountId","type":"reference","length":18,"createable":true,"updateable":true,
         "nillable":true,"referenceTo":["Account"],"relationshipName":"Account"},
        {"name":"Ext__c","type":"string","length":40,"externalId":true,"idLookup":true,
         "unique":true,"createable":true}]}
      """
    ).session()
    let describe = try await session.describe("Contact")
    #expect(describe.keyPrefix == "003")
    #expect(describe.isDeletable == false)
    #expect(describe.field("accountid")?.referenceTo == ["Account"])
    let external = try #require(describe.field("Ext__c"))
    #expect(external.isExternalID && external.isUnique && external.isIDLookup)
    #expect(external.isUpdateable == false)
    #expect(external.length == 40)
    #expect(describe.field("No__c") == nil)
  }

  @Test func `an unknown object is not found`() async throws {
    let session = try await answering(
      404, #"[{"errorCode":"NOT_FOUND","message":"The requested resource does not exist"}]"#
    ).session()
    let error = await #expect(throws: OrgError.self) { try await session.describe("No/such?") }
    #expect(error?.kind == .notFound)
    #expect(error?.request == "GET /services/data/v66.0/sobjects/No%2Fsuch%3F/describe")
  }

  @Test func `the user and the versions can be requested`() async throws {
    let session = try await ScriptedOrg().session()
    #expect(try await session.userInfo().username == "ada@example.com")
    #expect(try await session.versions() == ["65.0", "66.0", "67.0"])
  }
}
