import HTTP
import JSON
import Testing

@Suite struct ClientNeedsTests {
  private let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test func `records are counted, and an object without any is omitted`() async throws {
    try served.fill("Account", 3)
    let answer = try await served.send("GET", "/limits/recordCount?sObjects=Account,Contact")
    #expect(answer.json["sObjects"] == [["count": 3, "name": "Account"]])
    let all = try await served.send("GET", "/limits/recordCount").json["sObjects"]?.array ?? []
    #expect(all.contains(["count": 3, "name": "Account"]))
  }

  @Test func `jobs are listed among the limits`() async throws {
    _ = try await served.queryJob("SELECT Id FROM Account")
    _ = try await served.ingest("insert", "Account", "Name\nx\n")
    let limits = try await served.send("GET", "/limits").json
    #expect(limits["DailyBulkV2QueryJobs"]?["Remaining"]?.int == 9_999)
    #expect(limits["DailyBulkApiBatches"]?["Remaining"]?.int == 14_999)
  }

  @Test func `older clients get page layouts`() async throws {
    let list = try await served.send("GET", "/sobjects/Account/describe/layouts").json
    let address = try #require(list["recordTypeMappings"]?[0]?["urls"]?["layout"]?.string)
    let layout = try await served.send("GET", address).json
    #expect(layout["id"] == list["layouts"]?[0]?["id"])
    #expect(layout["detailLayoutSections"]?[0]?["layoutRows"]?[0]?["layoutItems"]?[0] != nil)
    #expect(try await served.send("GET", "/sobjects/User/describe/layouts").status == 404)
  }

  @Test func `a cached description is not resent, nor in a composite`() async throws {
    let path = "/sobjects/Account/describe"
    let tag = try #require(try await served.send("GET", path).headers["ETag"])
    let again = try await served.send("GET", path, headers: ["If-None-Match": tag])
    #expect(again.status == 304 && again.headers["ETag"] == tag)
    #expect(try await served.send("GET", "/sobjects/Contact/describe").headers["ETag"] != tag)
    let conditions: [JSONObject] = [[:], ["If-None-Match": .string(tag)]]
    let parts = conditions.enumerated().map { place, headers in
      JSONValue.object([
        "method": "GET", "url": .string(ServedOrg.version + path),
        "referenceId": .string("r\(place)"), "httpHeaders": .object(headers),
      ])
    }
    let answers = try await served.send("POST", "/composite", ["compositeRequest": .array(parts)])
    let results = answers.json["compositeResponse"]
    #expect(results?[0]?["httpHeaders"]?["ETag"]?.string == tag)
    #expect(results?[1]?["httpStatusCode"]?.int == 304 && results?[1]?["body"] == .null)
    #expect(results?[1]?["httpHeaders"]?["ETag"]?.string == tag)
  }

  @Test func `composite lists the resources below it`() async throws {
    let names = try await served.send("GET", "/composite").json.object?.names
    #expect(names == ["batch", "sobjects", "tree"])
    let early = try await served.send("GET", "/services/data/v34.0/composite").json.object?.names
    #expect(early == ["batch", "tree"])
  }

  @Test func `no object has a tab`() async throws {
    let answer = try await served.query(
      "SELECT SObjectName FROM TabDefinition WHERE IsCustom = true AND SObjectName IN ('x__c')")
    #expect(answer.json["totalSize"] == 0)
  }

  @Test func `bodies are compressed both ways for clients that accept it`() async throws {
    let served = try ServedOrg { $0.compresses = true }
    try served.fill("Account", 50)
    let packed = try await served.query("SELECT Id, Name FROM Account")
    #expect(packed.json["records"]?.array?.count == 50)
    // {"Name":"packed"}
    let gzip: [UInt8] = [
      0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0xf2, 0x4b, 0xcc,
      0x4d, 0x55, 0xb2, 0x52, 0x2a, 0x48, 0x4c, 0xce, 0x4e, 0x4d, 0x51, 0xaa, 0x05, 0x00, 0x62,
      0x95, 0x2f, 0x61, 0x11, 0x00, 0x00, 0x00,
    ]
    var request = HTTPRequest("POST", served.server.url + ServedOrg.version + "/sobjects/Account")
    request.headers["Authorization"] = "Bearer " + served.token
    request.headers["Content-Type"] = "application/json"
    request.headers["Content-Encoding"] = "gzip"
    request.body = gzip
    #expect(try await served.client.send(request).status == 201)
    request.body = Array("{}".utf8)
    #expect(try await served.client.send(request).outcome == "400 JSON_PARSER_ERROR")
  }
}
