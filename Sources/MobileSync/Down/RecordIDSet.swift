import JSON
import Salesforce

/// A set of record ids, sixteen bytes for each where the SDK's string set would take a heap object.
///
/// Ids of 15 and of 18 characters that name one record are equal here, as in the org.
package struct RecordIDSet: Sendable {
  /// The 15 characters that name a record, which the last three of 18 only check.
  struct Key: Hashable, Sendable {
    fileprivate var high: UInt64
    fileprivate var low: UInt64
  }

  private var keys: Set<Key> = []
  /// Values of an id field that are no record ids.
  private var others: OtherIDs = OtherIDs()

  /// An empty set.
  package init() {}

  package init(_ ids: some Sequence<String>) {
    for id in ids { insert(id) }
  }

  package var count: Int { keys.count + others.count }

  /// Whether ids are in the set that the org sent as numbers.
  package var hasNumbers: Bool { others.hasNumbers }

  /// Adds an id; false when it was there.
  @discardableResult
  package mutating func insert(_ id: String) -> Bool {
    if let key = Self.key(id.utf8) { return keys.insert(key).inserted }
    return others.insert(id)
  }

  /// Adds the id that stands in a buffer; false when it was there.
  @discardableResult
  package mutating func insert(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let key = Self.key(bytes) { return keys.insert(key).inserted }
    return others.insert(String(decoding: bytes, as: UTF8.self))
  }

  /// Adds an id that the org sent as a number.
  package mutating func insert(_ number: Double) { others.insert(number) }

  /// Whether the id of a record, of 15 or 18 characters, is in the set.
  package func contains(_ id: String) -> Bool {
    if let key = Self.key(id.utf8) { return keys.contains(key) }
    return others.contains(id)
  }

  /// Whether the id that stands in a buffer is in the set.
  package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let key = Self.key(bytes) { return keys.contains(key) }
    return others.contains(String(decoding: bytes, as: UTF8.self))
  }

  /// Whether an id that the org sent as a number is in the set.
  package func contains(_ number: Double) -> Bool { others.contains(number) }

  /// Adds the ids of another set.
  package mutating func formUnion(_ other: RecordIDSet) {
    keys.formUnion(other.keys)
    others.formUnion(other.others)
  }

  /// Takes the ids of another set out.
  package mutating func subtract(_ other: RecordIDSet) {
    keys.subtract(other.keys)
    others.keep { !$0.isIn(other.others) }
  }

  /// The ids that another set has, too.
  package func intersection(_ other: RecordIDSet) -> RecordIDSet {
    var set = self
    set.keys.formIntersection(other.keys)
    set.others.keep { $0.isIn(other.others) }
    return set
  }

  /// The ids that another set has not, in their order, without those that the org sent as numbers: no query
  /// finds a number among texts.
  package func subtracting(_ other: RecordIDSet) -> IDList {
    IDList(
      keys.subtracting(other.keys).map(Self.text)
        + others.texts.filter { !other.others.contains($0) })
  }

  /// What any text begins with that is an id of the set: the 15 characters that name a record, or all of another
  /// text.
  var beginnings: [String] { keys.map(Self.name) + others.texts }

  /// The id in 18 characters, or the 15 of something that is no record's id.
  private static func text(_ key: Key) -> String {
    let text = name(key)
    return text.recordID18 ?? text
  }

  /// The 15 characters that name a record.
  private static func name(_ key: Key) -> String {
    var bytes: [UInt8] = []
    for index in 0..<15 {
      let word =
        index < 8 ? key.high >> UInt64(56 - 8 * index) : key.low >> UInt64(48 - 8 * (index - 8))
      bytes.append(UInt8(truncatingIfNeeded: word))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The key of a record's id; nil for any other text, of which no character may be left out: one of 18
  /// whose last three do not fit the others is no record's id.
  static func key(_ bytes: some Collection<UInt8>) -> Key? {
    let count = bytes.count
    guard count == 15 || count == 18 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    // Which characters are upper-case letters, one bit each.
    var cases = 0
    var index = 0
    for byte in bytes {
      if index < 15 {
        if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        if byte >= 0x41, byte <= 0x5A { cases |= 1 << index }
      } else {
        let value = UInt8(truncatingIfNeeded: cases >> (5 * (index - 15)) & 31)
        let expected = value < 26 ? 0x41 + value : 0x30 + value - 26
        // The last three have no case of their own.
        guard byte == expected || value < 26 && byte == expected + 0x20 else { return nil }
      }
      index += 1
    }
    return Key(high: high, low: low)
  }
}

extension RecordIDSet {
  /// What a page of records held.
  struct Page {
    var records: Int
    /// The places without a record.
    var nulls: Int
    /// The records without an id.
    var withoutID = 0
  }

  /// Adds the ids of a page's records, each of which that is text is handed to `see`.
  @discardableResult
  mutating func insert(
    _ page: [UInt8], _ idField: String,
    in container: RecordScanner.Container = .member("records"),
    see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(SyncError) -> Page {
    try SyncError.reading("a page of ids") {
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
