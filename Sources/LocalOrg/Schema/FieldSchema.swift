/// The type of a field, as named by describe.
package enum FieldType: String, Sendable {
  case id, string, boolean, int, double, currency, percent, date, datetime, time, email, phone
  case url, textarea, picklist, multipicklist, combobox, reference, address, location
  case encryptedstring, base64

  /// Whether values are stored and compared as text.
  package var isText: Bool {
    switch self {
    case .string, .email, .phone, .url, .textarea, .picklist, .multipicklist, .combobox,
      .encryptedstring:
      true
    default: false
    }
  }

  package var isNumber: Bool {
    switch self {
    case .int, .double, .currency, .percent: true
    default: false
    }
  }

  package var isID: Bool { self == .id || self == .reference }
}

/// One value of a picklist.
package struct PicklistValue: Sendable, Hashable {
  /// The value in the API.
  package let value: String
  /// Whether it is the default of a new record.
  package let isDefault: Bool
}

/// One field of an object, with the properties shown by describe.
package struct FieldSchema: Sendable {
  package private(set) var name: String
  package let label: String
  package let type: FieldType
  /// The maximum length in characters; 0 if not applicable.
  package var length = 0
  /// The number of digits of a decimal number, before and after the decimal point.
  package var precision = 0
  /// The number of digits after the decimal point.
  package var scale = 0
  /// The maximum number of digits of an integer.
  package var digits = 0
  package var createable = true
  package var updateable = true
  package var nillable = true
  /// Whether the org sets it if a create does not.
  package var defaultedOnCreate = false
  package var externalId = false
  /// Whether an upsert may identify a record by it.
  package var idLookup = false
  /// Whether values are unique.
  package var unique = false
  /// Whether comparisons are case-sensitive.
  package var caseSensitive = false
  /// Whether it is a formula field.
  package var calculated = false
  /// The formula as describe shows it; nil if it is hidden.
  package var calculatedFormula: String?
  /// The mask of an encrypted field.
  package var mask: FieldMask?
  /// Whether its values come from a counter.
  package var autoNumber = false
  /// Whether it is a custom field.
  package var custom = false
  /// Whether it is the record's name.
  package var nameField = false
  /// The compound field to which it belongs.
  package var compoundFieldName: String?
  /// The objects to which a reference may refer.
  package var referenceTo: [String] = []
  /// Whether the record is deleted with its parent.
  package var cascadesDelete = false
  /// Whether the parent cannot be deleted while the record exists.
  package var restrictsDelete = false
  /// The name of the relationship to the parent.
  package var relationshipName: String?
  /// The name of the relationship from the parent, if it has one.
  package var childRelationshipName: String?
  /// The values of a picklist; other values are accepted unless it is restricted.
  package var picklistValues: [PicklistValue] = []
  /// Whether a picklist accepts only its own values.
  package var isRestricted = false
  /// The default value of a new record, as the API shows it.
  package var defaultValue: String?
  /// Whether conditions may use it.
  package var filterable = true
  /// Whether ORDER BY may use it.
  package var sortable = true

  /// Creates a field; its other properties are those of a plain custom field.
  package init(_ name: String, _ label: String, _ type: FieldType) {
    self.name = name
    self.label = label
    self.type = type
  }

  /// The same field under another name.
  func renamed(_ name: String) -> FieldSchema {
    var copy = self
    copy.name = name
    return copy
  }

  /// Whether a create without it fails.
  package var isRequired: Bool { !nillable && createable && !defaultedOnCreate }

  /// Whether a profile may hide it from a user; the parts of a compound field follow the compound
  /// field.
  package var isPermissionable: Bool {
    (nillable || type == .boolean) && (createable || !isStored) && compoundFieldName == nil
  }

  package var isGroupable: Bool {
    isStored && length <= 255
      && ![.datetime, .double, .currency, .percent, .encryptedstring, .base64].contains(type)
  }

  /// Whether the field has its own column.
  package var isStored: Bool { !isCompound && !calculated }

  /// Whether the value consists of other fields.
  package var isCompound: Bool { type == .address || type == .location }

  /// Whether the reference may refer to several objects.
  package var isPolymorphic: Bool { referenceTo.count > 1 }

  /// The XML schema type shown by describe.
  package var soapType: String {
    switch type {
    case .id, .reference: "tns:ID"
    case .boolean: "xsd:boolean"
    case .int: "xsd:int"
    case .double, .currency, .percent: "xsd:double"
    case .date: "xsd:date"
    case .datetime: "xsd:dateTime"
    case .time: "xsd:time"
    case .base64: "xsd:base64Binary"
    case .address: "urn:address"
    case .location: "urn:location"
    default: "xsd:string"
    }
  }
}
