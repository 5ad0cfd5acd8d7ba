import System

/// The keys of an index, collected in any order and returned in SQLite's: NULL, numbers, text by
/// its bytes, and for equal keys the row IDs.
///
/// Keys are consecutive in one arena. Keys that do not fit into memory (`room`, and `KeyBudget` for
/// all loads together) are written as a sorted run to an unnamed file next to the store;
/// `MergedKeys` reads all runs as one.
package final class KeyRuns {
  /// The bytes of keys held before a run is written: enough for a quarter of a million short ones.
  package static let room = 12 << 20
  private static let slack = 8

  /// The first byte of a key, so that bytes compare like values in SQLite.
  private enum Class {
    static let null: UInt8 = 0
    static let number: UInt8 = 1
    static let text: UInt8 = 2
  }

  private let path: String
  private let isReal: Bool
  private let room: Int
  private var arena = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 8)
  private var arenaSize = 0
  private var used = 0
  private var entries = UnsafeMutablePointer<KeySort.Entry>.allocate(capacity: 1)
  private var entriesSize = 0
  private var count = 0
  private var last = 0
  private var isSorted = true
  private var held = 0
  private var spilled: SpilledRuns?
  /// Whether a fraction occurs among whole numbers, which this order does not support.
  private(set) var isMixed = false

  /// Creates an empty collection; `isReal` means that the numbers of the column are REAL.
  init(beside path: String, isReal: Bool, room: Int) {
    self.path = path
    self.isReal = isReal
    self.room = room
  }

  deinit {
    KeyBudget.give(held)
    arena.deallocate()
    entries.deallocate()
  }

  /// Discards all keys.
  func forget() {
    KeyBudget.give(held)
    held = 0
    arena.deallocate()
    entries.deallocate()
    arena = .allocate(byteCount: 1, alignment: 8)
    entries = .allocate(capacity: 1)
    (arenaSize, entriesSize, used, count) = (0, 0, 0, 0)
    isSorted = true
    spilled = nil
  }

  /// Whether no key was added.
  var isEmpty: Bool { count == 0 && spilled == nil }

  /// Adds the key of a row; IDs must be ascending.
  @inline(__always)
  func add(_ value: StoredValue, _ id: Int64) throws {
    switch value {
    case .null: try append(Class.null, UnsafeRawBufferPointer(start: nil, count: 0), id)
    case .text(let text): try append(Class.text, text, id)
    case .integer(let number):
      try append(isReal ? Self.order(Double(number)) : UInt64(bitPattern: number) ^ 1 << 63, id)
    case .real(let number):
      if !isReal { isMixed = true }
      try append(Self.order(number), id)
    }
  }

  private func append(_ number: UInt64, _ id: Int64) throws {
    try withUnsafeBytes(of: number.bigEndian) { try append(Class.number, $0, id) }
  }

  @inline(__always)
  private func append(_ kind: UInt8, _ key: UnsafeRawBufferPointer, _ id: Int64) throws {
    let size = KeyRecord.head &+ 1 &+ key.count
    if used &+ size > arenaSize || count == entriesSize { try makeRoom(size) }
    let record = arena + used
    record.storeBytes(of: UInt32(truncatingIfNeeded: key.count &+ 1), as: UInt32.self)
    record.storeBytes(of: id, toByteOffset: 4, as: Int64.self)
    record.storeBytes(of: kind, toByteOffset: KeyRecord.head, as: UInt8.self)
    (record + KeyRecord.head + 1).copyMemory(from: key)
    if isSorted, count > 0, KeyRecord.compare(arena + last, record) > 0 { isSorted = false }
    last = used
    entries[count] = KeySort.Entry(prefix: 0, start: UInt32(truncatingIfNeeded: used))
    used &+= size
    count &+= 1
    if used &+ count &* MemoryLayout<KeySort.Entry>.stride >= room { try spill() }
  }

  /// Makes room for a record: memory grows, or its content is written to the file.
  private func makeRoom(_ size: Int) throws {
    let stride = MemoryLayout<KeySort.Entry>.stride
    var bytes = arenaSize
    var places = entriesSize
    if used + size > bytes { bytes = max(16 << 10, bytes * 2, used + size) }
    if count == places { places = max(512, places * 2) }
    let total = bytes + places * stride
    let more = total - held
    let isFree = count == 0 || total <= KeyBudget.least
    if !isFree, total > room || !KeyBudget.take(more, always: false) {
      try spill()
      if size <= arenaSize { return }
      return try makeRoom(size)
    }
    if isFree { _ = KeyBudget.take(more, always: true) }
    held = total
    if bytes != arenaSize {
      let larger = UnsafeMutableRawPointer.allocate(byteCount: bytes + Self.slack, alignment: 8)
      larger.copyMemory(from: arena, byteCount: used)
      arena.deallocate()
      arena = larger
      arenaSize = bytes
    }
    if places != entriesSize {
      let larger = UnsafeMutablePointer<KeySort.Entry>.allocate(capacity: places)
      larger.update(from: entries, count: count)
      entries.deallocate()
      entries = larger
      entriesSize = places
    }
  }

  /// Bits that compare like the numbers.
  private static func order(_ number: Double) -> UInt64 {
    let bits = (number == 0 ? 0 : number).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// Whether a record's key is NULL.
  @inline(__always)
  static func isNull(_ record: UnsafeRawPointer) -> Bool {
    record.load(fromByteOffset: KeyRecord.head, as: UInt8.self) == Class.null
  }

  /// The value of a record's key; text is not copied.
  @inline(__always)
  static func value(_ record: UnsafeRawPointer, isReal: Bool) -> StoredValue {
    let key = record + KeyRecord.head
    switch key.load(as: UInt8.self) {
    case Class.text:
      return .text(UnsafeRawBufferPointer(start: key + 1, count: KeyRecord.count(record) &- 1))
    case Class.null: return .null
    default:
      let bits = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      guard isReal else { return .integer(Int64(bitPattern: bits ^ 1 << 63)) }
      return ColumnAffinity.real(Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits))
    }
  }

  private func sort() {
    guard !isSorted else { return }
    KeySort.sort(UnsafeMutableBufferPointer(start: entries, count: count), arena)
    isSorted = true
  }

  private func spill() throws {
    guard count > 0 else { return }
    sort()
    let runs = try spilled ?? SpilledRuns(beside: path)
    spilled = runs
    for index in 0..<count {
      let record = UnsafeRawPointer(arena + Int(entries[index].start))
      try runs.add(
        UnsafeRawBufferPointer(start: record, count: KeyRecord.head + KeyRecord.count(record)))
    }
    try runs.endRun()
    count = 0
    used = 0
    isSorted = true
  }

  /// All keys in order.
  ///
  /// No key may be added afterwards, and this object must live as long as they are read.
  func merged() throws -> MergedKeys {
    sort()
    return try MergedKeys(
      memory: UnsafeBufferPointer(start: entries, count: count), arena, spilled)
  }
}
