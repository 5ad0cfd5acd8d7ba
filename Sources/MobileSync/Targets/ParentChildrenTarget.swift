import JSON

/// A sync down of records with their children, into two soups.
public struct ParentChildrenTarget: Sendable, Hashable {
  /// The parents, the children and what binds them.
  public var family: ParentChildrenFamily
  /// The parents' fields to fetch.
  public var parentFieldlist: [String]
  /// The children's fields to fetch.
  public var childrenFieldlist: [String]
  /// The condition that parents must meet, as in a WHERE clause; empty for all.
  public var parentSoqlFilter: String
  /// The field names and classes that all targets have; the parent's own names count.
  public var fields: TargetFields

  /// A target made in code.
  public init(
    family: ParentChildrenFamily, parentFieldlist: [String], childrenFieldlist: [String],
    parentSoqlFilter: String = "", fields: TargetFields = TargetFields()
  ) {
    self.family = family
    self.parentFieldlist = parentFieldlist
    self.childrenFieldlist = childrenFieldlist
    self.parentSoqlFilter = parentSoqlFilter
    self.fields = fields
  }

  static let keys = [
    "parent", "parentFieldlist", "parentSoqlFilter", "children", "childrenFieldlist",
    "relationshipType",
  ]

  init?(_ object: ConfigurationObject) {
    let family = ParentChildrenFamily(object)
    let parentList = object.fields("parentFieldlist")
    let childrenList = object.fields("childrenFieldlist")
    let filter = object.string("parentSoqlFilter") ?? ""
    guard let family, let parentList, let childrenList else { return nil }
    self.init(
      family: family, parentFieldlist: parentList, childrenFieldlist: childrenList,
      parentSoqlFilter: filter, fields: TargetFields(object))
  }

  /// The target as a device stores it.
  package var json: JSONValue {
    fields.json(
      type: "parent_children",
      [
        ("parent", family.parent.json), ("parentFieldlist", JSONValue(parentFieldlist)),
        ("parentSoqlFilter", .string(parentSoqlFilter)), ("children", family.children.json),
        ("childrenFieldlist", JSONValue(childrenFieldlist)),
        ("relationshipType", .string(family.relationshipType.rawValue)),
      ])
  }
}
