/// Who may read records of an object, in addition to their owner.
package enum SharingModel: Sendable {
  /// The owner, users with a share, and users who may view all records.
  case privateToOwner
  /// All users may read; users who may modify all records may write.
  case publicRead
}

/// A relationship as seen from the parent.
package struct ChildRelationship: Sendable, Hashable {
  /// The object with the reference.
  package let childObject: String
  /// The reference field.
  package let field: String
  /// The name for subqueries, if there is one.
  package let name: String?
  package let cascadesDelete: Bool
  /// Whether a parent with children cannot be deleted.
  package let restrictsDelete: Bool
}

/// One object of the org, with its fields.
package struct ObjectSchema: Sendable {
  package let name: String
  package let label: String
  /// The label of several records.
  package let labelPlural: String
  /// The first three characters of its IDs.
  package let keyPrefix: String
  /// Who may read its records.
  package let sharing: SharingModel
  /// The fields in describe's order.
  package let fields: [FieldSchema]
  /// The relationships of other objects that refer to this one.
  package internal(set) var childRelationships: [ChildRelationship] = []
  /// The rights of the catalog's user.
  private(set) var rights = ObjectRights.all
  private let places: [String: Int]

  /// Creates an object.
  ///
  /// If queues may own its records, its owner is a user or a group. Queues may own the records of
  /// every custom object with an owner.
  package init(
    _ name: String, label: String, plural: String, prefix: String, sharing: SharingModel,
    queues: Bool = false, fields: [FieldSchema]
  ) {
    let hasQueues = queues || name.hasSuffix("__c")
    let fields = fields.map { hasQueues && $0.name == "OwnerId" ? $0.ownedByQueues : $0 }
    self.name = name
    self.label = label
    self.labelPlural = plural
    self.keyPrefix = prefix
    self.sharing = sharing
    self.fields = fields
    self.places = Dictionary(
      fields.enumerated().map { ($1.name.lowercased(), $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Returns the object with these fields and rights; a catalog of such objects derives their
  /// relationships again.
  func with(rights: ObjectRights, fields: [FieldSchema]) -> ObjectSchema {
    var view = ObjectSchema(
      name, label: label, plural: labelPlural, prefix: keyPrefix, sharing: sharing, fields: fields)
    view.rights = rights
    return view
  }

  /// Whether a user may create records.
  func isCreateable(by user: OrgUser) -> Bool {
    rights.creates && (user.modifiesAll || sharing == .privateToOwner)
  }

  /// Whether it is a custom object.
  package var custom: Bool { name.hasSuffix("__c") }

  package var hasOwner: Bool { places["ownerid"] != nil }

  /// Whether it describes the org's setup rather than its business data.
  package var isSetup: Bool {
    ["Organization", "User", "Profile", "RecordType", "TabDefinition"].contains(name)
      || name.hasPrefix("Briefcase")
  }

  /// The field with that name, ignoring case.
  package func field(_ name: String) -> FieldSchema? {
    places[name.lowercased()].map { fields[$0] }
  }

  /// The lookup with that relationship name, ignoring case.
  package func lookup(relationship: String) -> FieldSchema? {
    let wanted = relationship.lowercased()
    return fields.first { $0.relationshipName?.lowercased() == wanted }
  }

  /// The child relationship with that name, ignoring case.
  package func children(relationship: String) -> ChildRelationship? {
    let wanted = relationship.lowercased()
    return childRelationships.first { $0.name?.lowercased() == wanted }
  }

  /// The field with a record's name.
  package var nameField: FieldSchema? { fields.first { $0.nameField } }

  /// The fields with columns.
  package var storedFields: [FieldSchema] { fields.filter(\.isStored) }
}
