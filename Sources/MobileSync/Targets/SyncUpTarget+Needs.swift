import Salesforce

// What a sync up needs: its soups, and the fields that it sends.
extension SyncUpTarget {
  func soups(soupName: String) -> [SoupUse] {
    family?.soups ?? [
      SoupUse(
        soupName: soupName, paths: [idFieldName], modificationField: modificationDateFieldName)
    ]
  }

  func objectTypes(of soup: String, soupName: String) -> [String] {
    family?.types(of: soup) ?? []
  }

  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] {
    var names: [String] = []
    if (family?.parent.soupName ?? sync.soupName) == soup {
      names = (createFieldlist ?? []) + (updateFieldlist ?? []) + (sync.options.fieldlist ?? [])
    }
    if let children = family?.children, children.soupName == soup {
      names += (childrenCreateFieldlist ?? []) + (childrenUpdateFieldlist ?? [])
      names += [children.parentIdFieldName].compactMap(\.self)
    }
    return names
  }

  /// The sent fields are validated against an object if the soup contains only one kind of record;
  /// otherwise each record names its object.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    guard let family else {
      guard let object = Self.only(objects(sync.soupName)) else { return [] }
      return sent(object, sync.options, ["target"])
    }
    var child = self
    child.createFieldlist = childrenCreateFieldlist
    child.updateFieldlist = childrenUpdateFieldlist
    child.externalIdFieldName = family.children.externalIdFieldName
    child.fields.idFieldName = family.children.idFieldName
    child.fields.modificationDateFieldName = family.children.modificationDateFieldName
    var parent = self
    parent.externalIdFieldName = family.parent.externalIdFieldName
    parent.fields.idFieldName = family.parent.idFieldName
    parent.fields.modificationDateFieldName = family.parent.modificationDateFieldName
    return [
      OrgNeed(sobject: family.parent.sobjectType, keys: ["target", "parent", "sobjectType"]),
      OrgNeed(sobject: family.children.sobjectType, keys: ["target", "children", "sobjectType"]),
    ] + parent.sent(family.parent.sobjectType, sync.options, ["target", "parent"])
      + child.sent(
        family.children.sobjectType, sync.options, ["target", "children"],
        lists: ("childrenCreateFieldlist", "childrenUpdateFieldlist"))
      + family.link
  }

  /// Returns the only object of the set, ignoring case; nil if there are several.
  private static func only(_ objects: Set<String>) -> String? {
    Set(objects.map { $0.lowercased() }).count == 1 ? objects.min() : nil
  }

  private func sent(
    _ sobject: String, _ options: SyncOptions, _ section: [String],
    lists: (create: String, update: String) = ("createFieldlist", "updateFieldlist")
  ) -> [OrgNeed] {
    var needs: [OrgNeed] = []
    for (operation, list, own, use) in [
      (SyncOperation.create, lists.create, createFieldlist, OrgNeed.Use.create),
      (.update, lists.update, updateFieldlist, .update),
    ] {
      // A sync up without any list is reported when the file is read.
      let fields =
        (try? FieldSelection.fields(for: operation, target: self, options: options)) ?? []
      let keys = own == nil ? ["options", "fieldlist"] : ["target", list]
      needs += fields.map { OrgNeed(sobject: sobject, field: $0, use: use, keys: keys) }
    }
    if let field = externalIdFieldName, field != idFieldName {
      needs.append(
        OrgNeed(
          sobject: sobject, field: field, use: .externalID, keys: section + ["externalIdFieldName"])
      )
    }
    needs.append(
      OrgNeed(
        sobject: sobject, field: idFieldName, use: .id, keys: section + ["idFieldName"]))
    needs.append(
      OrgNeed(
        sobject: sobject, field: modificationDateFieldName, use: .modificationDate,
        keys: section + ["modificationDateFieldName"]))
    return needs
  }
}
