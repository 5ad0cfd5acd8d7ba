import Salesforce

/// What a sync needs of the org's objects and fields, so that it can be held against what the org says of
/// them before anything is fetched or sent.
package struct OrgNeed: Sendable, Hashable {
  /// What is done with a field.
  package enum Use: Sendable, Hashable {
    /// Its values are fetched.
    case read
    /// A query compares it.
    case filter
    /// It is sent in new records.
    case create
    /// It is sent in changes.
    case update
    /// New records are sent under it.
    case externalID
    /// Records are known by it.
    case id
    /// It says when a record was changed.
    case modificationDate
    /// It names the parent, which is of this object.
    case parent(String)
  }

  /// The object's API name as the file has it.
  package var sobject: String
  /// The field, or the way to one such as `Account.Name`; nil for the object alone.
  package var field: String?
  /// What is done with the field.
  package var use = Use.read
  /// The keys below the sync's definition that lead to the text which names it.
  package var keys: [String]
}

extension SyncDefinition {
  /// What the sync needs; `objects` are those whose records a soup holds.
  ///
  /// What a sync up sends is held against an object where its soup holds one kind of records only: which
  /// object a record is of is said by the record itself.
  package func needs(objects: (_ soupName: String) -> Set<String>) -> [OrgNeed] {
    switch target {
    case .soql(let target): Self.needs(of: target)
    case .mru(let target):
      Self.needs(
        target.sobjectType, ["target", "sobjectType"], reads: target.fieldlist,
        ["target", "fieldlist"], target.fields)
    case .refresh(let target):
      Self.needs(
        target.sobjectType, ["target", "sobjectType"], reads: target.fieldlist,
        ["target", "fieldlist"], target.fields)
    case .briefcase(let target):
      target.infos.enumerated().flatMap { place, info in
        let keys = ["target", "infos", "\(place)"]
        return Self.needs(
          info.sobjectType, keys + ["sobjectType"], reads: info.fieldlist, keys + ["fieldlist"],
          TargetFields(
            idFieldName: info.idFieldName,
            modificationDateFieldName: info.modificationDateFieldName))
      }
    case .parentChildren(let target): Self.needs(of: target)
    case .layout(let target):
      [OrgNeed(sobject: target.sobjectType, keys: ["target", "sobjectType"])]
    case .metadata(let target):
      [OrgNeed(sobject: target.sobjectType, keys: ["target", "sobjectType"])]
    case .syncUp(let target): needs(of: target, objects: objects)
    case .sosl, .custom: []
    }
  }

  /// The objects whose records the sync puts into a soup.
  package func objects(in soup: String) -> Set<String> {
    var found: Set<String> = []
    switch target {
    case .soql(let target) where soupName == soup:
      if let query = try? SOQLText(target.query) { found.insert(query.objectName) }
    case .mru(let target) where soupName == soup: found.insert(target.sobjectType)
    case .refresh(let target) where soupName == soup: found.insert(target.sobjectType)
    case .briefcase(let target):
      found.formUnion(target.infos.filter { $0.soupName == soup }.map(\.sobjectType))
    case .parentChildren(let target):
      let family = target.family
      for member in [family.parent, family.children] where member.soupName == soup {
        found.insert(member.sobjectType)
      }
    default: break
    }
    return found
  }

  private static func needs(of target: SoqlTarget) -> [OrgNeed] {
    let keys = ["target", "query"]
    guard let query = try? SOQLText(target.query) else { return [] }
    let object = query.objectName
    func each(_ paths: [String], _ use: OrgNeed.Use) -> [OrgNeed] {
      paths.map { OrgNeed(sobject: object, field: $0, use: use, keys: keys) }
    }
    return needs(
      object, keys, reads: query.readPaths, keys, target.fields)
      + each(query.filteredPaths, .filter) + each(query.orderedPaths, .read)
  }

  private static func needs(of target: ParentChildrenTarget) -> [OrgNeed] {
    let (parent, children) = (target.family.parent, target.family.children)
    var needs = needs(of: parent, "parent", reads: target.parentFieldlist, "parentFieldlist")
    if let query = try? SOQLText(
      "SELECT Id FROM \(parent.sobjectType) WHERE \(target.parentSoqlFilter)")
    {
      needs += query.filteredPaths.map {
        OrgNeed(
          sobject: parent.sobjectType, field: $0, use: .filter,
          keys: ["target", "parentSoqlFilter"])
      }
    }
    needs += self.needs(
      of: children, "children", reads: target.childrenFieldlist, "childrenFieldlist")
    return needs + link(children, parent)
  }

  private static func link(_ children: FamilyMember, _ parent: FamilyMember) -> [OrgNeed] {
    guard let field = children.parentIdFieldName else { return [] }
    return [
      OrgNeed(
        sobject: children.sobjectType, field: field, use: .parent(parent.sobjectType),
        keys: ["target", "children", "parentIdFieldName"])
    ]
  }

  private static func needs(
    of member: FamilyMember, _ key: String, reads fields: [String], _ list: String
  ) -> [OrgNeed] {
    needs(
      member.sobjectType, ["target", key, "sobjectType"], reads: fields, ["target", list],
      TargetFields(
        idFieldName: member.idFieldName, modificationDateFieldName: member.modificationDateFieldName
      ),
      namedIn: ["target", key])
  }

  /// An object, the fields that are read of it, and those by which a sync knows its records.
  private static func needs(
    _ sobject: String, _ place: [String], reads: [String], _ list: [String], _ fields: TargetFields,
    namedIn section: [String] = ["target"]
  ) -> [OrgNeed] {
    [OrgNeed(sobject: sobject, keys: place)]
      + reads.map { OrgNeed(sobject: sobject, field: $0, keys: list) }
      + [
        OrgNeed(
          sobject: sobject, field: fields.idFieldName, use: .id, keys: section + ["idFieldName"]),
        OrgNeed(
          sobject: sobject, field: fields.modificationDateFieldName, use: .modificationDate,
          keys: section + ["modificationDateFieldName"]),
      ]
  }

  // MARK: sync ups

  private func needs(
    of target: SyncUpTarget, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    guard let family = target.family else {
      guard let object = Self.only(objects(soupName)) else { return [] }
      return sent(object, target, ["target"])
    }
    var child = target
    child.createFieldlist = target.childrenCreateFieldlist
    child.updateFieldlist = target.childrenUpdateFieldlist
    child.externalIdFieldName = family.children.externalIdFieldName
    child.fields.idFieldName = family.children.idFieldName
    child.fields.modificationDateFieldName = family.children.modificationDateFieldName
    var parent = target
    parent.externalIdFieldName = family.parent.externalIdFieldName
    parent.fields.idFieldName = family.parent.idFieldName
    parent.fields.modificationDateFieldName = family.parent.modificationDateFieldName
    return [
      OrgNeed(sobject: family.parent.sobjectType, keys: ["target", "parent", "sobjectType"]),
      OrgNeed(sobject: family.children.sobjectType, keys: ["target", "children", "sobjectType"]),
    ] + sent(family.parent.sobjectType, parent, ["target", "parent"])
      + sent(
        family.children.sobjectType, child, ["target", "children"],
        lists: ("childrenCreateFieldlist", "childrenUpdateFieldlist"))
      + Self.link(family.children, family.parent)
  }

  /// The one object of some that are written in any case.
  private static func only(_ objects: Set<String>) -> String? {
    Set(objects.map { $0.lowercased() }).count == 1 ? objects.min() : nil
  }

  private func sent(
    _ sobject: String, _ target: SyncUpTarget, _ section: [String],
    lists: (create: String, update: String) = ("createFieldlist", "updateFieldlist")
  ) -> [OrgNeed] {
    var needs: [OrgNeed] = []
    for (operation, list, own, use) in [
      (SyncOperation.create, lists.create, target.createFieldlist, OrgNeed.Use.create),
      (.update, lists.update, target.updateFieldlist, .update),
    ] {
      // A sync up without any list is told when the file is read.
      let fields =
        (try? FieldSelection.fields(for: operation, target: target, options: options)) ?? []
      let keys = own == nil ? ["options", "fieldlist"] : ["target", list]
      needs += fields.map { OrgNeed(sobject: sobject, field: $0, use: use, keys: keys) }
    }
    if let field = target.externalIdFieldName, field != target.idFieldName {
      needs.append(
        OrgNeed(
          sobject: sobject, field: field, use: .externalID, keys: section + ["externalIdFieldName"])
      )
    }
    needs.append(
      OrgNeed(
        sobject: sobject, field: target.modificationDateFieldName, use: .modificationDate,
        keys: section + ["modificationDateFieldName"]))
    return needs
  }
}
