import SQLite
import System

/// How the records of a page get into one store.
protocol BulkWriter: AnyObject {
  var store: Store { get }
  /// The store's connection: `store.connection` would wait for the very page that is being written.
  var connection: Connection { get }
  /// The id of the next element where a page is only appended; nil where elements are looked up.
  var nextColdID: Int64? { get }
  /// Writes the records of a page.
  func write(_ batch: RecordBatch) throws -> BulkLoader.Counts
  /// Begins to end the load, beside the writers of other stores.
  func beginFinish() throws
  /// Ends the load; answers how many doubles were removed.
  func finish() throws -> Int
  /// Begins the change that a page is, ends it, or undoes it as far as that can be.
  func begin() throws
  func commit() throws
  func abandon()
}

extension BulkWriter {
  /// Writes a page as a change of its own.
  func write(_ page: LoadedPage) throws -> BulkLoader.Counts {
    try begin()
    do {
      let counts = try page.withRecords(write)
      try commit()
      return counts
    } catch {
      abandon()
      throw error
    }
  }

  func beginFinish() throws {}
  func begin() throws { try connection.execute("BEGIN IMMEDIATE") }
  func commit() throws { try connection.execute("COMMIT") }

  /// Undoes the page where there is a journal.
  func abandon() {
    // The error that led here is the one to tell.
    if connection.inTransaction { try? connection.execute("ROLLBACK") }
  }
}

/// Writers of different stores, which work at the same time.
///
/// Unchecked: a writer touches its own store alone, each is used by one thread at a time, and nobody
/// else touches a writer or its store until the work has ended: the caller waits for it, here or by
/// `Store.connection`. Two destinations of one store are written one after the other.
struct WriterGroup: @unchecked Sendable {
  private let writers: [any BulkWriter]

  init(_ writers: [any BulkWriter]) { self.writers = writers }

  /// Whether no two writers write into one store.
  var isOfDistinctStores: Bool {
    Set(writers.map { ObjectIdentifier($0.store) }).count == writers.count
  }

  /// What `body` answers for each writer; the first error, if one throws.
  func each<T>(_ body: (any BulkWriter) throws -> T) throws -> [T] {
    guard isOfDistinctStores else { return try writers.map(body) }
    let results = Results<T>(count: writers.count)
    // The closure does not leave this call.
    withoutActuallyEscaping(body) { body in
      let work = Work(writers: writers, body: body, results: results)
      Parallel.perform(writers.count) { work.run($0) }
    }
    return try results.all()
  }

  /// Begins to write a page into all stores, which are distinct; until it is written, whoever touches
  /// one of the stores waits for it.
  func begin(_ page: LoadedPage) -> PageWrite {
    let results = Results<BulkLoader.Counts>(count: writers.count)
    let work = Work(writers: writers, body: { try $0.write(page) }, results: results)
    let write = PageWrite(Parallel.begin(writers.count) { work.run($0) }, results)
    for writer in writers { writer.store.pageWrite = write }
    return write
  }

  /// Unchecked: `run` is called once per index, each writes its own place.
  private struct Work<T>: @unchecked Sendable {
    let writers: [any BulkWriter]
    let body: (any BulkWriter) throws -> T
    let results: Results<T>

    func run(_ index: Int) { results.set(index, Result { try body(writers[index]) }) }
  }

  /// One place per writer.
  fileprivate final class Results<T> {
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

/// A page that is being written while its caller reads the next one.
final class PageWrite {
  private let running: Parallel.Running
  private let results: WriterGroup.Results<BulkLoader.Counts>

  fileprivate init(
    _ running: Parallel.Running, _ results: WriterGroup.Results<BulkLoader.Counts>
  ) {
    self.running = running
    self.results = results
  }

  /// Waits until the page is written, or has failed.
  func wait() { running.wait() }

  /// What became of the page, one entry per writer, once it is written; the first error, if one failed.
  func counts() throws -> [BulkLoader.Counts] {
    wait()
    return try results.all()
  }
}
