import JSON
import Salesforce
import System

/// The records of one user's listing, divided into those that the user fetches and those that other
/// users fetch.
///
/// It goes in rounds, by `next`:
/// 1. It claims records; the caller fetches them, and passes each response to `take`. In the same
///    round the caller fetches the user's own fields of the records of other users, unless a list
///    brought them.
/// 2. It compares a sample with the records of other users.
/// 3. It returns the records of other users. Those that did not arrive are fetched in another round.
final class PooledRecords {
  typealias Entry = BriefcaseListing.Entry

  /// Records of other users, as an array.
  struct Part {
    let group: Int
    let ids: [String]
    let bytes: [UInt8]
  }

  /// What the caller does next.
  enum Step {
    /// Fetch these records of each group, and the values of the user's own fields of others, and
    /// pass the responses to `take`.
    case fetch([[Entry]], own: [[Entry]])
    /// Use these records.
    case use(Part)
  }

  private let pool: RecordPool
  private var shelves: [PoolShelf?]
  /// Whether the stamp was added to the request of each group.
  private let dropsStamp: [Bool]
  /// The kind of request of each group; nil if its records are not shared.
  private let requests: [ReadingClass.Request?]
  private let size: Int
  /// The user whose store gets the records.
  private let userID: String
  private let reader: Int
  /// The records still to be divided, by group.
  private var pending: [[Entry]]
  /// The records of the current round that are fetched, and those that other users fetch.
  private var own: [[Entry]] = []
  private var others: [[Entry]]
  /// The records that the user fetches in the next round although others have fetched them.
  private var unshared: [[Entry]]
  /// The values of the user's own fields of each group; nil if it has no such fields.
  private var values: [OwnValues?]
  /// The values that a list brought, after which none are requested.
  private let listed: OwnValues?
  /// Returns the number of calls that fetch as many records and values; nil if it does not matter.
  private let calls: ((_ counts: [Int]) -> Int)?
  private var isInRound = false
  private var hasClaimed = false
  /// Whether a sample of each group was chosen, which is done once for each shelf.
  private var isSampled: [Bool]
  /// The records to compare.
  private var sample: [[Entry]]
  /// The user's own records of the sample, with their versions.
  private var sampled: [RecordIDSet.Key: (version: Int64, bytes: [UInt8])] = [:]
  private var sampledKeys: Set<RecordIDSet.Key> = []
  /// The groups of which the user fetches all records.
  private var separate: Set<Int> = []

  /// Divides the wanted records of each group; a group without a shelf is fetched by the user.
  ///
  /// If `calls` shows that the values of the user's own fields need more calls than all records do,
  /// the user fetches the records.
  init(
    _ pool: RecordPool, _ shelves: [PoolShelf?], wanted: [[Entry]], size: Int, for userID: String,
    listed: OwnValues? = nil, calls: ((_ counts: [Int]) -> Int)? = nil
  ) {
    self.listed = listed
    self.calls = calls
    values = shelves.map { listed ?? OwnValues($0?.name) }
    unshared = shelves.map { _ in [] }
    self.pool = pool
    self.shelves = shelves
    dropsStamp = shelves.map { $0?.name.lacksStamp == true }
    requests = shelves.map { $0?.name.request }
    self.size = max(1, size)
    self.userID = userID
    reader = pool.newReader()
    pending = zip(wanted, shelves).map { wanted, shelf in
      guard shelf?.name.request == .retrieve else { return wanted }
      return wanted.map { Entry(id: $0.id, stamp: pool.version($0.stamp, .retrieve)) }
    }
    others = shelves.map { _ in [] }
    sample = shelves.map { _ in [] }
    isSampled = shelves.map { _ in false }
  }

  deinit { release() }

  /// The next step, after all responses to the last one; nil if all records have arrived.
  func next() async throws(SyncError) -> Step? {
    if isInRound { try await endRound() }
    if let part = try await nextOfOthers() { return .use(part) }
    guard let (wanted, own) = nextRound() else { return nil }
    isInRound = true
    return .fetch(wanted, own: own)
  }

  /// The records of each group to fetch now, and those of which only the values of the user's own
  /// fields are fetched; nil if all have arrived.
  private func nextRound() -> (records: [[Entry]], own: [[Entry]])? {
    guard (pending + unshared).contains(where: { !$0.isEmpty }) else { return nil }
    var own = pending
    var parts: [[Entry]] = shelves.map { _ in [] }
    for (group, shelf) in shelves.enumerated() {
      guard let shelf, !pending[group].isEmpty, !separate.contains(group) else { continue }
      pool.note(userID, shelf.name.question, reads: shelf.name)
      let shares = shelf.claim(pending[group], by: reader)
      var (mine, theirs) = (shares.own, shares.others)
      if !isSampled[group], !theirs.isEmpty {
        sample[group] = Array(theirs.shuffled().prefix(RecordPool.sampleSize))
        let picked = Set(sample[group].map(\.id))
        theirs.removeAll { picked.contains($0.id) }
        // A store's rows are in the order of the list, whether the records were claimed or sampled.
        let left = Set(theirs.map(\.id))
        mine = pending[group].filter { !left.contains($0.id) }
        sampledKeys.formUnion(picked.compactMap { RecordIDSet.key($0.utf8) })
      }
      isSampled[group] = true
      own[group] = mine
      others[group] = theirs
      if let values = values[group], listed == nil {
        parts[group] = (sample[group] + theirs).filter { !values.has($0) }
      }
    }
    if !hasClaimed, let calls, calls((own + parts).map(\.count)) > calls(pending.map(\.count)) {
      for group in parts.indices where !parts[group].isEmpty {
        separate.insert(group)
        own[group] = pending[group]
        (others[group], sample[group], parts[group]) = ([], [], [])
      }
    }
    self.own = own
    let wanted = zip(own, unshared).map { $0 + $1 }
    pending = shelves.map { _ in [] }
    unshared = pending
    if !hasClaimed { pool.noteClaims() }
    hasClaimed = true
    return (wanted, parts)
  }

  /// The fields of a group of which the user fetches the values.
  func ownFields(_ group: Int) -> [String] { values[group]?.fields ?? [] }

  /// Takes a response with values of the user's own fields.
  func take(values page: [UInt8], of group: Int) throws(SyncError) {
    try values[group]?.insert(page, in: .array) { stamp in
      stamp.map { pool.version($0, .retrieve) } ?? RecordPool.unknown
    }
  }

  /// Replaces the shelf of a group if it turned out not to be that of the user; nothing was taken
  /// from it.
  func replace(_ group: Int, by shelf: PoolShelf?) {
    guard let likely = shelves[group], likely !== shelf else { return }
    likely.release(own[group], by: reader)
    pool.note(userID, likely.name.question, reads: nil)
    shelves[group] = shelf
    values[group] = OwnValues(shelf?.name)
    pending[group] += others[group]
    (others[group], sample[group], isSampled[group]) = ([], [], false)
  }

  /// Takes a response to the user's own request, and returns its records as an array, without the
  /// stamp if it was added to the request.
  func take(
    _ page: [UInt8], of group: Int, in container: RecordScanner.Container
  ) throws(SyncError) -> [UInt8] {
    let dropsStamp = dropsStamp[group]
    guard let request = requests[group] else { return page }
    var bytes = [UInt8(ascii: "[")]
    bytes.reserveCapacity(page.count)
    // The records without the values of the user's own fields, if there are such fields.
    let own = shelves[group]?.name.own ?? []
    var masked = [UInt8(ascii: "[")]
    let null = Array("null".utf8)[...]
    var records: [PoolShelf.Record] = []
    var count = 0
    try SyncError.reading("a page of records") {
      let scanner = RecordScanner(paths: ["Id", ReadingClass.stamp] + own)
      let found = try page.withUnsafeBytes { raw in
        try scanner.scan(raw, in: container) { _, range, fields in
          if count > 0 { bytes.append(UInt8(ascii: ",")) }
          count += 1
          let start = bytes.count
          var edits: [JSONSplice.Edit] = []
          if dropsStamp, fields[1].kind != .missing {
            edits.append(JSONSplice.Edit(JSONSplice.member(of: fields[1], in: raw)))
          }
          JSONSplice.append(range, of: raw, &edits, to: &bytes)
          guard fields[0].kind == .string, fields[1].kind == .string,
            let key = RecordIDSet.key(UnsafeRawBufferPointer(rebasing: raw[fields[0].range])),
            let stamp = Dates.milliseconds(
              iso8601: UnsafeRawBufferPointer(rebasing: raw[fields[1].range]))
          else { return }
          let version = pool.version(stamp, request)
          if sampledKeys.contains(key) { sampled[key] = (version, Array(bytes[start...])) }
          guard !own.isEmpty else {
            return records.append(
              PoolShelf.Record(
                key: key, version: version, start: start, count: bytes.count - start))
          }
          let values = fields.dropFirst(2)
          // A record without the field could not take the value of another user.
          guard values.allSatisfy({ $0.kind != .missing }) else { return }
          if !records.isEmpty { masked.append(UInt8(ascii: ",")) }
          let place = masked.count
          edits += values.map { JSONSplice.Edit(JSONSplice.whole($0), null) }
          JSONSplice.append(range, of: raw, &edits, to: &masked)
          records.append(
            PoolShelf.Record(
              key: key, version: version, start: place, count: masked.count - place))
        }
      }
      for _ in 0..<found.nulls {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes += Array("null".utf8)
      }
    }
    bytes.append(UInt8(ascii: "]"))
    masked.append(UInt8(ascii: "]"))
    if let shelf = shelves[group] {
      shelf.put(records, of: own.isEmpty ? bytes : masked, by: reader)
      pool.note(fetched: count, used: count)
    }
    return bytes
  }

  /// Ends a round after the last response, and compares the sample.
  private func endRound() async throws(SyncError) {
    isInRound = false
    release()
    for (group, entries) in sample.enumerated() where !entries.isEmpty {
      guard let shelf = shelves[group] else { continue }
      await shelf.settled(entries, for: reader)
      if Task.isCancelled { throw SyncError(.cancelled, "the sync was cancelled") }
      for entry in entries where try !compare(entry, with: shelf, of: group) {
        separate.insert(group)
        pending[group] += others[group]
        others[group] = []
      }
      sample[group] = []
    }
    await pool.settled()
    sampled = [:]
    sampledKeys = []
  }

  /// The next records of other users; nil if those that remain must be fetched in another round.
  private func nextOfOthers() async throws(SyncError) -> Part? {
    for (group, shelf) in shelves.enumerated() {
      while let shelf, !others[group].isEmpty {
        let slice = Array(others[group].prefix(size))
        await shelf.settled(slice, for: reader)
        if Task.isCancelled { throw SyncError(.cancelled, "the sync was cancelled") }
        others[group].removeFirst(slice.count)
        if let part = try part(slice, of: group, shelf) { return part }
      }
    }
    return nil
  }

  /// The records of a slice that are stored; the others are fetched in another round.
  private func part(
    _ slice: [Entry], of group: Int, _ shelf: PoolShelf
  ) throws(SyncError) -> Part? {
    guard shelf.admit(userID) else {
      pending[group] += slice
      return nil
    }
    var slice = slice
    if let values = values[group] {
      unshared[group] += slice.filter { !values.has($0) }
      slice.removeAll { !values.has($0) }
    }
    var bytes = [UInt8(ascii: "[")]
    let missing = shelf.append(slice, to: &bytes)
    pending[group] += missing
    guard missing.count < slice.count else { return nil }
    bytes.append(UInt8(ascii: "]"))
    let others = Set(missing.map(\.id))
    slice.removeAll { others.contains($0.id) }
    if let values = values[group] {
      guard let spliced = try values.splice(bytes) else {
        unshared[group] += slice
        return nil
      }
      bytes = spliced
    }
    let ids = slice.map(\.id)
    pool.note(used: ids.count)
    return Part(group: group, ids: ids, bytes: bytes)
  }

  /// Whether the user may get records of others, as far as a record of the sample shows.
  ///
  /// If a field of the user's own record differs from the stored one with the values of the user's
  /// own fields, the class is dissolved. A record that has changed in between shows nothing, and so
  /// does a value that may move. If the org lists a record for the user and does not return it,
  /// there may be more such records.
  private func compare(
    _ entry: Entry, with shelf: PoolShelf, of group: Int
  ) throws(SyncError) -> Bool {
    var stored = [UInt8(ascii: "[")]
    guard let key = RecordIDSet.key(entry.id.utf8), shelf.append([entry], to: &stored).isEmpty
    else { return true }
    stored.append(UInt8(ascii: "]"))
    guard let own = sampled[key] else { return false }
    if let values = values[group] {
      guard values.has(entry), let spliced = try values.splice(stored) else { return true }
      stored = spliced
    }
    let steady = shelf.name.fields.filter { field in
      !shelf.name.moving.contains { $0.lowercased() == field.lowercased() }
    }
    let record = Array(stored.dropFirst().dropLast())
    guard own.version == entry.stamp, own.bytes != record,
      let field = Self.difference(own.bytes, record, in: steady)
    else { return true }
    pool.dissolve(shelf, field)
    return false
  }

  /// The first of the fields by which two records differ; nil if only the form of their JSON does.
  private static func difference(
    _ one: [UInt8], _ other: [UInt8], in fields: [String]
  ) -> String? {
    let one = (try? JSONValue(parsing: one))?.object ?? [:]
    let other = (try? JSONValue(parsing: other))?.object ?? [:]
    let asked = Set(fields.map { $0.lowercased() })
    return (one.names + other.names).first {
      asked.contains($0.lowercased()) && one[$0] != other[$0]
    }
  }

  /// Releases the claims that no response fulfilled.
  private func release() {
    for (group, entries) in own.enumerated() { shelves[group]?.release(entries, by: reader) }
    own = []
  }
}
