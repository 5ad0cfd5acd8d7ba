import JSON
import SmartStore

extension Provenance {
  /// Writes the stamp into a store that has none; an existing stamp is kept.
  ///
  /// Call it after `syncs_soup` is registered, so that the tables of an issued store have the same
  /// numbers as with the SDK.
  package func write(into store: Store) throws(SnapshotError) {
    try SnapshotError.mapping {
      try store.transaction {
        if try !store.hasSoup(Provenance.soupName) {
          try store.registerSoup(Provenance.soupName, indexSpecs: Provenance.indexSpecs)
        }
        let elements = try Provenance.elements(of: store)
        if elements.count == 1, let found = Provenance(json: elements[0]), found == self { return }
        // The row is kept and its element replaced: the next stamp of a copied store.
        var element = json.object ?? [:]
        element[StoreField.soupEntryID] = elements.first?[StoreField.soupEntryID]
        try store.upsert([.object(element)], into: Provenance.soupName)
        let surplus = elements.dropFirst().compactMap { $0[StoreField.soupEntryID]?.int }
        try store.remove(surplus, from: Provenance.soupName)
      }
    }
  }

  /// The result of reading the stamp of a store.
  package enum Reading: Sendable, Hashable {
    /// A single stamp.
    case stamp(Provenance)
    /// There is no stamp soup, or it is empty.
    case none
    /// There is an invalid stamp, or more than one.
    case unreadable(String)
  }

  /// Reads the stamp of any store by the name of the soup; the number of its table has no meaning.
  package static func read(from store: Store) throws(SnapshotError) -> Reading {
    try SnapshotError.mapping {
      guard try store.hasSoup(soupName) else { return .none }
      let elements = try elements(of: store)
      guard let element = elements.first else { return .none }
      if elements.count > 1 { return .unreadable("it has more than one stamp") }
      guard let stamp = Provenance(json: element) else {
        return .unreadable("its stamp lacks a member, or a member has another type")
      }
      return .stamp(stamp)
    }
  }

  /// The first elements of the soup, enough to see whether there is exactly one.
  private static func elements(of store: Store) throws -> [JSONValue] {
    try store.queryValues(
      QuerySpec(
        soupName: soupName, .all, orderPath: StoreField.soupEntryID, pageSize: 16))
  }
}
