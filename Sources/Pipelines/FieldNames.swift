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
    var names = Set(store.syncs.syncs.flatMap { $0.fieldNames(of: soup) })
    for (name, value) in held ?? [:] where FieldComparison.isField(name, value) {
      names.insert(name)
    }
    names.subtract(["Id", "LastModifiedDate", "SystemModstamp"])
    return names.filter { name in !name.contains { ".( ".contains($0) } }.sorted()
  }

  /// The members that say for the syncs of a store when a record of `soup` was last modified, but for the platform's
  /// own `LastModifiedDate`.
  static func dates(of soup: String, in store: StoreSettings) -> [String] {
    Set(store.syncs.syncs.flatMap { $0.modificationFields(of: soup) })
      .subtracting([TargetFields().modificationDateFieldName]).sorted()
  }

  /// Says whether the names tell all that a soup's records were given: no query selects what only the org knows
  /// the names of.
  static func areAll(of soup: String, in store: StoreSettings) -> Bool {
    store.syncs.syncs.allSatisfy { sync in
      guard let target = sync.target.of(SoqlTarget.self), sync.soupName == soup,
        let query = try? SOQLText(target.query)
      else { return true }
      return query.readPaths.count == query.selectedFields.count
    }
  }
}
