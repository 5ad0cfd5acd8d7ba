/// Who may read records of an object besides their owner.
package enum SharingModel: Sendable {
  /// The owner, those it is shared with, and who views all.
  case privateToOwner
  /// Everybody reads; who modifies all writes.
  case publicRead
}

/// A relationship seen from the parent.
package struct ChildRelationship: Sendable, Hashable {
  /// The object that holds the reference.
  package let childObject: String
  /// The field that is the reference.
  package let field: String
  /// The name for subqueries, where there is one.
  package let name: String?
  /// Whether children are deleted with their parent.
  package let cascadesDelete: Bool
  /// Whether a parent with children cannot be deleted.
  package let restrictsDelete: Bool
}

/// One object of the org, with its fields.
package struct ObjectSchema: Sendable {
  /// The API name.
  package let name: String
  /// The label.
  package let label: String
  /// The label of several.
  package let labelPlural: String
  /// The first three characters of its ids.
  package let keyPrefix: String
  /// Who may read its records.
  package let sharing: SharingModel
  /// The fields in describe's order.
  package let fields: [FieldSchema]
  /// The relationships of other objects that point here.
  package internal(set) var childRelationships: [ChildRelationship] = []
  /// What the user may do for whom the catalog is.
  private(set) var rights = ObjectRights.all
  private let places: [String: Int]

  /// Makes an object.
  package init(
    _ name: String, label: String, plural: String, prefix: String, sharing: SharingModel,
    fields: [FieldSchema]
  ) {
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

  /// The object with these fields, for somebody who may do so much with it; a catalog of such objects
  /// finds their relationships anew.
  func with(rights: ObjectRights, fields: [FieldSchema]) -> ObjectSchema {
    var view = ObjectSchema(
      name, label: label, plural: labelPlural, prefix: keyPrefix, sharing: sharing, fields: fields)
    view.rights = rights
    return view
  }

  /// Whether a user may make records.
  func isCreateable(by user: OrgUser) -> Bool {
    rights.creates && (user.modifiesAll || sharing == .privateToOwner)
  }

  /// Whether the org's administrator made it.
  package var custom: Bool { name.hasSuffix("__c") }

  /// Whether records have an owner.
  package var hasOwner: Bool { places["ownerid"] != nil }

  /// Whether it describes the org's own setup rather than its business.
  package var isSetup: Bool {
    ["Organization", "User", "Profile", "RecordType", "TabDefinition"].contains(name)
      || name.hasPrefix("Briefcase")
  }

  /// The field of that name, whatever its case.
  package func field(_ name: String) -> FieldSchema? {
    places[name.lowercased()].map { fields[$0] }
  }

  /// The lookup whose relationship has that name, whatever its case.
  package func lookup(relationship: String) -> FieldSchema? {
    let wanted = relationship.lowercased()
    return fields.first { $0.relationshipName?.lowercased() == wanted }
  }

  /// The child relationship of that name, whatever its case.
  package func children(relationship: String) -> ChildRelationship? {
    let wanted = relationship.lowercased()
    return childRelationships.first { $0.name?.lowercased() == wanted }
  }

  /// The field that names a record for people.
  package var nameField: FieldSchema? { fields.first { $0.nameField } }

  /// The fields that stand in columns.
  package var storedFields: [FieldSchema] { fields.filter(\.isStored) }
}
