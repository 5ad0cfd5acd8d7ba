import Salesforce
import System

/// The records that the users of a run fetch for each other.
///
/// A user gets a record from the pool only if the org lists it for that user in this run, in the
/// state in which it is stored, and if the user reads the object as the user who fetched it does
/// (`ReadingClass`). A sample of the records is fetched by each user as well: if one differs, the
/// class is dissolved; if the org does not return one, the user fetches all records.
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
    var readers = 0
    var counts = Counts()
    var unlike: [Unlike] = []
  }

  package let mode: Mode
  private let file: PoolFile
  private let state = Locked(State())

  /// Creates an empty pool with a nameless file in a directory.
  package init(_ mode: Mode, in directory: String) throws(SystemError) {
    self.mode = mode
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
      if let known = state.shelves[name] { return known }
      let shelf = PoolShelf(name, file)
      state.shelves[name] = shelf
      return shelf
    }
  }

  /// The shelf for records that a user requests by ID; nil if they are not shared.
  func shelf(_ session: Session, _ sobject: String, fields: [String]) -> PoolShelf? {
    // Without the user's own description of the object, nothing is known.
    guard let object = session.knownObject(sobject),
      case .shared(let name) = Shareability.of(object, fields: fields)
    else { return nil }
    return shelf(name)
  }

  /// A number for a new reader.
  func newReader() -> Int {
    state.withLock { state in
      state.readers += 1
      return state.readers
    }
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
  }
}
