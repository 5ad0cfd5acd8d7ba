import HTTP
import JSON
import Salesforce
import Testing

@Suite struct KnownObjectsTests {
  private static func describe(_ name: String, _ fields: [String]) -> JSONValue {
    [
      "name": .string(name),
      "fields": .array(fields.map { ["name": .string($0), "type": "string"] }),
    ]
  }

  /// An org that describes Account and Contact, with a field named after the requesting user.
  private static func org(
    _ answer: @escaping @Sendable ([JSONValue]) -> ServerResponse? = { _ in nil }
  ) throws -> ScriptedOrg {
    try ScriptedOrg { request in
      let token = request.headers["Authorization"]?.split(separator: "-").last ?? ""
      func known(_ name: String) -> JSONValue? {
        guard ["Account", "Contact"].contains(name) else { return nil }
        return describe(name, ["Id", "Of\(token)"])
      }
      let words = request.path.split(separator: "/").map(String.init)
      if words.last == "describe" {
        return known(words[words.count - 2]).map { .json(200, $0.text) }
      }
      guard words.last == "composite", let body = try? JSONValue(parsing: request.body),
        let parts = body["compositeRequest"]?.array
      else { return nil }
      // In another order, and with other keys first.
      let results = parts.reversed().map { part -> JSONValue in
        let name = part["url"]?.string?.split(separator: "/").dropLast().last.map(String.init) ?? ""
        let answer = known(name)
        return [
          "referenceId": part["referenceId"] ?? .null, "httpHeaders": [:],
          "httpStatusCode": .number(answer == nil ? "404" : "200"),
          "body": answer ?? [["errorCode": "NOT_FOUND", "message": "no such object"]],
        ]
      }
      return Self.answer(results, answer)
    }
  }

  private static func answer(
    _ results: [JSONValue], _ change: ([JSONValue]) -> ServerResponse?
  ) -> ServerResponse {
    change(results) ?? .json(200, JSONValue.object(["compositeResponse": .array(results)]).text)
  }

  @Test func `objects are described in one request, once, in any case`() async throws {
    let org = try Self.org()
    let session = try await org.session().keepingObjects
    #expect(!session.knows("Account"))
    try await session.learn(["Account", "Contact", "account", "Nothing", "no name"])
    #expect(org.log.count == 1)
    #expect(session.knownObject("CONTACT")?.field("id")?.name == "Id")
    #expect(session.knows("nothing") && session.knownObject("Nothing") == nil)
    #expect(session.knows("no name") && session.knownObject("no name") == nil)
    try await session.learn(["contact", "NOTHING", "no name"])
    #expect(try await session.describe("account").name == "Account")
    #expect(org.log.count == 1)
    // An object that does not exist may be requested separately.
    await #expect(throws: OrgError.self) { try await session.describe("Nothing") }
    #expect(org.log.count == 2)
  }

  @Test func `a session without a cache requests each time`() async throws {
    let org = try Self.org()
    let session = try await org.session()
    for _ in 0..<2 { _ = try await session.describe("Account") }
    try await session.learn(["Account"])
    #expect(session.knownObject("Account") == nil)
    #expect(org.log.count == 2)
    let keeping = session.keepingObjects
    for _ in 0..<2 { _ = try await keeping.keepingObjects.describe("Account") }
    #expect(org.log.count == 3)
  }

  @Test func `each user of an org gets the description made for that user`() async throws {
    let scripted = try Self.org()
    let shared = KnownObjects.Shared([:])
    var fields: [String?] = []
    for _ in 0..<2 {
      let own = try await scripted.session()
      let session = Session(
        identity: own.identity, apiVersion: own.apiVersion, connection: own.connection,
        token: own.token, objects: KnownObjects(sharing: shared))
      try await session.learn(["Account", "Contact"])
      fields.append(session.knownObject("Account")?.fields.last?.name)
    }
    #expect(Set(fields).count == 2)
    #expect(shared.withLock { $0.count } == 4)
  }

  @Test func `thirty objects are described in two requests`() async throws {
    let org = try Self.org()
    let session = try await org.session().keepingObjects
    try await session.learn((0..<30).map { "Thing\($0)__c" })
    #expect(org.log.count == 2)
    #expect((0..<30).allSatisfy { session.knows("Thing\($0)__c") })
  }

  @Test(arguments: [
    ("missing", OrgError.Kind.invalidResponse), ("referenceId", .invalidResponse),
    ("body", .invalidResponse), ("500", .unreachable), ("403", .permission),
    ("401", .authentication), ("400", .refused("NOT_FOUND")), ("429", .limit), ("limit", .limit),
  ])
  func `a response without a description is an error`(_ word: String, _ kind: OrgError.Kind)
    async throws
  {
    let org = try Self.org { results in
      var results = results
      guard var last = results.popLast()?.object else { return nil }
      switch word {
      case "missing": break
      case "referenceId": last["referenceId"] = "Other"
      case "body": last["body"] = ["name": "Account"]
      case "limit":
        last["httpStatusCode"] = 403
        last["body"] = [["errorCode": "REQUEST_LIMIT_EXCEEDED", "message": "no more today"]]
      default:
        last["httpStatusCode"] = .number(word)
        last["body"] = [["errorCode": "NOT_FOUND", "message": "no such object"]]
      }
      if word != "missing" { results.append(.object(last)) }
      return .json(200, JSONValue.object(["compositeResponse": .array(results)]).text)
    }
    let session = try await org.session().keepingObjects
    let error = await #expect(throws: OrgError.self) {
      try await session.learn(["Account", "Contact"])
    }
    #expect(error?.kind == kind)
    #expect(!session.knows("Account"))
  }

  @Test func `an escaped name in the response is decoded`() async throws {
    let org = try Self.org { results in
      let text = JSONValue.object(["compositeResponse": .array(results)]).text
      return .json(
        200,
        text.replacing("\"referenceId\":\"Account\"", with: "\"referenceId\":\"\\u0041ccount\""))
    }
    let session = try await org.session().keepingObjects
    try await session.learn(["Account"])
    #expect(session.knownObject("Account") != nil)
  }
}
