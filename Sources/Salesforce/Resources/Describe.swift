import JSON

/// The description of an sObject.
package struct Describe: Sendable, Hashable {
  /// A field of an sObject.
  package struct Field: Sendable, Hashable {
    package let name: String
    /// The type, such as `reference`.
    package let type: String
    /// The maximum length of a text in characters.
    package let length: Int
    /// Whether the user may set it on a new record.
    package let isCreateable: Bool
    /// Whether the user may change it.
    package let isUpdateable: Bool
    /// Whether it may be empty.
    package let isNillable: Bool
    /// Whether the org sets a default if a new record has no value.
    package let isDefaultedOnCreate: Bool
    package let isExternalID: Bool
    /// Whether it can identify a record in a request.
    package let isIDLookup: Bool
    /// Whether its values are unique.
    package let isUnique: Bool
    /// Whether it is a formula or a roll-up summary.
    package let isCalculated: Bool
    /// The text of the formula; nil for a roll-up summary, and if the org hides it.
    package let formula: String?
    /// Whether the org encrypts the values.
    package let isEncrypted: Bool
    /// Whether the org assigns sequential numbers.
    package let isAutoNumber: Bool
    /// Whether a query may filter by it.
    package let isFilterable: Bool
    /// The compound field that contains it.
    package let compoundFieldName: String?
    /// The sObjects that it may refer to.
    package let referenceTo: [String]
    /// The relationship name for queries.
    package let relationshipName: String?
  }

  /// A field of other records that may refer to a record of this object.
  package struct Child: Sendable, Hashable {
    /// The object of the referring records.
    package let sobject: String
    package let field: String
    /// Whether the referring records are deleted with the record: details of a master.
    package let cascadesDelete: Bool
  }

  package let name: String
  /// The label of a single record.
  package let label: String?
  /// The first three characters of the IDs of its records.
  package let keyPrefix: String?
  package let isCreateable: Bool
  package let isUpdateable: Bool
  package let isDeletable: Bool
  /// Whether the user may restore records from the recycle bin.
  package let isUndeletable: Bool
  package let isQueryable: Bool
  /// Whether its records are settings, which may be those of a user.
  package let isCustomSetting: Bool
  /// The fields that the user can see, in the org's order.
  package let fields: [Field]
  /// The fields that may refer to a record of this object, if the org has a relationship name for
  /// them.
  package let children: [Child]
  /// The index of each field, by its name in lower case.
  private let places: [String: Int]

  /// The field with this name, ignoring case.
  package func field(_ name: String) -> Field? {
    places[name.lowercased()].map { fields[$0] }
  }

  /// Parses a response; nil if it has another form.
  package init?(_ value: JSONValue) {
    guard let name = value["name"]?.string, let fields = value["fields"]?.array else { return nil }
    self.name = name
    self.fields = fields.compactMap { Field($0) }
    places = Dictionary(
      self.fields.enumerated().map { ($1.name.lowercased(), $0) },
      uniquingKeysWith: { first, _ in first })
    label = value["label"]?.string
    keyPrefix = value["keyPrefix"]?.string
    isCreateable = value["createable"]?.bool ?? false
    isUpdateable = value["updateable"]?.bool ?? false
    isDeletable = value["deletable"]?.bool ?? false
    isUndeletable = value["undeletable"]?.bool ?? true
    isQueryable = value["queryable"]?.bool ?? false
    isCustomSetting = value["customSetting"]?.bool ?? false
    children = (value["childRelationships"]?.array ?? []).compactMap(Child.init)
    guard self.fields.count == fields.count else { return nil }
  }
}

extension Describe.Child {
  fileprivate init?(_ value: JSONValue) {
    guard let sobject = value["childSObject"]?.string, let field = value["field"]?.string,
      value["relationshipName"]?.string != nil, value["deprecatedAndHidden"]?.bool != true
    else { return nil }
    self.sobject = sobject
    self.field = field
    cascadesDelete = value["cascadeDelete"]?.bool ?? false
  }
}

extension Describe.Field {
  fileprivate init?(_ value: JSONValue) {
    guard let name = value["name"]?.string, let type = value["type"]?.string else { return nil }
    func claims(_ member: String) -> Bool { value[member]?.bool ?? false }
    self.name = name
    self.type = type
    length = Int(value["length"]?.int ?? 0)
    isCreateable = claims("createable")
    isUpdateable = claims("updateable")
    isNillable = claims("nillable")
    isDefaultedOnCreate = claims("defaultedOnCreate")
    isExternalID = claims("externalId")
    isIDLookup = claims("idLookup")
    isUnique = claims("unique")
    isCalculated = claims("calculated")
    formula = value["calculatedFormula"]?.string
    isEncrypted = claims("encrypted")
    isAutoNumber = claims("autoNumber")
    isFilterable = value["filterable"]?.bool ?? true
    compoundFieldName = value["compoundFieldName"]?.string
    referenceTo = value["referenceTo"]?.array?.compactMap(\.string) ?? []
    relationshipName = value["relationshipName"]?.string
  }
}
