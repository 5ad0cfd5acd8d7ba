import System

/// Sorts keys by their bytes; equal ones keep their order.
///
/// - An entry has eight bytes of its key as a number, after the prefix that all keys share, and the
///   key's position. Entries are sorted by the number, byte by byte from the last (radix sort), or
///   by insertion if they are few.
/// - Keys with the same number are then adjacent, and are sorted by their next eight bytes, and so
///   on until they end.
/// - A key that has ended is padded with zeros. Keys that differ only in trailing zeros are sorted
///   by length.
package struct KeySort {
  /// A key: eight of its bytes, and the offset of its record in the arena.
  package struct Entry {
    var prefix: UInt64
    package let start: UInt32

    package init(prefix: UInt64, start: UInt32) {
      self.prefix = prefix
      self.start = start
    }
  }

  /// The start of the arena's records.
  ///
  /// Each has four bytes for the key's length and eight for the row's ID, followed by the key.
  private let arena: UnsafeRawPointer
  private let scratch: UnsafeMutablePointer<Entry>

  /// Sorts the entries; eight bytes after each record of the arena must be readable.
  package static func sort(_ entries: UnsafeMutableBufferPointer<Entry>, _ arena: UnsafeRawPointer)
  {
    guard let first = entries.baseAddress, entries.count > 1 else { return }
    let scratch = UnsafeMutablePointer<Entry>.allocate(capacity: entries.count)
    defer { scratch.deallocate() }
    let sort = KeySort(arena: arena, scratch: scratch)
    sort.sort(first, entries.count, from: sort.common(first, entries.count))
  }

  @inline(__always)
  private func key(_ entry: Entry) -> (bytes: UnsafeRawPointer, count: Int) {
    let record = arena + Int(entry.start)
    return (record + KeyRecord.head, KeyRecord.count(record))
  }

  /// The length of the prefix that all keys share.
  private func common(_ entries: UnsafeMutablePointer<Entry>, _ count: Int) -> Int {
    let first = key(entries[0])
    var common = first.count
    for index in 1..<count {
      let key = key(entries[index])
      if key.count >= common, ByteOrder.compare(first.bytes, key.bytes, common) == 0 { continue }
      var same = 0
      while same < min(common, key.count),
        (first.bytes + same).load(as: UInt8.self) == (key.bytes + same).load(as: UInt8.self)
      { same += 1 }
      common = same
    }
    return common
  }

  private func sort(
    _ entries: UnsafeMutablePointer<Entry>, _ count: Int, from depth: Int
  ) {
    var depth = depth
    while true {
      var isAscending = true
      var isSame = true
      var longest = 0
      for index in 0..<count {
        let key = key(entries[index])
        let prefix = KeyRecord.prefix(key.bytes, key.count, from: depth)
        entries[index].prefix = prefix
        longest = max(longest, key.count)
        if index > 0, prefix != entries[index - 1].prefix {
          isSame = false
          if prefix < entries[index - 1].prefix { isAscending = false }
        }
      }
      if isSame {
        depth += 8
        if longest > depth { continue }
        return sortByLength(entries, count)
      }
      if !isAscending { order(entries, count) }
      break
    }
    var start = 0
    while start < count {
      var end = start + 1
      while end < count, entries[end].prefix == entries[start].prefix { end += 1 }
      if end - start > 1 { sort(entries + start, end - start, from: depth + 8) }
      start = end
    }
  }

  /// Sorts keys that differ only in trailing zeros.
  private func sortByLength(_ entries: UnsafeMutablePointer<Entry>, _ count: Int) {
    let first = key(entries[0]).count
    if (1..<count).allSatisfy({ key(entries[$0]).count == first }) { return }
    for index in 0..<count { entries[index].prefix = UInt64(key(entries[index]).count) }
    order(entries, count)
  }

  private func order(_ entries: UnsafeMutablePointer<Entry>, _ count: Int) {
    if count > 32 { return radixSort(entries, count) }
    for index in 1..<count {
      let entry = entries[index]
      var place = index
      while place > 0, entries[place - 1].prefix > entry.prefix {
        entries[place] = entries[place - 1]
        place -= 1
      }
      entries[place] = entry
    }
  }

  private func radixSort(_ entries: UnsafeMutablePointer<Entry>, _ count: Int) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 8 * 256) { buffer in
      guard let places = buffer.baseAddress else { return }
      places.initialize(repeating: 0, count: 8 * 256)
      for index in 0..<count {
        var rest = entries[index].prefix
        for digit in 0..<8 {
          places[digit &* 256 &+ Int(truncatingIfNeeded: rest & 0xff)] &+= 1
          rest >>= 8
        }
      }
      var from = entries
      var to = scratch
      for digit in 0..<8 {
        let places = places + digit * 256
        let shift = UInt64(digit * 8)
        let first = Int(truncatingIfNeeded: from[0].prefix >> shift & 0xff)
        if Int(places[first]) == count { continue }
        var sum: UInt32 = 0
        for value in 0..<256 {
          let next = sum &+ places[value]
          places[value] = sum
          sum = next
        }
        for index in 0..<count {
          let entry = from[index]
          let value = Int(truncatingIfNeeded: entry.prefix >> shift & 0xff)
          to[Int(places[value])] = entry
          places[value] &+= 1
        }
        swap(&from, &to)
      }
      if from != entries { entries.update(from: from, count: count) }
    }
  }
}

/// A key with its row's ID, in memory and in a run: four bytes for the key's length, eight for the
/// ID, then the key.
package enum KeyRecord {
  /// The number of bytes before the key.
  static let head = 12

  @inline(__always)
  static func count(_ record: UnsafeRawPointer) -> Int {
    Int(record.loadUnaligned(as: UInt32.self))
  }

  @inline(__always)
  package static func id(_ record: UnsafeRawPointer) -> Int64 {
    record.loadUnaligned(fromByteOffset: 4, as: Int64.self)
  }

  /// Eight bytes of a key as a number, padded with zeros; eight bytes after the key must be
  /// readable.
  @inline(__always)
  static func prefix(_ key: UnsafeRawPointer, _ count: Int, from depth: Int) -> UInt64 {
    let rest = count &- depth
    if rest <= 0 { return 0 }
    let bytes = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: depth, as: UInt64.self))
    return rest >= 8 ? bytes : bytes & ~(UInt64.max >> UInt64(rest &* 8))
  }

  /// Less than 0 if the left record's key sorts first, 0 if they are equal.
  @inline(__always)
  static func compare(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer) -> Int {
    let (a, b) = (count(left), count(right))
    let order = ByteOrder.compare(left + head, right + head, min(a, b))
    return order != 0 ? order : a &- b
  }
}
