/// Configuration: a tree that knows where each value stands.
package struct JSONNode: Sendable {
  /// What a value is.
  package enum Content: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  /// A member of an object.
  package struct Member: Sendable {
    /// The name.
    package let name: String
    /// The 1-based line of the name's quote.
    package let nameLine: Int
    /// The 1-based column of the name's quote, in characters.
    package let nameColumn: Int
    /// The value.
    package let value: JSONNode
  }

  /// What the value is.
  package let content: Content
  /// The 1-based line where the value starts.
  package let line: Int
  /// The 1-based column where the value starts, in characters.
  package let column: Int
  /// The way to the value, as `stores[0].soups[2].soupName`; empty for the root.
  package let path: String

  /// The value of a member; nil when this is no object or has no such member.
  package subscript(_ name: String) -> JSONNode? {
    members?.first { $0.name == name }?.value
  }

  /// The members of an object.
  package var members: [Member]? {
    if case .object(let members) = content { members } else { nil }
  }

  /// The elements of an array.
  package var array: [JSONNode]? {
    if case .array(let elements) = content { elements } else { nil }
  }

  /// The text of a string.
  package var string: String? {
    if case .string(let string) = content { string } else { nil }
  }

  /// The value of a number that is an integer.
  package var int: Int? {
    if case .number(let literal) = content { Int(literal) } else { nil }
  }

  /// The value of true or false.
  package var bool: Bool? {
    if case .bool(let bool) = content { bool } else { nil }
  }

  /// True for null.
  package var isNull: Bool {
    if case .null = content { true } else { false }
  }

  /// The same value without the member at `path`, of which each name but the last leads to an object.
  package func removing(_ path: ArraySlice<String>) -> JSONNode {
    guard let name = path.first, let members else { return self }
    let rest = path.dropFirst()
    let kept = members.compactMap { member -> Member? in
      guard member.name == name else { return member }
      if rest.isEmpty { return nil }
      return Member(
        name: name, nameLine: member.nameLine, nameColumn: member.nameColumn,
        value: member.value.removing(rest))
    }
    return JSONNode(content: .object(kept), line: line, column: column, path: self.path)
  }

  /// The same value without positions.
  package var value: JSONValue {
    switch content {
    case .null: .null
    case .bool(let bool): .bool(bool)
    case .number(let literal): .number(literal)
    case .string(let string): .string(string)
    case .array(let elements): .array(elements.map(\.value))
    case .object(let members):
      .object(JSONObject(members.map { (name: $0.name, value: $0.value.value) }))
    }
  }
}
