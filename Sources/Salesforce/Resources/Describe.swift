import JSON

/// What an org says of an sObject.
package struct Describe: Sendable, Hashable {
  /// One field of an sObject.
  package struct Field: Sendable, Hashable {
    /// The API name.
    package let name: String
    /// The type, such as `reference`.
    package let type: String
    /// The most characters of a text.
    package let length: Int
    /// Whether the user may set it on a new record.
    package let isCreateable: Bool
    /// Whether the user may change it.
    package let isUpdateable: Bool
    /// Whether it may be empty.
    package let isNillable: Bool
    /// Whether the org fills it in if a new record has none.
    package let isDefaultedOnCreate: Bool
    /// Whether it holds another system's id.
    package let isExternalID: Bool
    /// Whether a record may be named by it.
    package let isIDLookup: Bool
    /// Whether no two records may have the same value.
    package let isUnique: Bool
    /// Whether it is a formula or a roll-up.
    package let isCalculated: Bool
    /// Whether the org numbers it.
    package let isAutoNumber: Bool
    /// Whether a query may filter by it.
    package let isFilterable: Bool
    /// The compound field that it is a part of.
    package let compoundFieldName: String?
    /// The sObjects that it may refer to.
    package let referenceTo: [String]
    /// The name of the way to what it refers to.
    package let relationshipName: String?
  }

  /// A field of other records that may refer to one of these.
  package struct Child: Sendable, Hashable {
    /// The object of those records.
    package let sobject: String
    /// The field.
    package let field: String
    /// Whether they are deleted with the record: details of a master.
    package let cascadesDelete: Bool
  }

  /// The API name.
  package let name: String
  /// What people call one record of it.
  package let label: String?
  /// What the ids of its records begin with.
  package let keyPrefix: String?
  /// Whether the user may make records.
  package let isCreateable: Bool
  /// Whether the user may change records.
  package let isUpdateable: Bool
  /// Whether the user may delete records.
  package let isDeletable: Bool
  /// Whether the user may take records out of the recycle bin.
  package let isUndeletable: Bool
  /// Whether it can be queried.
  package let isQueryable: Bool
  /// The fields that the user sees, in the org's order.
  package let fields: [Field]
  /// What may refer to a record of it, as far as the org has a name for the way there.
  package let children: [Child]
  /// Where a field stands, by its name in small letters.
  private let places: [String: Int]

  /// The field of a name, without regard to case.
  package func field(_ name: String) -> Field? {
    places[name.lowercased()].map { fields[$0] }
  }

  /// Reads an answer; nil if it is of another shape.
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
    isAutoNumber = claims("autoNumber")
    isFilterable = value["filterable"]?.bool ?? true
    compoundFieldName = value["compoundFieldName"]?.string
    referenceTo = value["referenceTo"]?.array?.compactMap(\.string) ?? []
    relationshipName = value["relationshipName"]?.string
  }
}
