/// The header fields of a message: ordered, with case-insensitive lookup.
package struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One header field, as sent.
  package struct Field: Sendable, Hashable {
    /// The name in the sender's spelling.
    package var name: String
    /// The value without surrounding white space.
    package var value: String
  }

  /// All fields in order; a name may occur more than once.
  package private(set) var all: [Field] = []

  package init() {}

  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name, value) }
  }

  /// The first value of `name`.
  ///
  /// Setting it replaces all fields with that name; nil removes them.
  package subscript(_ name: String) -> String? {
    get { all.first { Self.same($0.name, name) }?.value }
    set {
      let place = all.firstIndex { Self.same($0.name, name) }
      all.removeAll { Self.same($0.name, name) }
      guard let newValue else { return }
      all.insert(Field(name: name, value: newValue), at: place ?? all.count)
    }
  }

  /// Appends a field, even if the name already occurs.
  package mutating func add(_ name: String, _ value: String) {
    all.append(Field(name: name, value: value))
  }

  /// All values of `name`, in order.
  package func values(_ name: String) -> [String] {
    all.filter { Self.same($0.name, name) }.map(\.value)
  }

  /// Field names are ASCII, so it is enough to ignore one bit of each letter.
  private static func same(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).allSatisfy { lowercase($0) == lowercase($1) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
