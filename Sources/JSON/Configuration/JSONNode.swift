/// A parsed configuration value with its position.
package struct JSONNode: Sendable {
  /// The value itself; a number is its text as written, so that no digit is lost.
  package enum Content: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  /// A member of an object, with the position of its name for messages.
  package struct Member: Sendable {
    package let name: String
    /// The line of the name's opening quote, counted from 1.
    package let nameLine: Int
    /// The column of the name's opening quote, counted in characters from 1.
    package let nameColumn: Int
    package let value: JSONNode
  }

  package let content: Content
  /// The line where the value starts, counted from 1.
  package let line: Int
  /// The column where the value starts, counted in characters from 1.
  package let column: Int
  /// The path of the value, such as `stores[0].soups[2].soupName`; empty for the root.
  package let path: String

  /// The value of a member; nil if this is not an object or has no such member.
  package subscript(_ name: String) -> JSONNode? {
    members?.first { $0.name == name }?.value
  }

  /// The members of an object; nil for anything else.
  package var members: [Member]? {
    if case .object(let members) = content { members } else { nil }
  }

  /// The elements of an array; nil for anything else.
  package var array: [JSONNode]? {
    if case .array(let elements) = content { elements } else { nil }
  }

  /// The text of a string; nil for anything else.
  package var string: String? {
    if case .string(let string) = content { string } else { nil }
  }

  /// The value of an integer; nil for anything else.
  package var int: Int? {
    if case .number(let literal) = content { Int(literal) } else { nil }
  }

  /// The value of a Boolean; nil for anything else.
  package var bool: Bool? {
    if case .bool(let bool) = content { bool } else { nil }
  }

  package var isNull: Bool {
    if case .null = content { true } else { false }
  }

  /// The same value without the member at `path`.
  ///
  /// Each name except the last must lead to an object.
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
