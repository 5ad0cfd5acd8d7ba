import JSON

/// Queries for records by a value of another system.
package enum ExternalIDQuery {
  /// The condition of a query for records with one of the values; nil if the field cannot be
  /// queried that way.
  package static func condition(_ describe: Describe, field: String, values: [String]) -> String? {
    guard let field = describe.field(field), field.isFilterable else { return nil }
    let literals: [String]
    switch field.type {
    case "double", "int", "long", "currency", "percent":
      // A number is not quoted in a query, so only a valid number is accepted.
      literals = values.filter { Double($0)?.isFinite == true && $0.allSatisfy(Self.isOfNumber) }
    default: literals = values.map { SOQLLiteral.text($0) }
    }
    guard !literals.isEmpty else { return nil }
    return "\(field.name) IN (\(literals.joined(separator: ", ")))"
  }

  /// Whether a record's value is the requested one, by the org's comparison.
  package static func isSame(_ one: JSONValue?, _ value: String) -> Bool {
    switch one {
    case .string(let text)?: text == value || text.lowercased() == value.lowercased()
    case .number?: Double(value) != nil && FieldValue.isSame(one, .number(value))
    default: false
    }
  }

  private static func isOfNumber(_ character: Character) -> Bool {
    character.isASCII && (character.isNumber || "+-.eE".contains(character))
  }
}
