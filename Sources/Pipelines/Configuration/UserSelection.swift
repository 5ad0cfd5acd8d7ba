import JSON
import Salesforce
import System

/// The users whose snapshots a pipeline makes.
package struct UserSelection: Sendable, Hashable {
  /// The source of the list of users.
  package enum Source: Sendable, Hashable {
    /// User names in the file.
    case list([String])
    /// A table with a column of user names, and optionally one of refresh tokens.
    case csv(file: String, username: String, refreshToken: String?)
    /// A SOQL query that selects Id and Username.
    case query(String)
    case loginUser

    /// Whether the table has a refresh token for each user.
    package var hasRefreshTokens: Bool {
      if case .csv(_, _, _?) = self { true } else { false }
    }

    /// Whether there may be more than one user.
    var mayBeSeveral: Bool {
      switch self {
      case .list(let names): names.count > 1
      case .csv, .query: true
      case .loginUser: false
      }
    }

    /// The member of the section that names the users.
    var json: JSONObject {
      switch self {
      case .list(let names): ["list": JSONValue(names)]
      case .csv(let file, let username, let token):
        [
          "csv": JSONObject.of([
            ("file", .string(file)), ("username", .string(username)),
            ("refreshToken", token.map(JSONValue.string)),
          ])
        ]
      case .query(let query): ["query": .string(query)]
      case .loginUser: ["self": true]
      }
    }
  }

  /// The source of the list of users.
  package var source: Source
  /// User names to exclude.
  package var except: [String] = []
  /// The minimum number of users; with fewer, the run stops.
  package var atLeast = 1
  /// The maximum number of users; with more, the run stops.
  package var atMost = 10000

  static let sources = ["list", "csv", "query", "self"]
  static let keys = sources + ["except", "expect"]

  init?(_ object: ConfigurationObject, in directory: String) {
    let reader = object.reader
    guard let source = Self.source(object, in: directory) else { return nil }
    self.source = source
    except = object.strings("except") ?? []
    // Such an entry would exclude no one.
    for (name, element) in zip(except, object["except"]?.array ?? []) {
      if name != name.trimmed {
        Self.reportSpace(name, element, reader)
      } else if let code = VisibleText.hidden(in: name) {
        Self.report(hidden: code, in: name, element, reader)
      }
    }
    let known = ["atLeast", "atMost"]
    if let expect = object.object("expect", known: known, what: "the section expect") {
      atLeast = expect.int("atLeast", default: atLeast)
      atMost = expect.int("atMost", default: atMost, in: 1...Int.max)
      if atLeast > atMost, let node = object["expect"] {
        reader.report(
          node, "no number is at least \(atLeast) and at most \(atMost)", "swap them")
      }
    }
  }

  private static func source(_ object: ConfigurationObject, in directory: String) -> Source? {
    let reader = object.reader
    let given = sources.filter { object[$0] != nil }
    guard given.count == 1, let name = given.first, let node = object[name] else {
      let second = given.dropFirst().first.flatMap { object.member($0) }
      let list = sources.map { "\"\($0)\"" }.joined(separator: ", ")
      if let second {
        reader.report(second, "users has two sources", "keep one of \(list)")
      } else {
        reader.report(
          object.node, "this does not name the source of the users", "add one of \(list)")
      }
      return nil
    }
    switch name {
    case "list": return reader.strings(node).map { list($0, node, reader) }
    case "csv": return csv(node, in: directory, reader)
    case "query": return reader.string(node).map { query($0, node, reader) }
    default:
      guard let yes = reader.bool(node) else { return nil }
      if !yes { reader.report(node, "\"self\" can only be true", "write true, or remove it") }
      return .loginUser
    }
  }

  private static func list(
    _ names: [String], _ node: JSONNode, _ reader: ConfigurationReader
  ) -> Source {
    if names.isEmpty { reader.report(node, "the list of users is empty", "name at least one") }
    var seen: Set<String> = []
    for (name, element) in zip(names, node.array ?? []) {
      if !name.contains("@") {
        reader.report(
          element, "\(JSONText.quoted(name)) is not a username", "write it like an e-mail address")
      } else if name != name.trimmed {
        reportSpace(name, element, reader)
      } else if let code = VisibleText.hidden(in: name) {
        report(hidden: code, in: name, element, reader)
      } else if !seen.insert(name.lowercased()).inserted {
        reader.report(element, "\(JSONText.quoted(name)) is listed twice", "remove one")
      }
    }
    return .list(names)
  }

  private static func reportSpace(
    _ name: String, _ node: JSONNode, _ reader: ConfigurationReader
  ) {
    reader.report(
      node, "\(JSONText.quoted(name)) starts or ends with a space, which no username does",
      "write \(JSONText.quoted(name.trimmed))")
  }

  private static func report(
    hidden code: String, in name: String, _ node: JSONNode, _ reader: ConfigurationReader
  ) {
    reader.report(
      node, "\(JSONText.quoted(name)) has a character that cannot be seen (\(code))",
      "type the name again")
  }

  private static func csv(
    _ node: JSONNode, in directory: String, _ reader: ConfigurationReader
  ) -> Source? {
    let known = ["file", "username", "refreshToken"]
    if let name = node.string {
      reader.wrongType(
        node, "an object",
        "write {\"file\": \(JSONText.quoted(name)), \"username\": \"Username\"}: the file, and its "
          + "column of user names")
      return nil
    }
    guard let object = reader.object(node, known: known, what: "a table of users") else {
      return nil
    }
    let file = object.requiredText("file", "\"users.csv\"")
    let username = object.requiredText("username", "\"Username\"")
    let token = object.text("refreshToken")
    guard let file, let username else { return nil }
    return .csv(
      file: ConfigurationReader.join(directory, file), username: username, refreshToken: token)
  }

  private static func query(
    _ query: String, _ node: JSONNode, _ reader: ConfigurationReader
  ) -> Source {
    if let fault = fault(ofQuery: query) { reader.report(node, fault.message, fault.fix) }
    return .query(query)
  }

  /// Returns why a text is not a query of users, and the fix; nil if it is one.
  package static func fault(ofQuery query: String) -> (message: String, fix: String)? {
    let words = query.lowercased().split { $0.isWhitespace || $0 == "," }.map(String.init)
    let selected = words.dropFirst().prefix { $0 != "from" }
    if words.first != "select" {
      return (SOQLText.needsSelect, "write SELECT Id, Username FROM User WHERE …")
    }
    if selected.contains("id"), selected.contains("username") { return nil }
    return (
      "the query of users does not select Id and Username", "write SELECT Id, Username FROM …"
    )
  }

  var json: JSONValue {
    var object = source.json
    object["except"] = JSONValue(except)
    object["expect"] = ["atLeast": JSONValue(atLeast), "atMost": JSONValue(atMost)]
    return .object(object)
  }
}
