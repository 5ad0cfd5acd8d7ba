/// The setup of one object, for all users.
struct ObjectRules: Sendable {
  /// A condition that no record may meet.
  struct Validation: Sendable {
    let name: String
    let condition: Formula
    /// The error message.
    let message: String
    /// The field to which it belongs; nil for the whole record.
    let field: String?
  }

  /// Fields that are set before a record is saved.
  struct Update: Sendable {
    let name: String
    let condition: Formula
    /// The fields and their formulas, in the order of the file.
    let values: [(field: FieldSchema, formula: Formula)]
  }

  /// The setup of a picklist.
  struct Picklist: Sendable {
    /// Its values, instead of the standard ones.
    var values: [String]?
    /// Whether only these values are accepted.
    var isRestricted = false
  }

  /// A limit to the records that some users see.
  struct Restriction: Sendable {
    let name: String
    /// The condition for the users to whom it applies, as a formula on their own records.
    let userCriteria: Formula
    /// The condition for the records that these users see.
    let recordFilter: Formula
  }

  /// The custom fields, in addition to the standard ones.
  var fields: [FieldSchema] = []
  /// The formulas of these fields, by field name.
  var formulas: [String: Formula] = [:]
  var restrictions: [Restriction] = []
  var picklists: [String: Picklist] = [:]
  var required: Set<String> = []
  var validations: [Validation] = []
  var updates: [Update] = []

  /// Whether anything runs when a record is saved.
  var isActive: Bool { !validations.isEmpty || !updates.isEmpty }
  /// The names of the fields that an update may set.
  var updatedFields: Set<String> { Set(updates.flatMap(\.values).map(\.field.name)) }
}

extension ObjectSchema {
  /// Returns the object with the setup of its fields.
  func adjusted(by rules: ObjectRules) -> ObjectSchema {
    let standard = fields.map { field in
      var field = field
      if rules.required.contains(field.name) { field.nillable = false }
      if let picklist = rules.picklists[field.name] { field.adjust(to: picklist) }
      return field
    }
    return with(rights: rights, fields: standard + rules.fields)
  }
}

extension FieldSchema {
  fileprivate mutating func adjust(to picklist: ObjectRules.Picklist) {
    isRestricted = picklist.isRestricted
    guard let values = picklist.values else { return }
    picklistValues = values.map { PicklistValue(value: $0, isDefault: $0 == defaultValue) }
    // A default that is no longer a value is removed.
    guard let standard = defaultValue, !values.contains(standard) else { return }
    defaultValue = nil
    defaultedOnCreate = false
  }
}
