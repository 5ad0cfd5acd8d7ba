/// A type whose values can be written as one word of a command line.
package protocol ArgumentValue: Sendable {
  /// Parses a word; nil if it is not a value of this type.
  init?(argument: String)
  /// The allowed words, if they can be listed.
  static var candidates: [String] { get }
  /// The requirement for a word, as part of an error message: "a whole number".
  static var expectation: String { get }
  /// The word for this value, as help shows a default.
  var argumentText: String { get }
}

extension ArgumentValue {
  package static var candidates: [String] { [] }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
  package init?(argument: String) { self.init(rawValue: argument) }
  /// The raw values, in the order of declaration.
  package static var candidates: [String] { allCases.map(\.rawValue) }
  /// The list of allowed words.
  package static var expectation: String {
    (candidates.count == 1 ? "" : "one of ") + candidates.joined(separator: ", ")
  }
  package var argumentText: String { rawValue }
}

extension String: ArgumentValue {
  package init?(argument: String) { self = argument }
  package static var expectation: String { "a text" }
  package var argumentText: String { self }
}

extension Int: ArgumentValue {
  /// Parses a whole number in decimal digits.
  package init?(argument: String) { self.init(argument, radix: 10) }
  package static var expectation: String { "a whole number" }
  package var argumentText: String { String(self) }
}

extension Double: ArgumentValue {
  /// Parses a finite number in decimal notation.
  package init?(argument: String) {
    guard let value = Double(argument), value.isFinite else { return nil }
    self = value
  }
  package static var expectation: String { "a number" }
  package var argumentText: String { description }
}
