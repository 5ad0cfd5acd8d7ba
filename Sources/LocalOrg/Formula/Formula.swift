/// A parsed formula: of a validation rule, a field update, a formula field or a restriction rule.
indirect enum Formula: Sendable {
  case constant(FormulaValue)
  case field(FormulaField)
  /// A function, or an operator as a function of two arguments.
  case call(String, [Formula])

  /// Parses a formula for the records of an object.
  init(parsing text: String, of object: ObjectSchema, in catalog: Catalog) throws(FormulaError) {
    self = try FormulaParser.parse(text, of: object, in: catalog)
  }

  /// The fields that it names.
  var fields: [FormulaField] {
    switch self {
    case .constant: []
    case .field(let field): [field]
    case .call(_, let arguments): arguments.flatMap(\.fields)
    }
  }

  /// The functions and operators that it calls.
  var functions: Set<String> {
    guard case .call(let name, let arguments) = self else { return [] }
    return arguments.reduce(into: [name]) { $0.formUnion($1.functions) }
  }
}

/// A field in a formula: of the record, of a parent, or of the user who reads or writes.
struct FormulaField: Sendable {
  /// The owner of the field, before relationships are followed.
  enum Source: String, CaseIterable, Sendable {
    case record = ""
    case user = "$User"
    case profile = "$Profile"
  }

  let source: Source
  /// The lookups to follow.
  let steps: [FieldSchema]
  /// The object of the field.
  let object: String
  let field: FieldSchema
}

/// The reason why a formula is invalid.
struct FormulaError: Error, Sendable {
  let message: String
  let fix: String
  /// The position in characters, starting at 1.
  let place: Int
}
