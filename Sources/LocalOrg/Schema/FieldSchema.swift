/// The type of a field, in describe's words.
package enum FieldType: String, Sendable {
  case id, string, boolean, int, double, currency, percent, date, datetime, time, email, phone
  case url, textarea, picklist, multipicklist, combobox, reference, address, location

  /// Whether values are kept and compared as text.
  package var isText: Bool {
    switch self {
    case .string, .email, .phone, .url, .textarea, .picklist, .multipicklist, .combobox: true
    default: false
    }
  }

  /// Whether values are numbers.
  package var isNumber: Bool {
    switch self {
    case .int, .double, .currency, .percent: true
    default: false
    }
  }

  /// Whether values are ids.
  package var isID: Bool { self == .id || self == .reference }
}

/// One value of a picklist.
package struct PicklistValue: Sendable, Hashable {
  /// The value as the API has it.
  package let value: String
  /// Whether a new record has it when nothing is said.
  package let isDefault: Bool
}

/// One field of an object, with the properties that a describe shows.
package struct FieldSchema: Sendable {
  /// The API name.
  package let name: String
  /// The label.
  package let label: String
  /// The type.
  package let type: FieldType
  /// The longest text in characters, 0 where that means nothing.
  package var length = 0
  /// The digits of a decimal number, before and after the point together.
  package var precision = 0
  /// The digits after the point.
  package var scale = 0
  /// The digits of an integer.
  package var digits = 0
  /// Whether a create may set it.
  package var createable = true
  /// Whether an update may set it.
  package var updateable = true
  /// Whether it may be empty.
  package var nillable = true
  /// Whether the org fills it when a create does not.
  package var defaultedOnCreate = false
  /// Whether it is an external id.
  package var externalId = false
  /// Whether an upsert may name a record by it.
  package var idLookup = false
  /// Whether no two records share a value.
  package var unique = false
  /// Whether comparisons respect case.
  package var caseSensitive = false
  /// Whether a formula makes it.
  package var calculated = false
  /// Whether a counter makes it.
  package var autoNumber = false
  /// Whether the org's administrator made it.
  package var custom = false
  /// Whether it names the record for people.
  package var nameField = false
  /// The compound field that it is a part of.
  package var compoundFieldName: String?
  /// The objects that a reference points at.
  package var referenceTo: [String] = []
  /// Whether the record is deleted with the parent that it names.
  package var cascadesDelete = false
  /// Whether the parent that it names cannot be deleted while the record is there.
  package var restrictsDelete = false
  /// The name of the relationship to the parent.
  package var relationshipName: String?
  /// The name of the relationship from the parent, when it has one.
  package var childRelationshipName: String?
  /// The values offered by a picklist; others are accepted, unless it is restricted.
  package var picklistValues: [PicklistValue] = []
  /// Whether a picklist takes its own values only.
  package var isRestricted = false
  /// The value of a new record when nothing is said, as the API would show it.
  package var defaultValue: String?
  /// Whether a condition may name it.
  package var filterable = true
  /// Whether an order may name it.
  package var sortable = true

  /// Makes a field; the rest of its properties have the values of a plain custom field.
  package init(_ name: String, _ label: String, _ type: FieldType) {
    self.name = name
    self.label = label
    self.type = type
  }

  /// Whether a create without it is refused.
  package var isRequired: Bool { !nillable && createable && !defaultedOnCreate }

  /// Whether a profile may take it from a user; the parts of a compound field follow the whole.
  package var isPermissionable: Bool {
    (nillable || type == .boolean) && (createable || !isStored) && compoundFieldName == nil
  }

  /// Whether a query may group by it.
  package var isGroupable: Bool {
    isStored && length <= 255 && ![.datetime, .double, .currency, .percent].contains(type)
  }

  /// Whether the field stands in a column of its own.
  package var isStored: Bool { type != .address && type != .location }

  /// Whether the reference may point at several kinds of object.
  package var isPolymorphic: Bool { referenceTo.count > 1 }

  /// The XML schema type of describe.
  package var soapType: String {
    switch type {
    case .id, .reference: "tns:ID"
    case .boolean: "xsd:boolean"
    case .int: "xsd:int"
    case .double, .currency, .percent: "xsd:double"
    case .date: "xsd:date"
    case .datetime: "xsd:dateTime"
    case .time: "xsd:time"
    case .address: "urn:address"
    case .location: "urn:location"
    default: "xsd:string"
    }
  }
}
