import HTTP
import LocalOrg
import Testing

@Suite struct SOAPUndeleteTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg { $0.adminSecret = "open sesame" } }

  private func call(
    _ ids: [String], name: String = "undelete", token: String? = nil, version: String = "66.0",
    namespace: String = "urn:partner.soap.sforce.com",
    _ change: (inout HTTPRequest) -> Void = { _ in }
  ) async throws -> HTTPResponse {
    var request = HTTPRequest("POST", served.server.url + "/services/Soap/u/" + version)
    request.headers["Content-Type"] = "text/xml; charset=UTF-8"
    request.headers["SOAPAction"] = "\"\""
    let list = ids.map { "<p:ids>\($0)</p:ids>" }.joined()
    request.body = Array(
      """
      <x:Envelope xmlns:x="http://schemas.xmlsoap.org/soap/envelope/" xmlns:p="\(namespace)"><x:Header>\
      <p:SessionHeader><p:sessionId>\(token ?? served.token)</p:sessionId></p:SessionHeader></x:Header>\
      <x:Body><p:\(name)>\(list)</p:\(name)></x:Body></x:Envelope>
      """.utf8)
    change(&request)
    return try await served.client.send(request)
  }

  private func texts(_ answer: HTTPResponse, _ name: String) -> [String] {
    answer.text.components(of: name)
  }

  private func isThere(_ id: String) async throws -> Bool {
    try await served.send("GET", "/sobjects/Account/\(id)").status == 200
  }

  @Test func `records are restored, each with its own result and its dependents`() async throws {
    let ids = [
      try await served.create("Account", ["Name": "A"]),
      try await served.create("Account", ["Name": "B"]),
    ]
    let contact = try await served.create(
      "Contact", ["LastName": "C", "AccountId": .string(ids[0])])
    for id in ids {
      #expect(try await served.send("DELETE", "/sobjects/Account/\(id)").status == 204)
    }
    let answer = try await call([ids[0], "001000000000000AAA", ids[1], "x"])
    #expect(answer.status == 200)
    #expect(texts(answer, "success") == ["true", "false", "true", "false"])
    #expect(texts(answer, "statusCode") == ["UNDELETE_FAILED", "MALFORMED_ID"])
    for id in ids { #expect(try await isThere(id)) }
    #expect(try await served.send("GET", "/sobjects/Contact/\(contact)").status == 200)
    let again = try await call([ids[0], contact])
    #expect(texts(again, "statusCode") == ["UNDELETE_FAILED", "UNDELETE_FAILED"])
    let entry = try #require(served.server.log.entries.last { $0.kind == .soapUndelete })
    #expect(entry.isWrite && entry.user == "ada@example.com" && entry.records == 0)
  }

  @Test func `a detail is restored after its master, and a purged record never`() async throws {
    let account = try await served.create("Account", ["Name": "A"])
    let contact = try await served.create(
      "Contact", ["LastName": "C", "AccountId": .string(account)])
    #expect(try await served.send("DELETE", "/sobjects/Account/\(account)").status == 204)
    #expect(texts(try await call([contact]), "statusCode") == ["UNDELETE_FAILED"])
    #expect(texts(try await call([account]), "success") == ["true"])
    #expect(try await served.send("DELETE", "/sobjects/Contact/\(contact)").status == 204)
    try served.org.purge(contact)
    #expect(texts(try await call([contact]), "statusCode") == ["UNDELETE_FAILED"])
    #expect(throws: OrgError.self) { try served.org.purge(account) }
  }

  @Test func `a user who may not delete a record may not restore it`() async throws {
    try served.org.addUser("ben@example.com", lastName: "Bloch", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com", app: "field-app")
    let id = try await served.create("Account", ["Name": "A"])
    try served.org.share(id, with: "ben@example.com")
    #expect(try await served.send("DELETE", "/sobjects/Account/\(id)").status == 204)
    let answer = try await call([id], token: ben)
    #expect(texts(answer, "statusCode") == ["INSUFFICIENT_ACCESS_OR_READONLY"])
    #expect(texts(try await call([id]), "success") == ["true"])
  }

  @Test func `a call that is not the service's is refused as such`() async throws {
    func fault(_ answer: HTTPResponse) -> String? {
      answer.status == 500 ? texts(answer, "faultcode").first : "status \(answer.status)"
    }
    let many = try await call((0..<201).map { "00100000000\($0 + 1000)" })
    #expect(fault(many) == "sf:EXCEEDED_ID_LIMIT")
    #expect(fault(try await call([], token: "x")) == "sf:INVALID_SESSION_ID")
    #expect(fault(try await call([], version: "99.0")) == "sf:UNSUPPORTED_API_VERSION")
    #expect(fault(try await call([], namespace: "urn:other")) == "soapenv:Client")
    #expect(fault(try await call([], name: "emptyRecycleBin")) == "soapenv:Client")
    #expect(fault(try await call([]) { $0.headers["SOAPAction"] = nil }) == "soapenv:Client")
    #expect(fault(try await call([]) { $0.body = Array("{}".utf8) }) == "soapenv:Client")
    #expect(
      fault(try await call([]) { $0.headers["Content-Type"] = "application/json" }) == "status 415")
    #expect(try await call([]).status == 200)
  }

  @Test func `faults affect it, and are reported in SOAP's format`() async throws {
    let ids = [
      try await served.create("Account", ["Name": "A"]),
      try await served.create("Account", ["Name": "B"]),
    ]
    for id in ids {
      #expect(try await served.send("DELETE", "/sobjects/Account/\(id)").status == 204)
    }
    let faults = served.server.faults
    faults.add(.kind(.soapUndelete), .limitExceeded)
    faults.add(.kind(.soapUndelete), nth: 2, .interrupt(afterParts: 1))
    let limited = try await call(ids)
    #expect(limited.status == 500)
    #expect(texts(limited, "faultcode") == ["sf:REQUEST_LIMIT_EXCEEDED"])
    #expect(try await !isThere(ids[0]))
    #expect(texts(try await call(ids), "faultcode") == ["sf:SERVER_UNAVAILABLE"])
    #expect(try await isThere(ids[0]))
    #expect(try await !isThere(ids[1]))
    faults.add(.writes, .refusePart(0, code: "UNABLE_TO_LOCK_ROW"))
    #expect(texts(try await call([ids[1]]), "statusCode") == ["UNABLE_TO_LOCK_ROW"])
    faults.add(.kind(.soapUndelete), .expireSession)
    #expect(texts(try await call([ids[1]]), "faultcode") == ["sf:INVALID_SESSION_ID"])
  }
}

extension String {
  fileprivate func components(of name: String) -> [String] {
    split(separator: "<").compactMap { part in
      part.hasPrefix(name + ">") ? String(part.dropFirst(name.count + 1)) : nil
    }
  }
}
