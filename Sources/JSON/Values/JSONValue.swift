/// Parsed JSON without positions, for responses, manifests and sync states.
///
/// Numbers keep their literal, objects their order.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// The literal as written: `1.50` stays `1.50`.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The member of an object; nil for anything else.
  package subscript(_ name: String) -> JSONValue? { object?[name] }

  /// The element of an array; nil outside its bounds and for anything else.
  package subscript(_ index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The text of a string; nil for anything else.
  package var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The value of a 64-bit integer in any spelling; nil for anything else.
  package var int: Int64? {
    guard case .number(let literal) = self else { return nil }
    if let integer = Int64(literal) { return integer }
    // 1e3 and 5.0 are integers too, within the range in which a double is exact.
    guard let double = Double(literal), abs(double) <= 9_007_199_254_740_992 else { return nil }
    let integer = Int64(double)
    return Double(integer) == double ? integer : nil
  }

  /// The value of a number; nil for anything else.
  package var double: Double? {
    if case .number(let literal) = self { Double(literal) } else { nil }
  }

  /// The value of a Boolean; nil for anything else.
  package var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The elements of an array; nil for anything else.
  package var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members of an object; nil for anything else.
  package var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  package var isNull: Bool { self == .null }
}

// There is no literal nil: `flag ? value : nil` would silently mean null.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .number(String(value)) }
  package init(floatLiteral value: Double) { self = .init(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object.
  ///
  /// For equal names, the last value is kept.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { (name: $0, value: $1) }))
  }

  package init(_ string: String) { self = .string(string) }
  package init(_ integer: some BinaryInteger) { self = .number(String(integer)) }
  package init(_ bool: Bool) { self = .bool(bool) }
  /// Creates a number.
  ///
  /// Infinity and NaN, which JSON does not have, become null.
  package init(_ double: Double) { self = double.isFinite ? .number("\(double)") : .null }
  package init(_ strings: [String]) { self = .array(strings.map(JSONValue.string)) }
}
