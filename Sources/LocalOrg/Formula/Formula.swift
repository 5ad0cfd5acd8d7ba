/// A parsed formula of a validation rule or a field update.
indirect enum Formula: Sendable {
  case constant(FormulaValue)
  case field(FormulaField)
  /// A function, or an operator as a function of two arguments.
  case call(String, [Formula])

  /// Parses a formula for the records of an object.
  init(parsing text: String, of object: ObjectSchema, in catalog: Catalog) throws(FormulaError) {
    self = try FormulaParser.parse(text, of: object, in: catalog)
  }
}

/// A field in a formula: of the record, of a parent, or of the user who writes.
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
  let field: FieldSchema
}

/// The reason why a formula is invalid.
struct FormulaError: Error, Sendable {
  let message: String
  let fix: String
  /// The position in characters, starting at 1.
  let place: Int
}
