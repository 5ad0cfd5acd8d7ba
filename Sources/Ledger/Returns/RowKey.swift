import SmartStore

/// A store within a snapshot.
package struct StoreKey: Sendable, Hashable {
  package var scope: StoreScope
  /// The store's name as the pipeline file has it.
  package var storeName: String

  package init(scope: StoreScope, storeName: String) {
    self.scope = scope
    self.storeName = storeName
  }

  /// The form in the ledger, for example `user/default`.
  package var text: String { scope.rawValue + "/" + storeName }

  /// Reads the form in the ledger.
  package init(text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    scope = parts[0] == StoreScope.global.rawValue ? .global : .user
    storeName = parts.count > 1 ? String(parts[1]) : ""
  }
}

/// A soup of a store.
package struct SoupKey: Sendable, Hashable {
  package var store: StoreKey
  package var soup: String

  package init(store: StoreKey, soup: String) {
    self.store = store
    self.soup = soup
  }
}

/// The location of a row in a device's store.
package struct RowKey: Sendable, Hashable {
  package var store: StoreKey
  package var soup: String
  /// Its `_soupEntryId`.
  package var soupEntryID: Int64

  package init(store: StoreKey, soup: String, soupEntryID: Int64) {
    self.store = store
    self.soup = soup
    self.soupEntryID = soupEntryID
  }

  /// The row's soup.
  package var inSoup: SoupKey { SoupKey(store: store, soup: soup) }

  /// Whether the row is in a soup.
  package func isOfSoup(_ other: SoupKey) -> Bool { store == other.store && soup == other.soup }
}
