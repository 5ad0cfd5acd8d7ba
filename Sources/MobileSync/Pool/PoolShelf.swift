import System

/// The records of one class, found by ID.
///
/// A user claims the records that no one has fetched, and fetches them. Other users who need them
/// wait until they are stored, or until the claim is released.
final class PoolShelf: Sendable {
  /// How a user gets the wanted records.
  struct Shares {
    /// The records to fetch, most of them claimed.
    var own: [BriefcaseListing.Entry] = []
    /// The records that other users fetch or have fetched.
    var others: [BriefcaseListing.Entry] = []
  }

  /// A record on its way to the shelf.
  struct Record {
    let key: RecordIDSet.Key
    let version: Int64
    /// The position in the page that is stored.
    let start: Int
    let count: Int
  }

  /// Where a record is stored, or who fetches it: compact, because there is one for each record.
  private struct Slot {
    /// The offset in the file, or the number of the user who claimed the record.
    var place: Int
    var version: Int64
    /// The length in bytes; -1 for a claim.
    var count: Int32
    /// The hash of the bytes.
    var check: UInt32

    func isClaimed(by reader: Int) -> Bool { count < 0 && place == reader }
    func isClaimed(besides reader: Int) -> Bool { count < 0 && place != reader }
  }

  private struct State {
    var slots: [RecordIDSet.Key: Slot] = [:]
    var waiting: [CheckedContinuation<Bool, Never>] = []
    var isDissolved = false
    /// The users whose stores have records of other users' requests.
    var readers: Set<String> = []
  }

  let name: ReadingClass
  private let file: PoolFile
  private let state = Locked(State())

  /// The number of records on a shelf: each needs about 60 bytes of memory.
  static let mostRecords = 1_000_000

  init(_ name: ReadingClass, _ file: PoolFile) {
    self.name = name
    self.file = file
  }

  /// Whether the users of the class turned out to read differently.
  var isDissolved: Bool { state.withLock { $0.isDissolved } }

  /// The users whose stores have records of other users' requests.
  var readers: Set<String> { state.withLock { $0.readers } }

  /// Lets every user fetch the records from now on; returns false if that was done before.
  func dissolve() -> Bool {
    let isNews = state.withLock { state in
      defer { state.isDissolved = true }
      return !state.isDissolved
    }
    wakeAll()
    return isNews
  }

  /// Divides the records that a user listed, and claims those that no one has fetched.
  ///
  /// A record in another state than the listed one, or in an unknown one, is fetched by the user.
  func claim(_ wanted: [BriefcaseListing.Entry], by reader: Int) -> Shares {
    let isFull = file.isFull
    return state.withLock { state in
      if state.isDissolved { return Shares(own: wanted) }
      var shares = Shares()
      for entry in wanted {
        guard entry.stamp != RecordPool.unknown, let key = RecordIDSet.key(entry.id.utf8) else {
          shares.own.append(entry)
          continue
        }
        if let slot = state.slots[key] {
          let isFetched = slot.count < 0 || slot.version == entry.stamp
          if isFetched { shares.others.append(entry) } else { shares.own.append(entry) }
          continue
        }
        shares.own.append(entry)
        if !isFull, state.slots.count < Self.mostRecords {
          state.slots[key] = Slot(place: reader, version: entry.stamp, count: -1, check: 0)
        }
      }
      return shares
    }
  }

  /// Stores the records of a page that a user fetched, an array.
  func put(_ records: [Record], of page: [UInt8], by reader: Int) {
    guard !records.isEmpty, !isDissolved, let offset = file.append(page) else { return }
    let checks = page.withUnsafeBytes { bytes in
      records.map { Self.check(bytes[$0.start..<$0.start + $0.count]) }
    }
    state.withLock { state in
      for (record, check) in zip(records, checks) {
        if let slot = state.slots[record.key] {
          guard slot.isClaimed(by: reader) || slot.count >= 0 && slot.version < record.version
          else { continue }
        } else if state.slots.count >= Self.mostRecords {
          continue
        }
        state.slots[record.key] = Slot(
          place: offset + record.start, version: record.version, count: Int32(record.count),
          check: check)
      }
    }
    wakeAll()
  }

  /// Releases a user's claims on records.
  func release(_ entries: [BriefcaseListing.Entry], by reader: Int) {
    guard !entries.isEmpty else { return }
    state.withLock { state in
      for entry in entries {
        guard let key = RecordIDSet.key(entry.id.utf8),
          state.slots[key]?.isClaimed(by: reader) == true
        else { continue }
        state.slots[key] = nil
      }
    }
    wakeAll()
  }

  /// Waits until no other user is about to fetch one of these records; returns early if the task is
  /// cancelled.
  func settled(_ entries: [BriefcaseListing.Entry], for reader: Int) async {
    let keys = entries.compactMap { RecordIDSet.key($0.id.utf8) }
    await withTaskCancellationHandler {
      var isWaiting = true
      while isWaiting {
        isWaiting = await withCheckedContinuation { continuation in
          let mustWait = state.withLock { state in
            let mustWait =
              !Task.isCancelled && !state.isDissolved
              && keys.contains { state.slots[$0]?.isClaimed(besides: reader) == true }
            if mustWait { state.waiting.append(continuation) }
            return mustWait
          }
          if !mustWait { continuation.resume(returning: false) }
        }
      }
    } onCancel: {
      wakeAll()
    }
  }

  /// The file exists only in this process, so the hash may differ in the next.
  private static func check(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes))
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  /// Appends the records that are stored in the listed state to `bytes`, with commas between them,
  /// and returns the others.
  ///
  /// Records that follow each other in a stored page are read together. Damaged ones are forgotten,
  /// so that a user fetches them again.
  func append(
    _ entries: [BriefcaseListing.Entry], to bytes: inout [UInt8]
  ) -> [BriefcaseListing.Entry] {
    let slots = state.withLock { state in
      entries.map { entry -> Slot? in
        guard !state.isDissolved, let key = RecordIDSet.key(entry.id.utf8),
          let slot = state.slots[key], slot.count >= 0, slot.version == entry.stamp
        else { return nil }
        return slot
      }
    }
    var damaged: [BriefcaseListing.Entry] = []
    var missing: [BriefcaseListing.Entry] = []
    var start = 0
    var isFirst = true
    while start < entries.count {
      guard let first = slots[start] else {
        missing.append(entries[start])
        start += 1
        continue
      }
      var (end, next) = (first.place + Int(first.count), start + 1)
      // Between two records of a page there is a comma.
      while next < slots.count, let slot = slots[next], slot.place == end + 1 {
        end += 1 + Int(slot.count)
        next += 1
      }
      let before = bytes.count
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      let read = bytes.count
      if file.read(end - first.place, at: first.place, into: &bytes),
        Self.areSound(slots[start..<next], in: bytes, from: read)
      {
        isFirst = false
      } else {
        bytes.removeSubrange(before...)
        damaged += entries[start..<next]
      }
      start = next
    }
    forget(damaged)
    return missing + damaged
  }

  /// Whether neighbouring records have the bytes that were stored, with a comma before each but the
  /// first.
  private static func areSound(
    _ slots: ArraySlice<Slot?>, in bytes: [UInt8], from first: Int
  ) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var start = first
      return slots.allSatisfy { slot in
        guard let slot, start == first || bytes[start - 1] == UInt8(ascii: ",") else {
          return false
        }
        defer { start += Int(slot.count) + 1 }
        return check(bytes[start..<start + Int(slot.count)]) == slot.check
      }
    }
  }

  private func forget(_ entries: [BriefcaseListing.Entry]) {
    guard !entries.isEmpty else { return }
    state.withLock { state in
      for entry in entries {
        guard let key = RecordIDSet.key(entry.id.utf8), state.slots[key]?.count != -1 else {
          continue
        }
        state.slots[key] = nil
      }
    }
  }

  /// Records that a user's store gets records of other users' requests; returns false if they may
  /// no longer be used.
  func admit(_ userID: String) -> Bool {
    state.withLock { state in
      guard !state.isDissolved else { return false }
      state.readers.insert(userID)
      return true
    }
  }

  private func wakeAll() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: true) }
  }
}
