import System

/// The members of one object of a configuration file, asked for by name and type.
///
/// A name that nobody knows is reported at once; where it is plainly a misspelling of one that is
/// missing, its value is read as that one's, so that what stands in it is checked too.
package struct ConfigurationObject {
  /// The object itself.
  package let node: JSONNode
  /// What the object is, as in "a soup needs …".
  package let what: String
  /// Where problems go.
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

  /// The member, name and value.
  package func member(_ name: String) -> JSONNode.Member? { values[name] }

  /// The value of a member; an explicit null counts as absent.
  package subscript(_ name: String) -> JSONNode? {
    values[name].flatMap { $0.value.isNull ? nil : $0.value }
  }

  /// The value of a member that must be there.
  package func required(_ name: String, _ example: String) -> JSONNode? {
    if let value = self[name] { return value }
    reader.report(
      values[name]?.value ?? node, "\(what) needs \(JSONText.quoted(name))",
      "add \(JSONText.quoted(name)): \(example)")
    return nil
  }

  /// A text, or nil.
  package func string(_ name: String) -> String? { self[name].flatMap(reader.string) }

  /// A text with at least one character, or nil.
  package func text(_ name: String) -> String? { self[name].flatMap(filled) }

  /// A text that must be there and have at least one character.
  package func requiredText(_ name: String, _ example: String = "\"…\"") -> String? {
    required(name, example).flatMap(filled)
  }

  private func filled(_ node: JSONNode) -> String? {
    guard let text = reader.string(node) else { return nil }
    if text.isEmpty { reader.report(node, "this is empty", "write a text") }
    return text.isEmpty ? nil : text
  }

  /// A list of texts, or nil.
  package func strings(_ name: String) -> [String]? {
    self[name].flatMap { reader.strings($0) }
  }

  /// A whole number, or the default.
  package func int(
    _ name: String, default standard: Int, in range: ClosedRange<Int> = 0...Int.max
  ) -> Int {
    self[name].flatMap { reader.int($0, in: range) } ?? standard
  }

  /// True or false, or the default.
  package func bool(_ name: String, default standard: Bool) -> Bool {
    self[name].flatMap(reader.bool) ?? standard
  }

  /// A word of a closed list, or the default.
  package func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ what: String, default standard: Word
  ) -> Word {
    self[name].flatMap { reader.word($0, what) } ?? standard
  }

  /// The members of an object inside, or nil.
  package func object(_ name: String, known: [String], what: String) -> ConfigurationObject? {
    self[name].flatMap { reader.object($0, known: known, what: what) }
  }

  /// The elements of an array, or nil with a problem.
  package func elements(_ name: String) -> [JSONNode]? {
    guard let value = self[name] else { return nil }
    guard let elements = value.array else {
      reader.wrongType(value, "an array", "put it in brackets: [ … ]")
      // One element without its brackets is read as a list of one, to find what else is wrong.
      return value.members == nil ? nil : [value]
    }
    return elements
  }
}
