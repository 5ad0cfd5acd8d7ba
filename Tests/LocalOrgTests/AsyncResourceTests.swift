import HTTP
import JSON
import LocalOrg
import Testing

@Suite struct AsyncResourceTests {
  @Test func `a batch of JSON is written, with a result for each row in order`() async throws {
    let served = try ServedOrg()
    let job = try await served.async(
      "POST", "job",
      ["operation": "insert", "object": "Account", "contentType": "JSON", "concurrencyMode": 0])
    #expect(job.status == 201)
    #expect(job.json["state"] == "Open")
    let id = try #require(job.json["id"]?.string)
    let batch = try await served.async(
      "POST", "job/\(id)/batch", [["Name": "a", "NumberOfEmployees": 3], ["Site": "x"]])
    #expect(batch.status == 201)
    let place = "job/\(id)/batch/\(batch.json["id"]?.string ?? "")"
    let done = try await served.async("GET", place).json
    #expect(done["state"] == "Completed")
    #expect(done["numberRecordsProcessed"]?.int == 2)
    #expect(done["numberRecordsFailed"]?.int == 1)
    let results = try await served.async("GET", place + "/result").json
    #expect(results[0]?["success"] == true && results[0]?["created"] == true)
    #expect(results[1]?["errors"]?[0]?["statusCode"] == "REQUIRED_FIELD_MISSING")
    #expect(results[1]?["id"] == .null)
    #expect(try await served.async("GET", place + "/request").json[1]?["Site"] == "x")
    let closed = try await served.async("POST", "job/\(id)", ["state": "Closed"]).json
    #expect(closed["state"] == "Closed" && closed["numberBatchesTotal"]?.int == 1)
    #expect(
      try await served.async("POST", "job/\(id)/batch", [["Name": "b"]]).json["exceptionCode"]
        == "InvalidJobState")
  }

  @Test func `a job of XML uses XML, and its rows are CSV`() async throws {
    let served = try ServedOrg()
    let job = try await served.async(
      "POST", "job",
      xml: "<operation>upsert</operation><object>Account</object>"
        + "<externalIdFieldName>External_Id__c</externalIdFieldName><contentType>CSV</contentType>")
    #expect(job.headers["Content-Type"] == "application/xml")
    let id = try #require(job.text.element("id"))
    let batch = try await served.async(
      "POST", "job/\(id)/batch", text: "Name,External_Id__c\r\n\"a & b\",k1\r\n,k2\r\n",
      type: "text/csv")
    let place = "job/\(id)/batch/\(batch.text.element("id") ?? "")"
    let list = try await served.async("GET", "job/\(id)/batch", xml: nil).text
    #expect(list.contains("<batchInfoList"))
    #expect(list.element("state") == "Completed")
    let results = try await served.async("GET", place + "/result", xml: nil)
    #expect(results.headers["Content-Type"] == "text/csv")
    let lines = results.text.split(separator: "\n")
    #expect(lines[0] == #""Id","Success","Created","Error""#)
    #expect(lines[1].hasSuffix(#","true","true","""#))
    #expect(
      lines[2]
        == #""","false","false","REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --""#
    )
    let info = try await served.async("GET", "job/\(id)", xml: nil).text
    #expect(info.element("numberBatchesCompleted") == "1")
    #expect(info.element("state") == "Open")
  }

  @Test func `a query returns its records as CSV or as JSON`() async throws {
    let served = try ServedOrg()
    try served.fill("Account", 2500)
    for type in ["CSV", "JSON"] {
      let job = try await served.async(
        "POST", "job", ["operation": "query", "object": "Account", "contentType": .string(type)])
      let id = try #require(job.json["id"]?.string)
      let batch = try await served.async(
        "POST", "job/\(id)/batch", text: "SELECT Name FROM Account ORDER BY Name", type: "text/csv")
      let isJSON = type == "JSON"
      let batchID = isJSON ? batch.json["id"]?.string : batch.text.element("id")
      let place = "job/\(id)/batch/\(batchID ?? "")"
      let list = try await served.async("GET", place + "/result")
      let result = isJSON ? list.json[0]?.string : list.text.element("result")
      let page = try await served.async("GET", "\(place)/result/\(result ?? "")")
      if isJSON {
        #expect(page.json.array?.count == 2500)
        #expect(page.json[0]?["Name"] == "Account 0")
      } else {
        #expect(page.text.split(separator: "\n").count == 2501)
      }
    }
  }

  @Test func `an invalid query fails its batch, one without records says so`() async throws {
    let served = try ServedOrg()
    let job = try await served.async(
      "POST", "job", ["operation": "query", "object": "Account", "contentType": "CSV"])
    let id = try #require(job.json["id"]?.string)
    func batch(_ soql: String) async throws -> String {
      let batch = try await served.async("POST", "job/\(id)/batch", text: soql, type: "text/csv")
      return "job/\(id)/batch/" + (batch.text.element("id") ?? "")
    }
    let wrong = try await served.async("GET", try await batch("SELECT Nam FROM Account")).text
    #expect(wrong.element("state") == "Failed")
    #expect(wrong.element("stateMessage")?.hasPrefix("InvalidBatch : ") == true)
    let none = try await batch("SELECT Name FROM Account")
    let result = try await served.async("GET", none + "/result").text.element("result") ?? ""
    let page = try await served.async("GET", none + "/result/" + result).text
    #expect(page == "\"Records not found for this query\"\n")
  }

  @Test func `an unknown job and an unknown caller get the API's own message`() async throws {
    let served = try ServedOrg()
    let missing = try await served.async("GET", "job/750000000000000AAA")
    #expect(missing.status == 400)
    #expect(missing.headers["Content-Type"] == "application/json")
    #expect(missing.json["exceptionCode"] == "InvalidJob")
    let stranger = try await served.async("GET", "job/750000000000000AAA", session: "nobody")
    #expect(stranger.status == 400)
    #expect(stranger.json["exceptionCode"] == "InvalidSessionId")
    let wrong = try await served.async(
      "POST", "job", xml: "<operation>insert</operation><object>Nothing</object>")
    #expect(wrong.text.element("exceptionCode") == "InvalidEntity")
    #expect(try await served.async("GET", "nothing").status == 404)
  }
}

extension ServedOrg {
  /// A call of Bulk API 1.
  func async(
    _ method: String, _ path: String, text: String?, type: String, session: String? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method, server.url + "/services/async/66.0/" + path)
    request.headers["X-SFDC-Session"] = session ?? token
    request.headers["Content-Type"] = type
    if let text { request.body = Array(text.utf8) }
    return try await client.send(request)
  }

  func async(_ method: String, _ path: String, _ body: JSONValue? = nil, session: String? = nil)
    async throws -> HTTPResponse
  { try await async(method, path, text: body?.text, type: "application/json", session: session) }

  func async(_ method: String, _ path: String, xml: String?) async throws -> HTTPResponse {
    let head = "<?xml version='1.0' encoding='UTF-8'?>\n<jobInfo xmlns=\"http://x\">"
    return try await async(
      method, path, text: xml.map { head + $0 + "</jobInfo>" },
      type: "application/xml; charset=UTF-8")
  }
}

extension String {
  func element(_ name: String) -> String? {
    let sides = split(separator: "<\(name)>", maxSplits: 1)
    guard sides.count == 2 else { return nil }
    return sides[1].split(separator: "</\(name)>", omittingEmptySubsequences: false).first
      .map(String.init)
  }
}
