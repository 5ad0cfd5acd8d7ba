/// The setup for the records of one object, for all users.
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
    with(
      rights: rights,
      fields: fields.map { field in
        var field = field
        if rules.required.contains(field.name) { field.nillable = false }
        if let picklist = rules.picklists[field.name] { field.adjust(to: picklist) }
        return field
      })
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
