/// A cache of values that are expensive to create, limited in number.
struct BoundedCache<Key: Hashable, Value> {
  private let limit: Int
  private var values: [Key: Value] = [:]

  /// Creates an empty cache.
  ///
  /// Above `limit` all values are discarded, so that generated texts cannot grow it.
  init(limit: Int) { self.limit = limit }

  /// The cached value of a key.
  subscript(_ key: Key) -> Value? { values[key] }

  mutating func keep(_ value: Value, for key: Key) {
    if values.count >= limit { values.removeAll(keepingCapacity: true) }
    values[key] = value
  }

  mutating func removeAll() { values.removeAll() }
}
