import JSON
import Salesforce
import System

extension SecretSource {
  static let keys = ["env", "file", "credential", "command"]
  /// The four forms of a secret, as listed in suggested fixes.
  static let forms =
    #"{"env": "NAME"}, {"file": "PATH"}, {"credential": "NAME"} "#
    + #"or {"command": ["PROGRAM", "ARGUMENT"]}"#

  var json: JSONValue {
    switch self {
    case .env(let name): ["env": .string(name)]
    case .file(let path): ["file": .string(path)]
    case .credential(let name): ["credential": .string(name)]
    case .command(let words): ["command": JSONValue(words)]
    }
  }
}

extension ConfigurationReader {
  /// Reads a secret in one of its four forms.
  ///
  /// File paths are relative to `directory`.
  func secret(_ node: JSONNode, in directory: String) -> SecretSource? {
    if let text = node.string {
      let path = Self.join(directory, text)
      if Files.exists(path), !Files.isDirectory(path) {
        report(
          node, "the file of a secret is named in an object",
          "write {\"file\": \(JSONText.quoted(text))}")
      } else {
        report(node, "a secret cannot be written in the file", "write \(SecretSource.forms)")
      }
      return nil
    }
    guard let object = object(node, known: SecretSource.keys, what: "a secret") else { return nil }
    let given = SecretSource.keys.filter { object[$0] != nil }
    guard given.count == 1, let key = given.first else {
      report(
        node,
        given.isEmpty
          ? "this does not name the source of the secret" : "this names two sources for one secret",
        "write \(SecretSource.forms)")
      return nil
    }
    switch key {
    case "env": return object.text(key).map(SecretSource.env)
    case "file": return object.text(key).map { .file(Self.join(directory, $0)) }
    case "credential":
      guard let name = object.text(key) else { return nil }
      if name.contains("/"), let node = object[key] {
        report(node, "a credential is a name in $CREDENTIALS_DIRECTORY", "leave out the directory")
      }
      return .credential(name)
    default:
      guard let words = object.strings(key), let node = object[key] else { return nil }
      guard let program = words.first, !program.isEmpty else {
        report(node, "the command is empty", "name a program and its arguments")
        return nil
      }
      if program.contains(" ") {
        report(
          node, "no shell runs the command, so each argument is a separate string",
          "write \(JSONValue(program.split(separator: " ").map(String.init)).text)")
      } else if !program.hasPrefix("/") {
        report(node, "the program's path is not absolute", "write /…/\(program)")
      }
      return .command(words)
    }
  }

  /// Reads plain text, or a secret in one of its four forms.
  func text(_ node: JSONNode, in directory: String) -> TextSource? {
    if node.members != nil { return secret(node, in: directory).map(TextSource.source) }
    guard let text = string(node) else { return nil }
    if text.isEmpty {
      report(node, "the text is empty", "write it in quotes, or \(SecretSource.forms)")
    }
    return .plain(text)
  }

  /// Reads a share such as `"10%"`.
  func percentage(_ node: JSONNode) -> Percentage? {
    if case .number(let literal) = node.content {
      wrongType(node, "a percentage", "write \"\(literal)%\"")
      return nil
    }
    guard let text = string(node) else { return nil }
    guard text.hasSuffix("%"), let value = Int(text.dropLast()), (0...100).contains(value) else {
      let digits = text.prefix { $0.isNumber }
      let example = Int(digits).flatMap { (0...100).contains($0) ? $0 : nil } ?? 10
      let isShare = text.hasSuffix("%") && Int(text.dropLast()) != nil
      report(
        node,
        JSONText.quoted(text)
          + (isShare ? " must be from 0% to 100%" : " is not a percentage"),
        "write \"\(example)%\"")
      return nil
    }
    return Percentage(value)
  }

  /// Whether a URL contains a user name or a password.
  ///
  /// Reports it without showing them.
  func hasCredentials(_ url: String, _ node: JSONNode) -> Bool {
    guard let fault = OrgAddress.credentials(in: url) else { return false }
    report(node, fault.what, fault.fix)
    return true
  }

  /// Reports text that contains a NUL character, at which the system would cut off a path.
  func refuseNUL(in node: JSONNode) {
    if node.string?.utf8.contains(0) == true {
      report(node, "text with a NUL cannot be a path or a name", "remove the \\u0000")
    }
    for member in node.members ?? [] { refuseNUL(in: member.value) }
    for element in node.array ?? [] { refuseNUL(in: element) }
  }

  /// Joins `path` to `directory`, unless `path` is absolute.
  static func join(_ directory: String, _ path: String) -> String {
    path.hasPrefix("/") || directory.isEmpty ? path : directory + "/" + path
  }
}

extension ConfigurationObject {
  func percentage(_ name: String, default standard: Percentage) -> Percentage {
    self[name].flatMap(reader.percentage) ?? standard
  }

  /// Reads an optional whole number.
  func optionalInt(_ name: String, in range: ClosedRange<Int> = 0...Int.max) -> Int? {
    self[name].flatMap { reader.int($0, in: range) }
  }

  /// Reads a list of keywords without duplicates.
  func words<Word: RawRepresentable<String> & CaseIterable & Equatable>(
    _ name: String, _ what: String, default standard: [Word]
  ) -> [Word] {
    guard let elements = elements(name) else { return standard }
    var words: [Word] = []
    for element in elements {
      guard let word = reader.word(element, what, as: Word.self) else { continue }
      if words.contains(word) {
        reader.report(element, "\(JSONText.quoted(word.rawValue)) is listed twice", "remove one")
      } else {
        words.append(word)
      }
    }
    return words
  }
}
