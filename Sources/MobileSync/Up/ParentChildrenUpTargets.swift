/// A parent-children sync up as two targets: one for the parents, one for the children.
package struct ParentChildrenUpTargets: Sendable {
  /// The parents, the children and what binds them.
  package let family: ParentChildrenFamily
  /// How parents are read, sent and saved.
  package let parents: SyncUpTarget
  /// How children are; the field that names the parent is in none of its lists.
  package let children: SyncUpTarget
  /// Whether the list of an update names the field that names the parent.
  private let listsKey: Bool

  /// Reads a sync up; throws where it does not say what is sent of whom.
  package init(_ target: SyncUpTarget) throws(SyncError) {
    guard let family = target.family, let key = family.children.parentIdFieldName,
      family.children.sobjectTypePlural != nil
    else {
      throw SyncError(
        .definition, "the sync up does not say what its parents and children are",
        fix: "set \"parent\" and \"children\" in the target")
    }
    guard let create = target.childrenCreateFieldlist, let update = target.childrenUpdateFieldlist
    else {
      throw SyncError(
        .definition, "the sync up names no fields of children to send",
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

  /// The field of a child that names its parent.
  package var key: String { family.children.parentIdFieldName ?? "" }

  /// Whether children go with their parent.
  package var isMasterDetail: Bool { family.relationshipType == .masterDetail }

  /// Whether an update of a child names its parent although the parent has kept its id.
  ///
  /// A detail cannot be moved to another master unless its object allows it, and an org refuses the
  /// field altogether then: it is sent where the list names it.
  package var sendsKey: Bool { listsKey || !isMasterDetail }

  /// The query for the dates of parents and of the children that hang on them, up to the value of the
  /// condition.
  func dates(where comparison: String) -> String {
    let (parent, children) = (family.parent, family.children)
    return "select \(parent.idFieldName), \(parent.modificationDateFieldName), "
      + "(select \(children.idFieldName), \(children.modificationDateFieldName) "
      + "from \(children.sobjectTypePlural ?? "")) from \(parent.sobjectType) "
      + "where \(parent.idFieldName) \(comparison)"
  }
}
