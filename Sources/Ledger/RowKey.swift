import SmartStore

/// Which of a snapshot's stores a row stands in.
package struct StoreKey: Sendable, Hashable {
  /// Whose it is.
  package var scope: StoreScope
  /// The store's name as the pipeline file has it.
  package var storeName: String

  /// A store.
  package init(scope: StoreScope, storeName: String) {
    self.scope = scope
    self.storeName = storeName
  }

  /// `user/default`: the form that the ledger keeps.
  package var text: String { scope.rawValue + "/" + storeName }

  /// Reads the ledger's form.
  package init(text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    scope = parts[0] == StoreScope.global.rawValue ? .global : .user
    storeName = parts.count > 1 ? String(parts[1]) : ""
  }
}

/// A soup of a store.
package struct SoupKey: Sendable, Hashable {
  /// The store.
  package var store: StoreKey
  /// The soup's name.
  package var soup: String

  /// A soup.
  package init(store: StoreKey, soup: String) {
    self.store = store
    self.soup = soup
  }
}

/// The place of a row in a device's store.
package struct RowKey: Sendable, Hashable {
  /// The store.
  package var store: StoreKey
  /// The soup.
  package var soup: String
  /// Its `_soupEntryId`.
  package var soupEntryID: Int64

  /// A place.
  package init(store: StoreKey, soup: String, soupEntryID: Int64) {
    self.store = store
    self.soup = soup
    self.soupEntryID = soupEntryID
  }

  /// The soup that it is in.
  package var inSoup: SoupKey { SoupKey(store: store, soup: soup) }

  /// Says whether the row is of a soup.
  package func isOfSoup(_ other: SoupKey) -> Bool { store == other.store && soup == other.soup }
}
