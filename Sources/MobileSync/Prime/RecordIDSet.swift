/// A set of record ids, sixteen bytes for each where the SDK's string set would take a heap object.
///
/// Ids of 15 and of 18 characters that name one record are equal here, as in the org.
package struct RecordIDSet: Sendable {
  /// The 15 characters that name a record, which the last three of 18 only check.
  private struct Key: Hashable, Sendable {
    var high: UInt64
    var low: UInt64
  }

  private var keys: Set<Key> = []
  /// Values of an id field that are no record ids.
  private var others: Set<String> = []

  /// An empty set.
  package init() {}

  /// The ids of a sequence.
  package init(_ ids: some Sequence<String>) {
    for id in ids { insert(id) }
  }

  /// How many ids there are.
  package var count: Int { keys.count + others.count }

  /// Adds an id; false when it was there.
  @discardableResult
  package mutating func insert(_ id: String) -> Bool {
    if let key = Self.key(id.utf8) { return keys.insert(key).inserted }
    return others.insert(id).inserted
  }

  /// Adds the id that stands in a buffer; false when it was there.
  @discardableResult
  package mutating func insert(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let key = Self.key(bytes) { return keys.insert(key).inserted }
    return others.insert(String(decoding: bytes, as: UTF8.self)).inserted
  }

  /// True when the id is in the set.
  package func contains(_ id: String) -> Bool {
    if let key = Self.key(id.utf8) { return keys.contains(key) }
    return others.contains(id)
  }

  /// True when the id that stands in a buffer is in the set.
  package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let key = Self.key(bytes) { return keys.contains(key) }
    return others.contains(String(decoding: bytes, as: UTF8.self))
  }

  private static func key(_ bytes: some Collection<UInt8>) -> Key? {
    guard bytes.count == 15 || bytes.count == 18 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (index, byte) in bytes.prefix(15).enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
    return Key(high: high, low: low)
  }
}
