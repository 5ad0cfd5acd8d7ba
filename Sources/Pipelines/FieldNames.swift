import JSON
import MobileSync
import Reconciliation
import Salesforce

/// The fields of the records in a soup, as far as the syncs name them.
enum FieldNames {
  /// The fields that the syncs of a store fetch into `soup` or may send from it, in order of names, and those
  /// that its first element `held` has.
  ///
  /// The org answers in its own letters, and with fields that a query names as `FIELDS(ALL)` only: what its
  /// records have tells. Paths through a relationship are left out: they are no fields of the record.
  static func known(
    of soup: String, in store: StoreSettings, held: JSONObject? = nil
  ) -> [String] {
    var names: Set<String> = []
    for sync in store.syncs.syncs {
      switch sync.target {
      case .briefcase(let target):
        for info in target.infos where info.soupName == soup { names.formUnion(info.fieldlist) }
      case .soql(let target) where sync.soupName == soup:
        // A query that cannot be read is refused before anything is primed.
        if let query = try? SOQLText(target.query) { names.formUnion(query.readPaths) }
      case .sosl(let target) where sync.soupName == soup:
        names.formUnion(SOSLFields.names(in: target.query))
      case .mru(let target) where sync.soupName == soup: names.formUnion(target.fieldlist)
      case .refresh(let target) where sync.soupName == soup: names.formUnion(target.fieldlist)
      case .parentChildren(let target):
        if target.family.parent.soupName == soup { names.formUnion(target.parentFieldlist) }
        if target.family.children.soupName == soup { names.formUnion(target.childrenFieldlist) }
      case .syncUp(let target):
        let sent = (target.createFieldlist ?? []) + (target.updateFieldlist ?? [])
        if (target.family?.parent.soupName ?? sync.soupName) == soup {
          names.formUnion(sent + (sync.options.fieldlist ?? []))
        }
        if let children = target.family?.children, children.soupName == soup {
          names.formUnion(target.childrenCreateFieldlist ?? [])
          names.formUnion(target.childrenUpdateFieldlist ?? [])
          names.formUnion([children.parentIdFieldName].compactMap(\.self))
        }
      default: break
      }
    }
    for (name, value) in held ?? [:] where FieldComparison.isField(name, value) {
      names.insert(name)
    }
    names.subtract(["Id", "LastModifiedDate", "SystemModstamp"])
    return names.filter { name in !name.contains { ".( ".contains($0) } }.sorted()
  }

  /// Says whether the names tell all that a soup's records were given: no query selects what only the org knows
  /// the names of.
  static func areAll(of soup: String, in store: StoreSettings) -> Bool {
    store.syncs.syncs.allSatisfy { sync in
      guard case .soql(let target) = sync.target, sync.soupName == soup,
        let query = try? SOQLText(target.query)
      else { return true }
      return query.readPaths.count == query.selectedFields.count
    }
  }
}
