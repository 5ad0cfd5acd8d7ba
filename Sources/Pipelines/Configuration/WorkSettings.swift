import JSON

/// How a prime is divided among workers.
package struct WorkSettings: Sendable, Hashable {
  /// Where orders wait for workers, and their results for the run.
  package var store: ObjectStoreSettings
  /// The number of users in an order.
  package var ordersOf = 25

  static let keys = ["store", "ordersOf"]

  init?(_ object: ConfigurationObject, in directory: String) {
    ordersOf = object.int("ordersOf", default: ordersOf, in: 1...10_000)
    guard
      let node = object.required("store", ObjectStoreSettings.example),
      let store = ObjectStoreSettings(node, in: directory, object.reader)
    else { return nil }
    self.store = store
  }

  var json: JSONValue { ["store": store.json, "ordersOf": JSONValue(ordersOf)] }
}
