/// A parent-children sync up as two targets: one for the parents, one for the children.
package struct ParentChildrenUpTargets: Sendable {
  package let family: ParentChildrenFamily
  package let parents: SyncUpTarget
  /// The target for children; none of its field lists contains the parent field.
  package let children: SyncUpTarget
  /// Whether the update list contains the parent field.
  private let listsKey: Bool

  /// Reads a sync up; throws if it does not define what to send.
  package init(_ target: SyncUpTarget) throws(SyncError) {
    guard let family = target.family, let key = family.children.parentIdFieldName,
      family.children.sobjectTypePlural != nil
    else {
      throw SyncError(
        .definition, "the sync up does not define its parents and children",
        fix: "set \"parent\" and \"children\" in the target")
    }
    guard let create = target.childrenCreateFieldlist, let update = target.childrenUpdateFieldlist
    else {
      throw SyncError(
        .definition, "the sync up names no child fields to send",
        fix: "set target.childrenCreateFieldlist and target.childrenUpdateFieldlist")
    }
    self.family = family
    parents = Self.target(family.parent, target.createFieldlist, target.updateFieldlist)
    children = Self.target(
      family.children, create.filter { $0 != key }, update.filter { $0 != key })
    listsKey = update.contains(key)
  }

  private static func target(
    _ member: FamilyMember, _ create: [String]?, _ update: [String]?
  ) -> SyncUpTarget {
    SyncUpTarget(
      kind: .batch, createFieldlist: create, updateFieldlist: update,
      externalIdFieldName: member.externalIdFieldName,
      fields: TargetFields(
        idFieldName: member.idFieldName,
        modificationDateFieldName: member.modificationDateFieldName))
  }

  /// The child's field that refers to its parent.
  package var key: String { family.children.parentIdFieldName ?? "" }

  /// Whether children are deleted with their parent.
  package var isMasterDetail: Bool { family.relationshipType == .masterDetail }

  /// Whether an update of a child sends its parent field although the parent's ID is unchanged.
  ///
  /// A detail cannot be moved to another master unless its object allows it; otherwise the org
  /// refuses the field altogether. It is sent if the list contains it.
  package var sendsKey: Bool { listsKey || !isMasterDetail }

  /// Returns the query for the dates of parents and of their current children, without the
  /// condition's value.
  func dates(where comparison: String) -> String {
    let (parent, children) = (family.parent, family.children)
    return "select \(parent.idFieldName), \(parent.modificationDateFieldName), "
      + "(select \(children.idFieldName), \(children.modificationDateFieldName) "
      + "from \(children.sobjectTypePlural ?? "")) from \(parent.sobjectType) "
      + "where \(parent.idFieldName) \(comparison)"
  }
}
