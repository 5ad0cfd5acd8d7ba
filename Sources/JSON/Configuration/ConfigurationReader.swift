import System

/// Reads a configuration file into typed values and collects all problems.
package final class ConfigurationReader {
  /// The name of the file in problems.
  package let file: String
  /// The problems found so far.
  package private(set) var problems: [Problem] = []

  /// Whether unknown keys are ignored, as the SDK does.
  package let isLenient: Bool

  /// Creates a reader of a file that has not been parsed yet.
  package init(file: String, isLenient: Bool = false) {
    self.file = file
    self.isLenient = isLenient
  }

  /// Parses the file; nil if nothing of it can be understood.
  ///
  /// Problems are collected.
  package func parse(_ bytes: [UInt8]) -> JSONNode? {
    let result = JSONNode.read(bytes)
    problems += result.faults.map { Problem(file: file, $0) }
    return result.node
  }

  /// Adds a problem at a value.
  package func report(_ node: JSONNode, _ message: String, _ fix: String) {
    add(node.line, node.column, node.path, message, fix)
  }

  /// Adds a problem at a member's name.
  package func report(_ member: JSONNode.Member, _ message: String, _ fix: String) {
    add(member.nameLine, member.nameColumn, member.value.path, message, fix)
  }

  /// Adds a problem with the file itself.
  package func report(_ message: String, _ fix: String) {
    add(0, 0, "", message, fix)
  }

  /// Adds a problem at a known position.
  package func add(_ line: Int, _ column: Int, _ path: String, _ message: String, _ fix: String) {
    problems.append(
      Problem(file: file, line: line, column: column, path: path, message: message, fix: fix))
  }

  /// The problems in the order of the file.
  package var sorted: [Problem] {
    problems.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < (
        $1.element.line, $1.element.column, $1.offset
      )
    }.map(\.element)
  }

  /// Throws the problems found, if any.
  package func finish() throws(Problems) {
    guard problems.isEmpty else { throw Problems(sorted) }
  }

  /// The members of an object with the `known` names; nil, and reported, for anything else.
  package func object(_ node: JSONNode, known: [String], what: String) -> ConfigurationObject? {
    guard let members = node.members else {
      wrongType(node, "an object", "write \(what) in braces: { … }")
      return nil
    }
    return ConfigurationObject(node: node, members: members, known: known, what: what, reader: self)
  }

  package func string(_ node: JSONNode) -> String? {
    if let string = node.string { return string }
    if case .number(let literal) = node.content {
      wrongType(node, "a string", "write it in quotes: \"\(literal)\"")
    } else {
      wrongType(node, "a string", "write a text in quotes")
    }
    return nil
  }

  /// A list of strings.
  package func strings(_ node: JSONNode, example: String = "[\"…\"]") -> [String]? {
    if let text = node.string {
      let parts = text.split(separator: ",").map {
        String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
      wrongType(node, "an array of strings", "write \(JSONValue(parts).text)")
      return nil
    }
    guard let elements = node.array else {
      wrongType(node, "an array of strings", "write \(example)")
      return nil
    }
    let strings = elements.map(string)
    return strings.contains(nil) ? nil : strings.compactMap(\.self)
  }

  /// A whole number in `range`.
  package func int(_ node: JSONNode, in range: ClosedRange<Int>) -> Int? {
    guard case .number(let literal) = node.content else {
      let isDigits = node.string.flatMap(Int.init)
      wrongType(
        node, "a whole number", isDigits.map { "write \($0) without quotes" } ?? Self.numberFix)
      return nil
    }
    guard let int = Int(literal), range.contains(int) else {
      let most = range.upperBound == Int.max ? "" : " and at most \(range.upperBound)"
      report(
        node, "\(literal) is out of range",
        "write a whole number of at least \(range.lowerBound)\(most)")
      return nil
    }
    return int
  }

  private static let numberFix = "write a number without quotes, such as 60"

  package func bool(_ node: JSONNode) -> Bool? {
    if let bool = node.bool { return bool }
    let word = node.string.flatMap { ["true", "false"].contains($0.lowercased()) ? $0 : nil }
    wrongType(
      node, "true or false",
      word.map { "write \($0.lowercased()) without quotes" } ?? "write true or false")
    return nil
  }

  /// A word of a closed list.
  package func word<Word: RawRepresentable<String> & CaseIterable>(
    _ node: JSONNode, _ what: String, as type: Word.Type = Word.self
  ) -> Word? {
    guard let text = string(node) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue)
    report(node, "\(JSONText.quoted(text)) is not \(what)", Self.oneOf(words, near: text))
    return nil
  }

  /// "did you mean …?" if one of `words` is similar, otherwise the list of words.
  package static func oneOf(_ words: [String], near text: String) -> String {
    guard !words.isEmpty else { return "remove it: none is defined" }
    let list =
      (words.count > 1 ? "one of " : "") + words.map(JSONText.quoted).joined(separator: ", ")
    guard let nearest = Spelling.nearest(text, among: words) else { return "write \(list)" }
    if words.count == 1 { return "did you mean \(JSONText.quoted(nearest))?" }
    return "did you mean \(JSONText.quoted(nearest))? It is \(list)"
  }

  /// Reports a value of the wrong type.
  package func wrongType(_ node: JSONNode, _ expected: String, _ fix: String) {
    report(node, "this must be \(expected), not \(node.kind)", fix)
  }
}

extension JSONNode {
  /// The type of the value, for messages.
  package var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
