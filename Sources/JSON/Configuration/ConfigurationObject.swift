import System

/// The members of an object in a configuration file, read by name and type.
///
/// An unknown name is reported at once. If it is clearly a misspelling of a missing name, its value
/// is read under that name, so that its content is validated too.
package struct ConfigurationObject {
  /// The object.
  package let node: JSONNode
  /// The description of the object, as in "a soup needs …".
  package let what: String
  /// The reader that collects the problems.
  package let reader: ConfigurationReader
  private var values: [String: JSONNode.Member] = [:]

  init(
    node: JSONNode, members: [JSONNode.Member], known: [String], what: String,
    reader: ConfigurationReader
  ) {
    self.node = node
    self.what = what
    self.reader = reader
    for member in members where known.contains(member.name) { values[member.name] = member }
    for member in members where !reader.isLenient && !known.contains(member.name) {
      let free = known.filter { values[$0] == nil }
      let nearest =
        Spelling.nearest(member.name, among: free)
        ?? Spelling.nearest(member.name, among: known)
      report(unknown: member, nearest: nearest, known: known)
      if let nearest, values[nearest] == nil { values[nearest] = member }
    }
  }

  private func report(unknown member: JSONNode.Member, nearest: String?, known: [String]) {
    let quoted = JSONText.quoted(member.name)
    guard let nearest else {
      let list = known.filter { $0 != "$schema" }.map(JSONText.quoted).joined(separator: ", ")
      reader.report(member, "\(what) has no key \(quoted)", "remove it; the keys are \(list)")
      return
    }
    let letters = Spelling.lookAlikes(member.name, of: nearest)?
      .map { "\"\($0.wrong)\" is not the letter \"\($0.right)\"" }.joined(separator: ", ")
    let note = letters.map { " (\($0))" } ?? ""
    reader.report(
      member, "\(what) has no key \(quoted)\(note)", "did you mean \(JSONText.quoted(nearest))?")
  }

  /// The member with its name and value.
  package func member(_ name: String) -> JSONNode.Member? { values[name] }

  /// The value of a member; an explicit null counts as absent.
  package subscript(_ name: String) -> JSONNode? {
    values[name].flatMap { $0.value.isNull ? nil : $0.value }
  }

  /// The value of a required member.
  package func required(_ name: String, _ example: String) -> JSONNode? {
    if let value = self[name] { return value }
    reader.report(
      values[name]?.value ?? node, "\(what) needs \(JSONText.quoted(name))",
      "add \(JSONText.quoted(name)): \(example)")
    return nil
  }

  /// The string; nil if absent or invalid.
  package func string(_ name: String) -> String? { self[name].flatMap(reader.string) }

  /// The non-empty string; nil if absent or invalid.
  package func text(_ name: String) -> String? {
    self[name].flatMap { filled($0, name, "\"…\"") }
  }

  /// The non-empty string of a required member.
  package func requiredText(_ name: String, _ example: String = "\"…\"") -> String? {
    required(name, example).flatMap { filled($0, name, example) }
  }

  private func filled(_ node: JSONNode, _ name: String, _ example: String) -> String? {
    guard let text = reader.string(node) else { return nil }
    if text.isEmpty {
      let key = JSONText.quoted(name)
      reader.report(node, "\(what) needs a \(key) that is not empty", "write \(key): \(example)")
    }
    return text.isEmpty ? nil : text
  }

  /// The list of strings; nil if absent or invalid.
  package func strings(_ name: String) -> [String]? {
    self[name].flatMap { reader.strings($0) }
  }

  /// The whole number, or the default.
  package func int(
    _ name: String, default standard: Int, in range: ClosedRange<Int> = 0...Int.max
  ) -> Int {
    self[name].flatMap { reader.int($0, in: range) } ?? standard
  }

  /// The Boolean, or the default.
  package func bool(_ name: String, default standard: Bool) -> Bool {
    self[name].flatMap(reader.bool) ?? standard
  }

  /// A word of a closed list, or the default.
  package func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ what: String, default standard: Word
  ) -> Word {
    self[name].flatMap { reader.word($0, what) } ?? standard
  }

  /// The members of a nested object; nil if absent or invalid.
  package func object(_ name: String, known: [String], what: String) -> ConfigurationObject? {
    self[name].flatMap { reader.object($0, known: known, what: what) }
  }

  /// The elements of an array; nil, and reported, if it is not an array.
  package func elements(_ name: String) -> [JSONNode]? {
    guard let value = self[name] else { return nil }
    guard let elements = value.array else {
      reader.wrongType(value, "an array", "put it in brackets: [ … ]")
      // A single element without brackets is read as a list of one, to find its other problems.
      return value.members == nil ? nil : [value]
    }
    return elements
  }
}
