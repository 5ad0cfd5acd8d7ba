import System

/// How the records of a page get into one store.
protocol BulkWriter: AnyObject {
  var store: Store { get }
  /// The id of the next element where a page is only appended; nil where elements are looked up.
  var nextColdID: Int64? { get }
  /// Writes the records of a page.
  func write(_ batch: RecordBatch, _ composed: ComposedChunk) throws -> BulkLoader.Counts
  /// Ends the load; answers how many doubles were removed.
  func finish() throws -> Int
}

extension BulkWriter {
  func begin() throws { try store.connection.execute("BEGIN IMMEDIATE") }
  func commit() throws { try store.connection.execute("COMMIT") }

  /// Undoes the page where there is a journal.
  func abandon() {
    // The error that led here is the one to tell.
    if store.connection.inTransaction { try? store.connection.execute("ROLLBACK") }
  }
}

/// Writers of different stores, which work at the same time.
///
/// Unchecked: a writer touches its own store alone, each is used by one thread at a time, and the
/// caller waits for all. Two destinations of one store are written one after the other.
struct WriterGroup: @unchecked Sendable {
  private let writers: [any BulkWriter]

  init(_ writers: [any BulkWriter]) { self.writers = writers }

  /// What `body` answers for each writer; the first error, if one throws.
  func each<T>(_ body: (any BulkWriter) throws -> T) throws -> [T] {
    guard Set(writers.map { ObjectIdentifier($0.store) }).count == writers.count else {
      return try writers.map(body)
    }
    let results = Results<T>(count: writers.count)
    // The closure does not leave this call.
    withoutActuallyEscaping(body) { body in
      let work = Work(writers: writers, body: body, results: results)
      Parallel.perform(writers.count) { work.run($0) }
    }
    return try results.all()
  }

  /// Unchecked: `run` is called once per index, each writes its own place.
  private struct Work<T>: @unchecked Sendable {
    let writers: [any BulkWriter]
    let body: (any BulkWriter) throws -> T
    let results: Results<T>

    func run(_ index: Int) { results.set(index, Result { try body(writers[index]) }) }
  }

  /// One place per writer.
  private final class Results<T> {
    private let places: UnsafeMutableBufferPointer<Result<T, any Error>?>

    init(count: Int) {
      places = .allocate(capacity: count)
      places.initialize(repeating: nil)
    }

    deinit {
      places.deinitialize()
      places.deallocate()
    }

    func set(_ index: Int, _ result: Result<T, any Error>) { places[index] = result }
    func all() throws -> [T] { try places.compactMap { try $0?.get() } }
  }
}
