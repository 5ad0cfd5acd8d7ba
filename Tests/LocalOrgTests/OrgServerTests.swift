import HTTP
import LocalOrg
import Testing

@Suite struct OrgServerTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test func `many clients write at once and nothing is lost or reported twice`() async throws {
    let served = served
    let ids = try await withThrowingTaskGroup(of: [String].self) { group in
      for client in 0..<6 {
        group.addTask {
          var ids: [String] = []
          for number in 0..<10 {
            ids.append(try await served.create("Account", ["Name": .string("\(client).\(number)")]))
          }
          return ids
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(ids).count == 60)
    let count = try await served.query("SELECT COUNT() FROM Account")
    #expect(count.json["totalSize"]?.int == 60)
    #expect(served.server.log.entries.map(\.sequence) == Array(1...61))
    #expect(served.server.log.writes.count == 60)
  }

  @Test func `an org outlives its server, a session does not`() async throws {
    let id = try await served.create("Account", ["Name": "Acme"])
    served.server.stop()
    await #expect(throws: HTTPError.self) { try await served.send("GET", "/limits") }
    let again = try OrgServer(org: Org(directory: served.org.directory))
    var request = HTTPRequest("GET", again.url + ServedOrg.version + "/sobjects/Account/" + id)
    request.headers["Authorization"] = "Bearer " + served.token
    #expect(try await served.client.send(request).outcome == "401 INVALID_SESSION_ID")
    request.headers["Authorization"] = "Bearer " + (try again.token(for: "ada@example.com"))
    #expect(try await served.client.send(request).json["Name"]?.string == "Acme")
  }

  @Test func `a port in use is reported`() throws {
    var options = OrgServer.Options()
    options.port = UInt16(served.server.url.split(separator: ":").last ?? "0") ?? 0
    #expect(throws: HTTPError.self) { try OrgServer(org: served.org, options: options) }
  }

  @Test func `the organization describes itself`() async throws {
    let path = "/sobjects/Organization/\(served.org.organizationID)"
    let response = try await served.send("GET", path)
    for name in ["OrganizationType", "IsSandbox", "InstanceName", "NamespacePrefix"] {
      #expect(response.json[name] != nil, "\(name)")
    }
  }
}
