import Salesforce
import System

/// The records that the users of a run fetch for each other.
///
/// A user gets a record from the pool only if the org lists it for that user in this run, in the
/// state in which it is stored, and if the user reads the object as the user who fetched it does
/// (`ReadingClass`). Users fetch the records themselves that changed since the run started. A sample of the records is fetched by each user as well: if one differs, the
/// class is dissolved; if the org does not return one, the user fetches all records.
///
/// The values of fields that depend on the user never enter the pool: each user fetches them, and
/// they are put into the user's copy of the record.
package final class RecordPool: Sendable {
  /// Which syncs use a pool.
  package enum Mode: String, Sendable, Hashable, CaseIterable {
    /// Those that list their IDs anyway, so that the pool costs no further request.
    case auto
    /// None.
    case never
    /// Queries too, which then list their IDs first.
    case always
  }

  /// A class whose users turned out to read a record differently.
  package struct Unlike: Sendable, Hashable {
    package let object: String
    /// The field that differs.
    package let field: String

    package init(object: String, field: String) { (self.object, self.field) = (object, field) }
  }

  /// The numbers of records in a pool.
  package struct Counts: Sendable, Hashable {
    /// The number of records that the org sent to users of a pool.
    package var fetched = 0
    /// The number of records that the users' stores needed.
    package var used = 0

    package init(fetched: Int = 0, used: Int = 0) { (self.fetched, self.used) = (fetched, used) }
  }

  /// The number of records of each object that a user fetches for comparison.
  package static let sampleSize = 20

  private struct State {
    var shelves: [ReadingClass: PoolShelf] = [:]
    /// The shelf that a user got last, by the questions that users of its class ask.
    var latest: [ReadingClass.Question: PoolShelf] = [:]
    var readers = 0
    /// The classes of each user, by user ID.
    var classes: [String: [ReadingClass.Question: ReadingClass]] = [:]
    var counts = Counts()
    var unlike: [Unlike] = []
    /// The number of dissolved classes that were noted.
    var noted = 0
    /// The number of syncs of which no user has claimed records.
    var unclaimed: Int
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  package let mode: Mode
  /// The org's time, in milliseconds: what it lists as unchanged since then was the same in every
  /// response to this run.
  let start: Int64
  /// The org's time when the run started, in milliseconds.
  ///
  /// A stamp has whole seconds: of a record that changed since then, equal stamps show nothing.
  private let now: Int64
  /// Whether a user who dissolves a class waits until `noted` is called, so that an interrupted run
  /// leaves a note of the others.
  private let isWatched: Bool
  private let file: PoolFile
  private let state: Locked<State>

  /// Creates an empty pool with a nameless file in a directory.
  ///
  /// `now` is the org's time when the run started, and `overlapSeconds` the time by which a change
  /// may be committed late. `syncs` is the number of syncs after whose claims the pool opens.
  package init(
    _ mode: Mode, in directory: String, now: Int64, overlapSeconds: Int = 0, syncs: Int = 0,
    isWatched: Bool = false
  ) throws(SystemError) {
    self.mode = mode
    state = Locked(State(unclaimed: syncs))
    self.now = now / 1000 * 1000
    start = self.now - Int64(overlapSeconds) * 1000
    self.isWatched = isWatched
    file = try PoolFile(in: directory)
  }

  package var counts: Counts { state.withLock { $0.counts } }

  /// Whether the disk took no more records, so that users fetched them separately.
  package var isFull: Bool { file.isFull }

  /// The classes that were dissolved.
  package var unlike: [Unlike] { state.withLock { $0.unlike } }

  /// The IDs of the users whose stores have records of a class that was dissolved later.
  package var misledReaders: Set<String> {
    state.withLock { state in
      state.shelves.values.filter(\.isDissolved).reduce(into: []) { $0.formUnion($1.readers) }
    }
  }

  /// The shelf of a class.
  func shelf(_ name: ReadingClass) -> PoolShelf {
    state.withLock { state in
      let shelf = state.shelves[name] ?? PoolShelf(name, file)
      state.shelves[name] = shelf
      state.latest[name.question] = shelf
      return shelf
    }
  }

  /// The shelf that a user will probably get, whose description of the object is not known; nil if
  /// nothing is known.
  ///
  /// The user gets nothing from it before the org has answered the user's own request for the same
  /// fields. If the class has formulas, the description is expected with the answer, and decides.
  func likelyShelf(_ session: Session, _ question: ReadingClass.Question) -> PoolShelf? {
    guard !session.knows(question.object),
      let shelf = state.withLock({ $0.latest[question] })
    else { return nil }
    if shelf.name.hasFormulas { session.expectDescriptions(of: [shelf.name.object]) }
    return shelf
  }

  /// Whether the records of a shelf show that their reader has what a sync needs.
  package func shows(_ need: OrgNeed) -> Bool {
    guard need.isOfReading else { return false }
    let (object, field) = (need.sobject.lowercased(), need.field?.lowercased())
    return state.withLock { state in
      state.latest.contains { question, shelf in
        question.object == object && !shelf.name.hasFormulas
          && (field == nil || question.fields.contains { $0.lowercased() == field })
      }
    }
  }

  /// Whether an earlier user of the run got a shelf, so that the next ones need not wait for their
  /// descriptions.
  package var hasShelves: Bool { state.withLock { !$0.shelves.isEmpty } }

  /// The shelf for records that a user requests by ID; nil if they are not shared.
  func shelf(_ session: Session, _ sobject: String, fields: [String]) -> PoolShelf? {
    // Without the user's own description of the object, nothing is known.
    guard let object = session.knownObject(sobject),
      case .shared(let name, _) = Shareability.of(object, fields: fields)
    else { return nil }
    return shelf(name)
  }

  /// The version of a record that did not change since the start.
  static let unchanged: Int64 = -1
  /// The version of a record that may change without a new stamp, or whose stamp is not known: such
  /// a record is not shared.
  static let unknown: Int64 = -2

  /// The version of a record with a stamp, by which its states are distinguished.
  ///
  /// The lists of queries have the stamps of recent changes only.
  func version(_ stamp: Int64, _ request: ReadingClass.Request) -> Int64 {
    if stamp >= now { return Self.unknown }
    return request == .query && stamp < start ? Self.unchanged : stamp
  }

  /// The number of calls that fetch as many records of each kind by ID, with at most `width`
  /// requests in one call.
  package static func calls(_ counts: [Int], width: Int = CallWidth.most) -> Int {
    let size = RequestLimits.retrieve
    return (counts.reduce(0) { $0 + ($1 + size - 1) / size } + width - 1) / width
  }

  /// A number for a new reader.
  func newReader() -> Int {
    state.withLock { state in
      state.readers += 1
      return state.readers
    }
  }

  /// Records how a user reads an object; nil if the records are not shared after all.
  func note(_ userID: String, _ question: ReadingClass.Question, reads name: ReadingClass?) {
    state.withLock { $0.classes[userID, default: [:]][question] = name }
  }

  /// A text that is the same for users who read all shared records alike; nil if a user listed no
  /// records.
  package func classes(of userID: String) -> String? {
    let classes = state.withLock { $0.classes[userID] ?? [:] }
    return classes.isEmpty ? nil : classes.values.map(\.text).sorted().joined(separator: "\n")
  }

  func note(fetched: Int = 0, used: Int) {
    state.withLock { state in
      state.counts.fetched += fetched
      state.counts.used += used
    }
  }

  /// Lets the users of a class fetch their records separately.
  func dissolve(_ shelf: PoolShelf, _ field: String) {
    guard shelf.dissolve() else { return }
    state.withLock { $0.unlike.append(Unlike(object: shelf.name.object, field: field)) }
    wakeAll()
  }

  // MARK: the first user

  /// Waits until the first user has claimed records of all syncs, or `open` is called; returns
  /// early if the task is cancelled.
  package func opened() async { await wait(while: { $0.unclaimed > 0 }) }

  /// Lets the other users continue.
  package func open() {
    state.withLock { $0.unclaimed = 0 }
    wakeAll()
  }

  /// Records that a user has claimed records of a sync.
  func noteClaims() {
    state.withLock { $0.unclaimed -= 1 }
    wakeAll()
  }

  // MARK: notes of dissolved classes

  /// Waits until a class was dissolved; returns false if the task was cancelled before.
  package func dissolution() async -> Bool {
    await wait(while: { $0.unlike.count == $0.noted })
    return !Task.isCancelled
  }

  /// Lets the users continue who dissolved the first `count` classes.
  package func noted(_ count: Int) {
    state.withLock { $0.noted = max($0.noted, count) }
    wakeAll()
  }

  /// Waits until the dissolved classes are noted; returns early if the task is cancelled.
  func settled() async {
    if isWatched { await wait(while: { $0.unlike.count > $0.noted }) }
  }

  private func wait(while mustWait: @Sendable @escaping (State) -> Bool) async {
    await withTaskCancellationHandler {
      var isWaiting = true
      while isWaiting {
        isWaiting = await withCheckedContinuation { continuation in
          let waits = state.withLock { state in
            let waits = !Task.isCancelled && mustWait(state)
            if waits { state.waiting.append(continuation) }
            return waits
          }
          if !waits { continuation.resume(returning: false) }
        }
      }
    } onCancel: {
      wakeAll()
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
