/// Values that cost something to make, up to a number of them.
struct BoundedCache<Key: Hashable, Value> {
  private let limit: Int
  private var values: [Key: Value] = [:]
  /// What was asked for last is mostly asked for next, and is found without hashing.
  private var latest: (key: Key, value: Value)?

  /// An empty cache; beyond `limit` all that is kept goes, so that generated texts cannot grow it.
  init(limit: Int) { self.limit = limit }

  /// The value that is kept for a key.
  mutating func value(for key: Key) -> Value? {
    if let latest, latest.key == key { return latest.value }
    guard let value = values[key] else { return nil }
    latest = (key, value)
    return value
  }

  mutating func keep(_ value: Value, for key: Key) {
    if values.count >= limit { values.removeAll(keepingCapacity: true) }
    values[key] = value
  }

  mutating func removeAll() {
    values.removeAll()
    latest = nil
  }
}
