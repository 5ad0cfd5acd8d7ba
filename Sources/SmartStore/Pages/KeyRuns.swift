import System

/// The keys of an index, collected in any order and given back in SQLite's: NULL, numbers, text by its bytes, and
/// the rows' ids where they are equal.
///
/// What does not fit into memory goes to an unnamed file beside the store as a sorted run.
final class KeyRuns {
  /// Bytes of keys held before a run is written.
  static let room = 1 << 20

  /// A key of the run that is collected: its first bytes behind what all have in common, and its place.
  private struct Entry {
    var prefix: UInt64
    let id: Int64
    let start: UInt32
    let count: UInt32
  }

  /// What a key begins with, so that bytes compare as SQLite compares.
  private enum Class {
    static let null: UInt8 = 0
    static let number: UInt8 = 1
    static let text: UInt8 = 2
  }

  private let path: String
  private let isReal: Bool
  private let room: Int
  /// The bytes of the keys, and their entries: memory of its own, which every record touches.
  private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var used = 0
  private var entries = UnsafeMutableBufferPointer<Entry>(start: nil, count: 0)
  private var count = 0
  private var isSorted = true
  private var spilled: SpilledRuns?
  /// Whether a fraction stands among whole numbers, which this order does not know.
  private(set) var isMixed = false

  /// Keys of a column; `isReal` says that its numbers are of REAL.
  init(beside path: String, isReal: Bool, room: Int) {
    self.path = path
    self.isReal = isReal
    self.room = room
  }

  deinit { forget() }

  /// Adds the key of a row; ids come in their order.
  @inline(__always)
  func add(_ value: StoredValue, _ id: Int64) throws {
    if isMixed { return }
    let start = used
    switch value {
    case .null: append(Class.null, UnsafeRawBufferPointer(start: nil, count: 0))
    case .text(let text): append(Class.text, text)
    case .integer(let number):
      append(number: isReal ? Self.order(Double(number)) : UInt64(bitPattern: number) ^ 1 << 63)
    case .real(let number):
      if !isReal { isMixed = true }
      append(number: Self.order(number))
    }
    if count == entries.count { growEntries() }
    let entry = Entry(prefix: 0, id: id, start: UInt32(start), count: UInt32(used - start))
    if isSorted, count > 0 { isSorted = Self.compare(key(entries[count - 1]), key(entry)) <= 0 }
    entries[count] = entry
    count += 1
    if used + count * MemoryLayout<Entry>.stride >= room { try spill() }
  }

  private func append(number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { append(Class.number, $0) }
  }

  @inline(__always)
  private func append(_ kind: UInt8, _ key: UnsafeRawBufferPointer) {
    if used + key.count >= bytes.count { growBytes(key.count + 1) }
    bytes[used] = kind
    UnsafeMutableRawBufferPointer(rebasing: bytes[(used + 1)...]).copyMemory(from: key)
    used += key.count + 1
  }

  private func growBytes(_ more: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(64 << 10, bytes.count * 2, used + more), alignment: 8)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<used]))
    bytes.deallocate()
    bytes = larger
  }

  private func growEntries() {
    let larger = UnsafeMutableBufferPointer<Entry>.allocate(capacity: max(2048, count * 2))
    _ = larger.update(fromContentsOf: entries[..<count])
    entries.deallocate()
    entries = larger
  }

  @inline(__always)
  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes[Int(entry.start)..<(Int(entry.start) + Int(entry.count))])
  }

  /// Bits that compare as the numbers do.
  private static func order(_ number: Double) -> UInt64 {
    let bits = (number == 0 ? 0 : number).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  private func value(_ key: UnsafeRawBufferPointer) -> StoredValue {
    switch key[0] {
    case Class.null: return .null
    case Class.text: return .text(UnsafeRawBufferPointer(rebasing: key[1...]))
    default:
      let bits = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      guard isReal else { return .integer(Int64(bitPattern: bits ^ 1 << 63)) }
      return ColumnAffinity.real(Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits))
    }
  }

  /// Hands over all keys in their order, and says whether two are equal; the collection is empty then.
  func drain(_ body: (StoredValue, Int64) throws -> Void) throws -> Bool {
    var equal = Neighbours()
    if spilled == nil {
      sort()
      for index in 0..<count {
        let key = key(entries[index])
        equal.look(at: key)
        try body(value(key), entries[index].id)
      }
    } else {
      try spill()
      try spilled?.merge { key, id in
        equal.look(at: key)
        try body(value(key), id)
      }
    }
    forget()
    return equal.found
  }

  /// Drops all keys.
  func forget() {
    entries.deallocate()
    bytes.deallocate()
    entries = UnsafeMutableBufferPointer(start: nil, count: 0)
    bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    count = 0
    used = 0
    spilled = nil
  }

  private func spill() throws {
    guard count > 0 else { return }
    sort()
    let runs = try spilled ?? SpilledRuns(beside: path)
    spilled = runs
    for index in 0..<count { try runs.add(key(entries[index]), entries[index].id) }
    try runs.endRun()
    count = 0
    used = 0
    isSorted = true
  }

  // MARK: sorting

  /// Less than 0 where the left key comes first.
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    guard let a = left.baseAddress, let b = right.baseAddress else {
      return left.count - right.count
    }
    let order = ByteOrder.compare(a, b, min(left.count, right.count))
    return order != 0 ? order : left.count - right.count
  }

  private func sort() {
    guard !isSorted else { return }
    setPrefixes()
    radixSort()
    // Keys with one prefix stand together in the order they came in.
    var start = 0
    while start < count {
      var end = start + 1
      while end < count, entries[end].prefix == entries[start].prefix { end += 1 }
      if end - start > 1 {
        var equal = UnsafeMutableBufferPointer(rebasing: entries[start..<end])
        equal.sort {
          let order = Self.compare(key($0), key($1))
          return order != 0 ? order < 0 : $0.id < $1.id
        }
      }
      start = end
    }
    isSorted = true
  }

  /// Takes eight bytes of each key behind what all keys begin with.
  private func setPrefixes() {
    let first = key(entries[0])
    var common = first.count
    for index in 0..<count {
      let key = key(entries[index])
      common = min(common, key.count)
      var same = 0
      while same < common, key[same] == first[same] { same += 1 }
      common = same
    }
    for index in 0..<count {
      let key = key(entries[index])
      var prefix: UInt64 = 0
      for place in common..<(common + 8) {
        prefix = prefix << 8 | (place < key.count ? UInt64(key[place]) : 0)
      }
      entries[index].prefix = prefix
    }
  }

  /// Sorts by the prefixes, byte by byte from the last; equal ones stay in their order.
  private func radixSort() {
    var from = UnsafeMutableBufferPointer(rebasing: entries[..<count])
    let other = UnsafeMutableBufferPointer<Entry>.allocate(capacity: count)
    defer { other.deallocate() }
    var to = other
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      var places = [Int](repeating: 0, count: 257)
      for entry in from { places[Int(entry.prefix >> shift & 0xff) + 1] += 1 }
      if places.contains(count) { continue }
      for value in 1..<257 { places[value] += places[value - 1] }
      for entry in from {
        let value = Int(entry.prefix >> shift & 0xff)
        to[places[value]] = entry
        places[value] += 1
      }
      swap(&from, &to)
    }
    if from.baseAddress == other.baseAddress { _ = to.update(fromContentsOf: from) }
  }

  /// Whether two keys one behind the other are equal, and not NULL.
  private struct Neighbours {
    private var last: [UInt8] = []
    var found = false

    mutating func look(at key: UnsafeRawBufferPointer) {
      guard !found, key[0] != Class.null else { return }
      if last.count == key.count {
        found = last.withUnsafeBytes { KeyRuns.compare($0, key) == 0 }
      }
      last.removeAll(keepingCapacity: true)
      last.append(contentsOf: key)
    }
  }
}
