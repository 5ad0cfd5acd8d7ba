/// Parsed JSON without positions: responses, manifests, sync states.
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

  /// The element of an array; nil outside it and for anything else.
  package subscript(_ index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The text of a string.
  package var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The value of a number that is an integer of 64 bits, however it is written.
  package var int: Int64? {
    guard case .number(let literal) = self else { return nil }
    if let integer = Int64(literal) { return integer }
    // 1e3 and 5.0 are integers too, as far as a double is exact.
    guard let double = Double(literal), abs(double) <= 9_007_199_254_740_992 else { return nil }
    let integer = Int64(double)
    return Double(integer) == double ? integer : nil
  }

  /// The value of a number.
  package var double: Double? {
    if case .number(let literal) = self { Double(literal) } else { nil }
  }

  /// The value of true or false.
  package var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The elements of an array.
  package var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members of an object.
  package var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// True for null.
  package var isNull: Bool { self == .null }
}

// Not by nil: `flag ? value : nil` would be null where nothing is meant.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// A string.
  package init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  package init(integerLiteral value: Int64) { self = .number(String(value)) }
  /// A number with a fraction.
  package init(floatLiteral value: Double) { self = .init(value) }
  /// True or false.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object; of equal names the last value stays.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }

  /// A string.
  package init(_ string: String) { self = .string(string) }
  /// An integer.
  package init(_ integer: some BinaryInteger) { self = .number(String(integer)) }
  /// True or false.
  package init(_ bool: Bool) { self = .bool(bool) }
  /// A number; what JSON cannot say (infinity, NaN) becomes null.
  package init(_ double: Double) { self = double.isFinite ? .number("\(double)") : .null }
  /// An array of strings.
  package init(_ strings: [String]) { self = .array(strings.map(JSONValue.string)) }
}
