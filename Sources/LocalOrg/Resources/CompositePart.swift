import HTTP
import JSON

/// One request inside a composite.
struct CompositePart: Sendable {
  let referenceID: String
  private let method: String
  private let url: String
  private let body: JSONValue?
  private let headers: HTTPHeaders

  init(_ value: JSONValue) throws(OrgError) {
    guard let method = value["method"]?.string, let url = value["url"]?.string,
      let referenceID = value["referenceId"]?.string, !referenceID.isEmpty
    else {
      throw .unreadableBody(
        "Each of \"compositeRequest\" must have method, url and referenceId")
    }
    try value.object?.checkNames(["method", "url", "referenceId", "body", "httpHeaders"])
    guard Self.isReference(referenceID) else {
      throw OrgError(
        code: "INVALID_INPUT",
        message: "Provided referenceId ('\(referenceID)') must start with a letter or a number, "
          + "and it can contain only letters, numbers and underscores")
    }
    self.method = method.uppercased()
    self.url = url
    self.referenceID = referenceID
    body = value["body"].flatMap { $0.isNull ? nil : $0 }
    var headers = HTTPHeaders()
    for (name, value) in value["httpHeaders"]?.object ?? [:] {
      headers[name] = value.string ?? value.text
    }
    self.headers = headers
  }

  private static func isReference(_ text: String) -> Bool {
    text.utf8.first != UInt8(ascii: "_")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Whether it counts toward the limit of five queries and collections in a composite.
  var isQueryOrCollection: Bool {
    let path = Target(method: method, url: url).dataPath?.rest ?? []
    return ["query", "queryall"].contains(path.first?.lowercased() ?? "")
      || path.starts(with: ["composite", "sobjects"])
  }

  /// Runs this part, with references to earlier parts resolved.
  func run(_ call: APIRequest, _ references: CompositeReferences) throws(OrgError) -> APIResponse {
    let target = Target(method: method, url: try references.resolve(url))
    guard let (version, path) = target.dataPath, url.hasPrefix("/services/data/") else {
      throw OrgError(
        status: 404, code: "NOT_FOUND", message: "The requested resource does not exist")
    }
    guard path.first != "jobs" else { throw .notFound }
    guard path.first != "composite" || path.dropFirst().first == "sobjects" else {
      throw OrgError(code: "INVALID_INPUT", message: "A composite cannot hold another composite")
    }
    let resolved = try body.map { value throws(OrgError) in try references.resolve(value) }
    return Router.answer(
      call.part(target, version: version, path: path, headers: headers, body: resolved))
  }
}

/// The results of a composite so far, for `@{referenceId.path}`.
struct CompositeReferences: Sendable {
  private var answers: [String: APIResponse] = [:]

  mutating func add(_ name: String, _ answer: APIResponse) { answers[name] = answer }

  /// Returns a value with the references in its texts resolved.
  func resolve(_ value: JSONValue) throws(OrgError) -> JSONValue {
    switch value {
    case .string(let text): return .string(try resolve(text))
    case .array(let values):
      var resolved: [JSONValue] = []
      for value in values { resolved.append(try resolve(value)) }
      return .array(resolved)
    case .object(let object):
      var resolved = JSONObject()
      for (name, value) in object { resolved[name] = try resolve(value) }
      return .object(resolved)
    case .null, .bool, .number: return value
    }
  }

  /// Returns a text with its references resolved.
  func resolve(_ text: String) throws(OrgError) -> String {
    guard text.contains("@{") else { return text }
    var result = ""
    var rest = text[...]
    while let opening = Self.place(of: "@{", in: rest) {
      guard let closing = rest[opening...].firstIndex(of: "}") else { break }
      result += rest[..<opening]
      let name = rest[rest.index(opening, offsetBy: 2)..<closing]
      result += try value(of: String(name))
      rest = rest[rest.index(after: closing)...]
    }
    return result + rest
  }

  private func value(of reference: String) throws(OrgError) -> String {
    let steps = reference.split(whereSeparator: { $0 == "." || $0 == "[" || $0 == "]" })
    guard let first = steps.first.map(String.init), let answer = answers[first] else {
      throw refusal(reference, "No operation of that referenceId comes before")
    }
    guard answer.isSuccess, !answer.body.isEmpty else {
      throw OrgError(
        code: "PROCESSING_HALTED",
        message: "Invalid reference specified. No value for \(reference) found in \(first)")
    }
    // A response that is not JSON has no values.
    var value = try? JSONValue(parsing: answer.body)
    for step in steps.dropFirst() {
      value = Int(step).flatMap { value?[$0] } ?? value?[String(step)]
    }
    switch value {
    case .string(let text): return text
    case .number(let text): return text
    case .bool(let flag): return String(flag)
    case .null, .array, .object, nil:
      throw refusal(reference, "No value for \(reference) found in \(first)")
    }
  }

  private func refusal(_ reference: String, _ why: String) -> OrgError {
    OrgError(code: "PROCESSING_HALTED", message: "Invalid reference specified. \(why)")
  }

  private static func place(of pattern: String, in text: Substring) -> Substring.Index? {
    text.indices.first { text[$0...].hasPrefix(pattern) }
  }
}
