import HTTP
import LocalOrg
import Testing

@Suite struct DirectoryResourceTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  @Test(arguments: ["/services/data", "/services/data/"])
  func `versions are in ascending order and need no token`(_ path: String) async throws {
    let response = try await served.client.send(HTTPRequest("GET", served.server.url + path))
    let versions = (response.json.array ?? []).compactMap { Double($0["version"]?.string ?? "") }
    #expect(response.headers["Content-Type"] == "application/json;charset=UTF-8")
    #expect(versions == versions.sorted() && versions.last == 66)
    let label = response.json.array?.first { $0["version"]?.string == "59.0" }?["label"]
    #expect(label?.string == "Winter '24")
    #expect(response.json.array?.last?["label"]?.string == "Spring '26")
  }

  @Test func `resources are those of the requested version`() async throws {
    let response = try await served.send("GET", "/services/data/v59.0/")
    #expect(response.json["sobjects"]?.string == "/services/data/v59.0/sobjects")
    #expect(response.json["query"]?.string == "/services/data/v59.0/query")
  }

  @Test func `calls are counted and limited`() async throws {
    let small = try ServedOrg { $0.dailyLimit = 2 }
    let first = try await small.send("GET", "/limits")
    #expect(first.headers["Sforce-Limit-Info"] == "api-usage=1/2")
    #expect(first.json["DailyApiRequests"]?["Remaining"]?.int == 1)
    #expect(try await small.send("GET", "/limits").status == 200)
    #expect(try await small.send("GET", "/limits").outcome == "403 REQUEST_LIMIT_EXCEEDED")
  }

  @Test func `the date header is the org's time`() async throws {
    let clocked = try Org(
      directory: served.directory.file("clocked"),
      options: Org.Options(clockStart: 1_704_110_400_000))
    let server = try OrgServer(org: clocked)
    let response = try await served.client.send(HTTPRequest("GET", server.url + "/services/data"))
    #expect(response.headers.values("Date").count == 1)
    #expect(response.headers["Date"]?.hasPrefix("Mon, 01 Jan 2024 12:0") == true)
  }

  @Test(arguments: [
    ("GET", "/nothing", "404 NOT_FOUND"), ("GET", "/services/data/v1.0/limits", "404 NOT_FOUND"),
    ("GET", "/services/nothing", "404 NOT_FOUND"),
    ("GET", "/sobjects/Nothing/describe", "404 NOT_FOUND"),
    ("GET", "/sobjects/Nothing/001000000000001", "404 NOT_FOUND"),
    ("DELETE", "/limits", "405 METHOD_NOT_ALLOWED"), ("PUT", "/sobjects", "405 METHOD_NOT_ALLOWED"),
    ("POST", "/query", "405 METHOD_NOT_ALLOWED"), ("GET", "/query", "400 MALFORMED_QUERY"),
    ("POST", "/sobjects/Account", "400 JSON_PARSER_ERROR"),
  ])
  func `an unknown resource is refused with the org's message`(
    _ method: String, _ path: String, _ outcome: String
  ) async throws { #expect(try await served.send(method, path).outcome == outcome) }

  @Test func `a wrong method lists the allowed ones`() async throws {
    let response = try await served.send("PATCH", "/limits", [:])
    #expect(
      response.json[0]?["message"]?.string == "HTTP Method 'PATCH' not allowed. Allowed are GET")
  }

  @Test func `a URL that is too long is refused`() async throws {
    let long = String(repeating: "x", count: 16_400)
    let response = try await served.send("GET", "/query?q=" + long)
    #expect(response.outcome == "414 URI_TOO_LONG")
  }

  @Test func `without a valid token nothing is returned`() async throws {
    #expect(
      try await served.send("GET", "/sobjects", token: "x").outcome == "401 INVALID_SESSION_ID")
    let bare = HTTPRequest("GET", served.server.url + ServedOrg.version + "/limits")
    #expect(try await served.client.send(bare).status == 401)
  }

  @Test func `describe has every key of every field`() async throws {
    let keys = """
      aggregatable aiPredictionField autoNumber byteLength calculated calculatedFormula \
      cascadeDelete caseSensitive compoundFieldName controllerName createable custom defaultValue \
      defaultValueFormula defaultedOnCreate dependentPicklist deprecatedAndHidden digits \
      displayLocationInDecimal encrypted externalId extraTypeInfo filterable filteredLookupInfo \
      formulaTreatNullNumberAsZero groupable highScaleNumber htmlFormatted idLookup \
      inlineHelpText label length mask maskType name nameField namePointing nillable \
      permissionable picklistValues polymorphicForeignKey precision queryByDistance \
      referenceTargetField referenceTo relationshipName relationshipOrder restrictedDelete \
      restrictedPicklist scale searchPrefilterable soapType sortable type unique updateable \
      writeRequiresMasterRead
      """
    let expected = keys.split(whereSeparator: \.isWhitespace).map(String.init)
    let global = try await served.send("GET", "/sobjects/")
    let names = (global.json["sobjects"]?.array ?? []).compactMap { $0["name"]?.string }
    #expect(names.contains("Account") && names.contains("ServiceAppointment"))
    for name in names {
      let describe = try await served.send("GET", "/sobjects/\(name)/describe/")
      for field in describe.json["fields"]?.array ?? [] {
        #expect(field.object?.names.sorted() == expected.sorted(), "\(name)")
      }
    }
    let contact = try await served.send("GET", "/sobjects/contact/describe")
    let account = contact.json["fields"]?.array?.first { $0["name"]?.string == "AccountId" }
    #expect(account?["referenceTo"]?[0]?.string == "Account")
    #expect(account?["relationshipName"]?.string == "Account")
  }

  @Test func `describe shows what an object is and what belongs to it`() async throws {
    let account = try await served.send("GET", "/sobjects/Account/describe/").json
    #expect(account["name"] == "Account" && account["label"] == "Account")
    #expect(account["keyPrefix"] == "001" && account["labelPlural"] == "Accounts")
    let base = "/services/data/v66.0/sobjects/Account"
    #expect(account["urls"]?["sobject"]?.string == base)
    #expect(account["urls"]?["rowTemplate"]?.string == base + "/{ID}")
    #expect(account["urls"]?["layouts"]?.string == base + "/describe/layouts")
    #expect(account["recordTypeInfos"]?[0]?["recordTypeId"] == "012000000000000AAA")
    let children = account["childRelationships"]?.array ?? []
    let contacts = try #require(children.first { $0["childSObject"] == "Contact" })
    #expect(contacts["relationshipName"] == "Contacts" && contacts["field"] == "AccountId")
    #expect(contacts["cascadeDelete"] == true)
    let cases = try #require(children.first { $0["childSObject"] == "Case" })
    #expect(cases["cascadeDelete"] == false && cases["restrictedDelete"] == true)
    #expect(contacts["restrictedDelete"] == false)
    for name in ["listviewable", "lookupLayoutable", "networkScopeFieldName"] {
      #expect(account[name] == .null, "\(name)")
    }
  }

  @Test func `describe shows the user's rights`() async throws {
    try served.org.addUser("ben@example.com", lastName: "Berg", profile: "Field Technician")
    let ben = try served.server.token(for: "ben@example.com")
    func flags(_ object: String, _ token: String?) async throws -> [Bool?] {
      let basic = try await served.send("GET", "/sobjects/\(object)", token: token).json
      return ["createable", "updateable", "deletable", "queryable"].map {
        basic["objectDescribe"]?[$0]?.bool
      }
    }
    #expect(try await flags("Product2", nil) == [true, true, true, true])
    #expect(try await flags("Product2", ben) == [false, false, false, true])
    #expect(try await flags("Account", ben) == [true, true, true, true])
    #expect(try await flags("Profile", nil) == [false, false, false, true])
  }

  @Test func `describe can be requested only if it changed`() async throws {
    let first = try await served.send("GET", "/sobjects/Account/describe")
    let date = try #require(first.headers["Last-Modified"])
    let same = try await served.send(
      "GET", "/sobjects/Account/describe", headers: ["If-Modified-Since": date])
    #expect(same.status == 304)
    let old = try await served.send(
      "GET", "/sobjects/Account/describe",
      headers: ["If-Modified-Since": "Sat, 1 Jan 2000 00:00:01 GMT"])
    #expect(old.status == 200)
  }

  @Test func `TLS uses a certificate signed by the authority`() async throws {
    let directory = served.directory.file("ca")
    let authority = try CertificateAuthority.make(directory: directory)
    let identity = try authority.identity()
    let again = try CertificateAuthority.make(directory: directory)
    #expect(try again.identity().certificate != identity.certificate)
    let server = try OrgServer(
      org: served.org,
      options: {
        var options = OrgServer.Options()
        options.identity = identity
        return options
      }())
    var configuration = HTTPClient.Configuration()
    configuration.caFile = authority.certificatePath
    let secure = try #require(server.secureURL)
    let trusting = try HTTPClient(configuration)
    #expect(try await trusting.send(HTTPRequest("GET", secure + "/services/data")).status == 200)
    await #expect(throws: HTTPError.self) {
      try await served.client.send(HTTPRequest("GET", secure + "/services/data"))
    }
  }
}
