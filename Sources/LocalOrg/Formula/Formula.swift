/// A formula of a validation rule or a field update, as it was read.
indirect enum Formula: Sendable {
  case constant(FormulaValue)
  case field(FormulaField)
  /// A function, or an operator, which is one of two arguments.
  case call(String, [Formula])

  /// Reads a formula over the records of an object.
  init(parsing text: String, of object: ObjectSchema, in catalog: Catalog) throws(FormulaError) {
    self = try FormulaParser.parse(text, of: object, in: catalog)
  }
}

/// A field that a formula names: of the record, of a parent, of the user who writes.
struct FormulaField: Sendable {
  /// Whose field it is, before relationships are followed.
  enum Source: String, CaseIterable, Sendable {
    case record = ""
    case user = "$User"
    case profile = "$Profile"
  }

  let source: Source
  /// The lookups that are followed.
  let steps: [FieldSchema]
  let field: FieldSchema
}

/// Why a formula cannot be read.
struct FormulaError: Error, Sendable {
  let message: String
  let fix: String
  /// Where, counted in characters from 1.
  let place: Int
}
