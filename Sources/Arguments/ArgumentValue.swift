/// A type whose values can be written as one word of a command line.
package protocol ArgumentValue: Sendable {
  /// The value that a word stands for, nil when it stands for none.
  init?(argument: String)
  /// The words that are allowed, when they can be listed.
  static var candidates: [String] { get }
  /// What a word has to be, as an error says it: "a whole number".
  static var expectation: String { get }
  /// The word that stands for this value, as help shows a default.
  var argumentText: String { get }
}

extension ArgumentValue {
  /// No list of allowed words.
  package static var candidates: [String] { [] }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
  /// The case with this raw value.
  package init?(argument: String) { self.init(rawValue: argument) }
  /// Every raw value, in the order of declaration.
  package static var candidates: [String] { allCases.map(\.rawValue) }
  /// The list of words.
  package static var expectation: String { "one of " + candidates.joined(separator: ", ") }
  /// The raw value.
  package var argumentText: String { rawValue }
}

extension String: ArgumentValue {
  /// The word itself.
  package init?(argument: String) { self = argument }
  /// Any text.
  package static var expectation: String { "a text" }
  /// The text itself.
  package var argumentText: String { self }
}

extension Int: ArgumentValue {
  /// A whole number in decimal digits.
  package init?(argument: String) { self.init(argument, radix: 10) }
  /// A whole number.
  package static var expectation: String { "a whole number" }
  /// Decimal digits.
  package var argumentText: String { String(self) }
}

extension Double: ArgumentValue {
  /// A finite number in decimal notation.
  package init?(argument: String) {
    guard let value = Double(argument), value.isFinite else { return nil }
    self = value
  }
  /// A number.
  package static var expectation: String { "a number" }
  /// Decimal notation.
  package var argumentText: String { description }
}
