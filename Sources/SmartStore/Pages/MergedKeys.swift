import System

/// Sorted runs of keys, read as one.
///
/// Of equal keys, that of the earlier run comes first, as its rows came earlier.
///
/// A heap holds one cursor per run, ordered by its current record. The first eight bytes of a key
/// are stored with it as a number, which is usually enough to compare two keys.
final class MergedKeys {
  /// The memory for reading all runs of an index.
  private static let readRoom = 2 << 20

  /// The position in a run.
  private struct Cursor {
    var record: UnsafeRawPointer
    var prefix: UInt64 = 0
    /// In memory: the next entries.
    var next: UnsafePointer<KeySort.Entry>?
    var left = 0
    /// In the file: the range still to read.
    var rest = 0..<0
    var buffer: UnsafeMutableRawPointer?
    var size = 0
    var filled = 0
    var place = 0
  }

  private let arena: UnsafeRawPointer
  private let spilled: SpilledRuns?
  private let cursors: UnsafeMutablePointer<Cursor>
  private let cursorCount: Int
  /// The indexes of cursors that have not ended, as a heap.
  private let heap: UnsafeMutablePointer<Int>
  private var heapCount = 0

  init(
    memory: UnsafeBufferPointer<KeySort.Entry>, _ arena: UnsafeRawPointer, _ spilled: SpilledRuns?
  ) throws {
    self.arena = arena
    self.spilled = spilled
    let runs = spilled?.runs ?? []
    cursorCount = runs.count + 1
    cursors = .allocate(capacity: cursorCount)
    heap = .allocate(capacity: cursorCount)
    let size = max(4 << 10, min(256 << 10, Self.readRoom / max(1, runs.count)))
    for (index, run) in runs.enumerated() {
      var cursor = Cursor(record: arena, rest: run)
      cursor.size = min(size, run.count)
      cursor.buffer = .allocate(byteCount: cursor.size + 8, alignment: 8)
      (cursors + index).initialize(to: cursor)
    }
    var cursor = Cursor(record: arena)
    cursor.next = memory.baseAddress
    cursor.left = memory.count
    (cursors + runs.count).initialize(to: cursor)
    for index in 0..<cursorCount where try advance(index) {
      heap[heapCount] = index
      heapCount += 1
    }
    for place in (0..<heapCount).reversed() { sink(place) }
  }

  deinit {
    for index in 0..<cursorCount { cursors[index].buffer?.deallocate() }
    cursors.deallocate()
    heap.deallocate()
  }

  /// The record of the least remaining key, valid until `advance`; nil at the end.
  var current: UnsafeRawPointer? {
    @inline(__always) get { heapCount > 0 ? cursors[heap[0]].record : nil }
  }

  /// Advances to the next key.
  @inline(__always)
  func advance() throws {
    if try !advance(heap[0]) {
      heapCount -= 1
      heap[0] = heap[heapCount]
    }
    if heapCount > 1 { sink(0) }
  }

  @inline(__always)
  private func isLess(_ left: Int, _ right: Int) -> Bool {
    let (a, b) = (cursors[left].prefix, cursors[right].prefix)
    if a != b { return a < b }
    let order = KeyRecord.compare(cursors[left].record, cursors[right].record)
    return order != 0 ? order < 0 : left < right
  }

  private func sink(_ start: Int) {
    var place = start
    let moved = heap[place]
    while true {
      var child = 2 &* place &+ 1
      if child >= heapCount { break }
      if child &+ 1 < heapCount, isLess(heap[child &+ 1], heap[child]) { child &+= 1 }
      if isLess(moved, heap[child]) { break }
      heap[place] = heap[child]
      place = child
    }
    heap[place] = moved
  }

  /// Advances to the next key of a run; returns false at its end.
  @inline(__always)
  private func advance(_ index: Int) throws -> Bool {
    if let next = cursors[index].next {
      guard cursors[index].left > 0 else { return false }
      cursors[index].record = arena + Int(next.pointee.start)
      cursors[index].next = next + 1
      cursors[index].left -= 1
    } else if try !read(index) {
      return false
    }
    let record = cursors[index].record
    cursors[index].prefix = KeyRecord.prefix(
      record + KeyRecord.head, KeyRecord.count(record), from: 0)
    return true
  }

  @inline(__always)
  private func read(_ index: Int) throws -> Bool {
    let cursor = cursors + index
    guard cursor.pointee.place < cursor.pointee.filled || !cursor.pointee.rest.isEmpty else {
      return false
    }
    if cursor.pointee.filled - cursor.pointee.place < KeyRecord.head {
      try need(KeyRecord.head, cursor)
    }
    guard let buffer = cursor.pointee.buffer else { return false }
    let size = KeyRecord.head + KeyRecord.count(buffer + cursor.pointee.place)
    if cursor.pointee.filled - cursor.pointee.place < size { try need(size, cursor) }
    guard let buffer = cursor.pointee.buffer else { return false }
    cursor.pointee.record = UnsafeRawPointer(buffer + cursor.pointee.place)
    cursor.pointee.place += size
    return true
  }

  /// Ensures that a number of bytes are available after the position.
  private func need(_ count: Int, _ cursor: UnsafeMutablePointer<Cursor>) throws {
    guard let spilled, let buffer = cursor.pointee.buffer else { return }
    let kept = cursor.pointee.filled - cursor.pointee.place
    let old = buffer + cursor.pointee.place
    if count > cursor.pointee.size {
      cursor.pointee.size = count * 2
      let larger = UnsafeMutableRawPointer.allocate(byteCount: count * 2 + 8, alignment: 8)
      larger.copyMemory(from: old, byteCount: kept)
      buffer.deallocate()
      cursor.pointee.buffer = larger
    } else {
      // The two may overlap.
      buffer.copyMemory(from: old, byteCount: kept)
    }
    guard let place = cursor.pointee.buffer else { return }
    let rest = cursor.pointee.rest
    let wanted = min(cursor.pointee.size - kept, rest.count)
    try spilled.read(
      into: UnsafeMutableRawBufferPointer(start: place + kept, count: wanted),
      at: rest.lowerBound)
    cursor.pointee.rest = (rest.lowerBound + wanted)..<rest.upperBound
    cursor.pointee.filled = kept + wanted
    cursor.pointee.place = 0
    guard cursor.pointee.filled >= count else {
      throw StoreError.database(
        path: spilled.path, code: 10, message: "a run of keys is truncated")
    }
  }
}
