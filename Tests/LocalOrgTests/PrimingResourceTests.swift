import HTTP
import JSON
import LocalOrg
import Testing

@Suite struct PrimingResourceTests {
  let served: ServedOrg
  private let path = "/connect/briefcase/priming-records"
  init() throws {
    served = try ServedOrg { $0.primingPageSize = 20 }
    try served.fill("Account", 30)
    try served.fill("Product2", 15)
    try served.org.addBriefcase(
      "Field", rules: [BriefcaseRule("Account"), BriefcaseRule("Product2")],
      users: ["ada@example.com"], app: "field-app")
  }

  private func ids(_ response: HTTPResponse) -> [String: Int] {
    var counts: [String: Int] = [:]
    for (object, types) in response.json["primingRecords"]?.object ?? [:] {
      for (_, entries) in types.object ?? [:] {
        counts[object, default: 0] += entries.array?.count ?? 0
      }
    }
    return counts
  }

  @Test func `pages are followed by their tokens`() async throws {
    var response = try await served.send("GET", path)
    #expect(response.json.object?.names == ["primingRecords", "relayToken", "ruleErrors", "stats"])
    #expect(ids(response) == ["Account": 20])
    #expect(response.json["stats"]?["ruleCountTotal"]?.int == 2)
    let entry = response.json["primingRecords"]?["Account"]?["012000000000000AAA"]?[0]
    #expect(entry?["systemModstamp"]?.string?.hasSuffix(".000Z") == true)
    var total = ids(response)
    while let token = response.json["relayToken"]?.string {
      // A mobile client sends both parameters from the second page on.
      response = try await served.send(
        "GET",
        path + "?relayToken=" + HTTPQuery.encode(token)
          + "&changedAfterTimestamp=2199-01-01T00:00:00.000Z")
      total.merge(ids(response), uniquingKeysWith: +)
    }
    #expect(total == ["Account": 30, "Product2": 15])
  }

  @Test func `another app has other briefcases`() async throws {
    let token = try served.server.token(for: "ada@example.com", app: "other-app")
    let response = try await served.send("GET", path, token: token)
    #expect(response.text.hasPrefix(#"{"primingRecords":{},"relayToken":null,"ruleErrors":[]"#))
  }

  @Test func `an invalid date, and both parameters in strict mode, are refused`() async throws {
    let wrong = try await served.send("GET", path + "?changedAfterTimestamp=yesterday")
    #expect(wrong.status == 400)
    let strict = try OrgServer(
      org: served.org,
      options: {
        var options = OrgServer.Options()
        options.isStrict = true
        return options
      }())
    var request = HTTPRequest(
      "GET",
      strict.url + ServedOrg.version + path
        + "?relayToken=x&changedAfterTimestamp=2024-01-01T00:00:00.000Z")
    request.headers["Authorization"] = "Bearer " + (try strict.token(for: "ada@example.com"))
    #expect(try await served.client.send(request).status == 400)
  }

  @Test func `a failed rule is listed, and its records are missing`() async throws {
    served.server.faults.add(.kind(.priming), .ruleError(ruleID: "0rX1", object: "Account"))
    let response = try await served.send("GET", path)
    #expect(response.json["ruleErrors"]?[0]?["ruleId"]?.string == "0rX1")
    #expect(ids(response)["Account"] == nil)
  }

  @Test func `each user of a seeded org is primed with what that user can read`() async throws {
    let seeded = try ServedOrg { $0.primingPageSize = 100 }
    try seeded.org.seed()
    var sets: [Set<String>] = []
    for user in ["ben@example.com", "cleo@example.com"] {
      let token = try seeded.server.token(for: user, app: "field-app")
      var ids: [String: [String]] = [:]
      var relay: String?
      repeat {
        let query = relay.map { "?relayToken=" + HTTPQuery.encode($0) } ?? ""
        let response = try await seeded.send("GET", path + query, token: token)
        for (object, types) in response.json["primingRecords"]?.object ?? [:] {
          for (_, entries) in types.object ?? [:] {
            ids[object, default: []] += (entries.array ?? []).compactMap { $0["id"]?.string }
          }
        }
        relay = response.json["relayToken"]?.string
      } while relay != nil
      #expect(ids.count > 1)
      for (object, list) in ids {
        let body: JSONValue = ["ids": JSONValue(list), "fields": ["Id", "LastModifiedDate"]]
        let records = try await seeded.send(
          "POST", "/composite/sobjects/\(object)", body, token: token)
        #expect(records.json.array?.compactMap { $0["Id"]?.string } == list)
      }
      sets.append(Set(ids.values.joined()))
    }
    #expect(!sets[0].isSubset(of: sets[1]) && !sets[1].isSubset(of: sets[0]))
    #expect(!sets[0].isDisjoint(with: sets[1]))
  }
}
