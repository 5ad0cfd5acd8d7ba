import JSON
import Salesforce

/// A set of record IDs that uses 16 bytes for each, where the SDK's set of strings needs a heap
/// object.
///
/// The 15-character and 18-character forms of an ID are equal here, as in the org.
package struct RecordIDSet: Sendable {
  /// The 15 characters that identify a record; the last three of 18 only check them.
  struct Key: Hashable, Comparable, Sendable {
    fileprivate var high: UInt64
    fileprivate var low: UInt64

    static func < (one: Key, other: Key) -> Bool {
      (one.high, one.low) < (other.high, other.low)
    }
  }

  private var keys: Set<Key> = []
  /// Values of an ID field that are not record IDs.
  private var others: OtherIDs = OtherIDs()

  package init() {}

  package init(_ ids: some Sequence<String>) {
    for id in ids { insert(id) }
  }

  package var count: Int { keys.count + others.count }

  /// Whether the set contains IDs that the org sent as numbers.
  package var hasNumbers: Bool { others.hasNumbers }

  /// Adds an ID; returns false if it is already present.
  @discardableResult
  package mutating func insert(_ id: String) -> Bool {
    if let key = Self.key(id.utf8) { return keys.insert(key).inserted }
    return others.insert(id)
  }

  /// Adds the ID in a buffer; returns false if it is already present.
  @discardableResult
  package mutating func insert(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let key = Self.key(bytes) { return keys.insert(key).inserted }
    return others.insert(String(decoding: bytes, as: UTF8.self))
  }

  package mutating func insert(_ number: Double) { others.insert(number) }

  /// Whether the set contains a record's ID of 15 or 18 characters.
  package func contains(_ id: String) -> Bool {
    if let key = Self.key(id.utf8) { return keys.contains(key) }
    return others.contains(id)
  }

  /// Whether the set contains the ID in a buffer.
  package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let key = Self.key(bytes) { return keys.contains(key) }
    return others.contains(String(decoding: bytes, as: UTF8.self))
  }

  /// Whether the set contains an ID that the org sent as a number.
  package func contains(_ number: Double) -> Bool { others.contains(number) }

  package mutating func formUnion(_ other: RecordIDSet) {
    keys.formUnion(other.keys)
    others.formUnion(other.others)
  }

  package mutating func subtract(_ other: RecordIDSet) {
    keys.subtract(other.keys)
    others.keep { !$0.isIn(other.others) }
  }

  /// Returns the IDs that both sets contain.
  package func intersection(_ other: RecordIDSet) -> RecordIDSet {
    var set = self
    set.keys.formIntersection(other.keys)
    set.others.keep { $0.isIn(other.others) }
    return set
  }

  /// Returns the IDs that another set lacks, in order.
  ///
  /// IDs that the org sent as numbers are omitted, since no query finds a number among texts.
  package func subtracting(_ other: RecordIDSet) -> IDList {
    // The list has little to sort then.
    IDList(
      keys.subtracting(other.keys).sorted().map(Self.text)
        + others.texts.filter { !other.others.contains($0) })
  }

  /// The prefixes of all texts that can be an ID of the set: the 15 characters that identify a
  /// record, or the whole of another text.
  var beginnings: [String] { keys.map(Self.name) + others.texts }

  /// The 18-character ID, or 15 characters that are not a record's ID.
  private static func text(_ key: Key) -> String {
    let text = name(key)
    return text.recordID18 ?? text
  }

  /// The 15 characters that identify a record.
  private static func name(_ key: Key) -> String {
    var bytes: [UInt8] = []
    for index in 0..<15 {
      let word =
        index < 8 ? key.high >> UInt64(56 - 8 * index) : key.low >> UInt64(48 - 8 * (index - 8))
      bytes.append(UInt8(truncatingIfNeeded: word))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the key of a record's ID; nil for any other text, which must be kept in full.
  ///
  /// A text of 18 characters with a wrong check suffix is not a record's ID.
  static func key(_ bytes: some Collection<UInt8>) -> Key? {
    let count = bytes.count
    guard count == 15 || count == 18 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    // The positions of upper-case letters, one bit each.
    var cases = 0
    var index = 0
    for byte in bytes {
      if index < 15 {
        if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        if byte >= 0x41, byte <= 0x5A { cases |= 1 << index }
      } else {
        let value = UInt8(truncatingIfNeeded: cases >> (5 * (index - 15)) & 31)
        let expected = value < 26 ? 0x41 + value : 0x30 + value - 26
        // The last three characters are not case-sensitive.
        guard byte == expected || value < 26 && byte == expected + 0x20 else { return nil }
      }
      index += 1
    }
    return Key(high: high, low: low)
  }
}

extension RecordIDSet {
  /// The contents of a page of records.
  struct Page {
    var records: Int
    /// The number of null entries.
    var nulls: Int
    /// The number of records without an ID.
    var withoutID = 0
  }

  /// Adds the IDs of a page's records, and passes each that is text to `see`.
  @discardableResult
  mutating func insert(
    _ page: [UInt8], _ idField: String,
    in container: RecordScanner.Container = .member("records"),
    see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(SyncError) -> Page {
    try SyncError.reading("a page of IDs") {
      var withoutID = 0
      let found = try page.withUnsafeBytes { bytes in
        try RecordScanner(paths: [idField]).scan(bytes, in: container) { _, _, fields in
          let isID: Void? = PageID.reading(fields[0], in: bytes) { id in
            insert(id)
            if case .text(let text) = id { see(text) }
          }
          if isID == nil { withoutID += 1 }
        }
      }
      return Page(records: found.records, nulls: found.nulls, withoutID: withoutID)
    }
  }
}
