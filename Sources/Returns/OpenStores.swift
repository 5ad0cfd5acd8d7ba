import SmartStore

/// The stores of a return that was found valid, still open, so that they need not be opened once more to be read.
///
/// It is of one thread, and closes what nobody has taken.
package final class OpenStores {
  private var stores: [String: Store] = [:]

  /// None yet.
  package init() {}

  deinit { close() }

  func keep(_ store: Store) { stores[store.path] = store }

  /// The store in a file, for whoever closes it; nil where it is not open.
  package func take(_ path: String) -> Store? { stores.removeValue(forKey: path) }

  /// Closes what is left: nothing of them was changed.
  package func close() {
    for store in stores.values { try? store.close() }
    stores = [:]
  }
}
