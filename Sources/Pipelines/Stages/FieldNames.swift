import JSON
import MobileSync
import Reconciliation
import Salesforce

/// The record fields of a soup, as far as the syncs name them.
enum FieldNames {
  /// Returns the fields that a store's syncs fetch into `soup` or may send from it, sorted by name,
  /// plus the fields of its first element, `held`.
  ///
  /// The org answers in its own spelling, and a query may name fields only by `FIELDS(ALL)`, so the
  /// fields of an existing record are added. Of a relationship path, only the first step counts: it
  /// is the member that holds the related record.
  static func known(
    of soup: String, in store: StoreSettings, held: JSONObject? = nil
  ) -> [String] {
    var names = Set(store.syncs.syncs.flatMap { $0.fieldNames(of: soup) })
    names.formUnion((held ?? [:]).names.filter(FieldComparison.isField))
    names.subtract(["Id", "LastModifiedDate", "SystemModstamp"])
    let fields = names.filter { name in !name.contains { "( ".contains($0) } }
    return Set(fields.map { String($0.prefix { $0 != "." }) }).sorted()
  }

  /// The members that hold a record's modification date for the syncs of `soup`, other than the
  /// platform's `LastModifiedDate`.
  static func dates(of soup: String, in store: StoreSettings) -> [String] {
    Set(store.syncs.syncs.flatMap { $0.modificationFields(of: soup) })
      .subtracting([TargetFields().modificationDateFieldName]).sorted()
  }

  /// Whether the names cover every field of a soup's records: no query selects fields whose names
  /// only the org knows.
  static func areAll(of soup: String, in store: StoreSettings) -> Bool {
    store.syncs.syncs.allSatisfy { sync in
      guard let target = sync.target.of(SoqlTarget.self), sync.soupName == soup,
        let query = try? SOQLText(target.query)
      else { return true }
      return query.readPaths.count == query.selectedFields.count
    }
  }
}
