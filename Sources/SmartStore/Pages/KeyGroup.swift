import System

/// The keys that the stores of one load have in common: collected and sorted once, written to all.
///
/// Platforms store most values alike; the columns of an element differ only if a flag, a number or
/// a structure is converted differently. So a column has common keys, which the first store's
/// writer collects for all, and each store may add its own keys. When the indexes are created, the
/// sorted common keys are passed chunk by chunk to all stores at once. Each store has a thread that
/// writes them, merged with its own keys, while the next chunk is merged.
final class KeyGroup {
  /// The common keys of one column.
  final class Column {
    fileprivate let name: String
    let keys: KeyRuns
    /// Whether two keys are equal and not NULL; known after they were written.
    fileprivate(set) var hasEqual = false

    fileprivate init(_ name: String, _ keys: KeyRuns) {
      self.name = name
      self.keys = keys
    }
  }

  /// The ID from which all stores continue.
  let firstID: Int64
  /// The number of stores.
  private(set) var count = 0
  private var columns: [Column] = []
  private var stores: [ObjectIdentifier] = []

  init(firstID: Int64) { self.firstID = firstID }

  /// Adds a store and returns its index; nil if it is already a member.
  func join(_ store: Store) -> Int? {
    guard !stores.contains(ObjectIdentifier(store)) else { return nil }
    stores.append(ObjectIdentifier(store))
    count += 1
    return count - 1
  }

  /// The column with a name; `make` creates the keys of a new one.
  func column(_ name: String, _ make: () -> KeyRuns) -> Column {
    if let known = columns.first(where: { $0.name == name }) { return known }
    let column = Column(name, make())
    columns.append(column)
    return column
  }

  /// Writes the indexes of all columns, in the stores that have them.
  func lay(_ writers: [PageInsertWriter]) throws {
    for column in columns {
      let layings = try writers.compactMap { try $0.laying(of: column) }
      if !layings.isEmpty {
        column.hasEqual = try Self.lay(try column.keys.merged(), layings)
        // The trees' own remaining keys are few.
        for laying in layings { try laying.finish() }
      }
      for writer in writers { writer.forget(column) }
      column.keys.forget()
    }
  }

  /// Passes the keys to all stores; returns whether two are equal.
  private static func lay(_ keys: MergedKeys, _ layings: [KeyLaying]) throws -> Bool {
    var chunk = KeyChunk()
    var next = KeyChunk()
    var equal = EqualKeys()
    try chunk.fill(keys, &equal)
    if keys.current == nil {
      for laying in layings { try laying.add(chunk) }
      return equal.found
    }
    while !chunk.isEmpty {
      let work = Work(layings: layings, chunk: chunk)
      let running = Parallel.begin(layings.count) { work.run($0) }
      // All threads must have ended before this scope is left.
      try withExtendedLifetime(running) {
        defer { running.wait() }
        try next.fill(keys, &equal)
      }
      try work.check()
      swap(&chunk, &next)
    }
    return equal.found
  }

  /// Unchecked: `run` is called once per index, and each call uses its own laying, whose store and
  /// file no one else uses.
  ///
  /// The chunk is only read until all have ended.
  private struct Work: @unchecked Sendable {
    let layings: [KeyLaying]
    let chunk: KeyChunk
    let failure = Locked<(any Error)?>(nil)

    func run(_ index: Int) {
      do { try layings[index].add(chunk) } catch {
        failure.withLock { $0 = $0 ?? error }
      }
    }

    func check() throws {
      if let error = failure.withLock({ $0 }) { throw error }
    }
  }
}

/// A part of an index's sorted keys, as consecutive records.
final class KeyChunk {
  private static let room = 512 << 10

  private var bytes = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 8)
  private var size = room
  private var used = 0

  deinit { bytes.deallocate() }

  var isEmpty: Bool { used == 0 }
  /// The start and end of the records.
  var records: (start: UnsafeRawPointer, end: UnsafeRawPointer) {
    (UnsafeRawPointer(bytes), UnsafeRawPointer(bytes + used))
  }

  /// Takes as many keys as fit, but at least one if there is one.
  func fill(_ keys: MergedKeys, _ equal: inout EqualKeys) throws {
    used = 0
    var last: UnsafeRawPointer?
    while let record = keys.current {
      let count = KeyRecord.head + KeyRecord.count(record)
      if used + count > size {
        if used > 0 { break }
        bytes.deallocate()
        bytes = .allocate(byteCount: count, alignment: 8)
        size = count
      }
      let place = bytes + used
      place.copyMemory(from: record, byteCount: count)
      if !equal.found { equal.look(at: UnsafeRawPointer(place), behind: last) }
      last = UnsafeRawPointer(place)
      used += count
      try keys.advance()
    }
    equal.keep(last)
  }
}

/// Whether two consecutive keys are equal and not NULL.
struct EqualKeys {
  private(set) var found = false
  /// The last key of the previous chunk.
  private var kept: [UInt8] = []

  @inline(__always)
  mutating func look(at record: UnsafeRawPointer, behind last: UnsafeRawPointer?) {
    if let last {
      let count = KeyRecord.count(record)
      if count == KeyRecord.count(last), !KeyRuns.isNull(record),
        KeyRecord.compare(last, record) == 0
      {
        found = true
      }
    } else if !kept.isEmpty {
      found = kept.withUnsafeBytes { bytes in
        guard let last = bytes.baseAddress, !KeyRuns.isNull(record) else { return false }
        return KeyRecord.compare(last, record) == 0
      }
    }
  }

  mutating func keep(_ record: UnsafeRawPointer?) {
    guard let record else { return }
    kept = Array(
      UnsafeRawBufferPointer(
        start: record, count: KeyRecord.head + KeyRecord.count(record)))
  }
}

/// An index of one store while its keys are written: the store's own keys are merged with the
/// common ones.
final class KeyLaying {
  private let tree: IndexTree
  private let isReal: Bool
  private let own: MergedKeys?

  init(_ tree: IndexTree, isReal: Bool, own: MergedKeys?) {
    self.tree = tree
    self.isReal = isReal
    self.own = own
  }

  /// Adds the keys of a chunk.
  func add(_ chunk: KeyChunk) throws {
    let (start, end) = chunk.records
    var record = start
    while record < end {
      if let own { try add(own, before: record) }
      try tree.add(KeyRuns.value(record, isReal: isReal), of: KeyRecord.id(record))
      record += KeyRecord.head + KeyRecord.count(record)
    }
  }

  private func add(_ own: MergedKeys, before record: UnsafeRawPointer) throws {
    while let next = own.current {
      let order = KeyRecord.compare(next, record)
      guard order < 0 || order == 0 && KeyRecord.id(next) < KeyRecord.id(record) else { return }
      try tree.add(KeyRuns.value(next, isReal: isReal), of: KeyRecord.id(next))
      try own.advance()
    }
  }

  /// Adds the store's remaining own keys, and ends the tree.
  func finish() throws {
    while let own, let next = own.current {
      try tree.add(KeyRuns.value(next, isReal: isReal), of: KeyRecord.id(next))
      try own.advance()
    }
    try tree.finish()
  }
}
