/// Values that cost something to make, up to a number of them.
struct BoundedCache<Key: Hashable, Value> {
  private let limit: Int
  private var values: [Key: Value] = [:]

  /// An empty cache; beyond `limit` all that is kept goes, so that generated texts cannot grow it.
  init(limit: Int) { self.limit = limit }

  /// The value that is kept for a key.
  subscript(_ key: Key) -> Value? { values[key] }

  mutating func keep(_ value: Value, for key: Key) {
    if values.count >= limit { values.removeAll(keepingCapacity: true) }
    values[key] = value
  }

  mutating func removeAll() { values.removeAll() }
}
