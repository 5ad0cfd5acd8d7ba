import JSON
import Salesforce

/// A sync down of records with their children, into two soups.
public struct ParentChildrenTarget: ConfiguredDownKind {
  /// The parents, the children and their relationship.
  public var family: ParentChildrenFamily
  /// The parents' fields to fetch.
  public var parentFieldlist: [String]
  /// The children's fields to fetch.
  public var childrenFieldlist: [String]
  /// The condition for parents, as in a WHERE clause; empty for all.
  public var parentSoqlFilter: String
  /// The field names and classes common to all targets; the parent's field names take precedence.
  public var fields: TargetFields

  /// Creates a target.
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

  static let type = "parent_children"
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

  package var json: JSONValue {
    fields.json(
      type: Self.type,
      [
        ("parent", family.parent.json), ("parentFieldlist", JSONValue(parentFieldlist)),
        ("parentSoqlFilter", .string(parentSoqlFilter)), ("children", family.children.json),
        ("childrenFieldlist", JSONValue(childrenFieldlist)),
        ("relationshipType", .string(family.relationshipType.rawValue)),
      ])
  }

  var queries: [String] { [parentSoqlFilter] }

  func stored(variables: [String: String]) throws(SyncError) -> JSONValue {
    var target = self
    target.parentSoqlFilter = try ParentChildrenQuery.filter(self, variables: variables)
    return target.json
  }

  func soups(soupName: String) -> [SoupUse] { family.soups }

  func objects(in soup: String, soupName: String) -> [String] {
    family.types(of: soup)
  }

  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] {
    (family.parent.soupName == soup ? parentFieldlist : [])
      + (family.children.soupName == soup ? childrenFieldlist : [])
  }

  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    let (parent, children) = (family.parent, family.children)
    var needs = needs(of: parent, "parent", reads: parentFieldlist, "parentFieldlist")
    if let query = try? SOQLText(
      "SELECT Id FROM \(parent.sobjectType) WHERE \(parentSoqlFilter)")
    {
      needs += query.filteredPaths.map {
        OrgNeed(
          sobject: parent.sobjectType, field: $0, use: .filter,
          keys: ["target", "parentSoqlFilter"])
      }
    }
    needs += self.needs(of: children, "children", reads: childrenFieldlist, "childrenFieldlist")
    return needs + family.link
  }

  private func needs(
    of member: FamilyMember, _ key: String, reads fields: [String], _ list: String
  ) -> [OrgNeed] {
    OrgNeed.fetching(
      member.sobjectType, ["target", key, "sobjectType"], reads: fields, ["target", list],
      TargetFields(
        idFieldName: member.idFieldName, modificationDateFieldName: member.modificationDateFieldName
      ),
      namedIn: ["target", key])
  }
}
