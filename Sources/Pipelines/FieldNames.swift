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
  /// records have tells. Of a path through a relationship its first step is the record's: the member that holds what
  /// came along of the related record.
  static func known(
    of soup: String, in store: StoreSettings, held: JSONObject? = nil
  ) -> [String] {
    var names = Set(store.syncs.syncs.flatMap { $0.fieldNames(of: soup) })
    names.formUnion((held ?? [:]).names.filter(FieldComparison.isField))
    names.subtract(["Id", "LastModifiedDate", "SystemModstamp"])
    let fields = names.filter { name in !name.contains { "( ".contains($0) } }
    return Set(fields.map { String($0.prefix { $0 != "." }) }).sorted()
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
