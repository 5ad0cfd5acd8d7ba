import SmartStore

/// The stores of a validated return, still open, so that they need not be opened again to be read.
///
/// It belongs to one thread, and closes the stores that were not taken.
package final class OpenStores {
  private var stores: [String: Store] = [:]

  /// Creates an empty collection.
  package init() {}

  deinit { close() }

  func keep(_ store: Store) { stores[store.path] = store }

  /// Removes and returns the open store of a file, which the caller must close; nil if it is not
  /// open.
  package func take(_ path: String) -> Store? { stores.removeValue(forKey: path) }

  /// Closes the remaining stores, none of which was changed.
  package func close() {
    for store in stores.values { try? store.close() }
    stores = [:]
  }
}
