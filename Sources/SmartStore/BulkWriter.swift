import SQLite
import System

/// Writes the records of a page into one store.
protocol BulkWriter: AnyObject {
  var store: Store { get }
  /// The store's connection. `store.connection` would wait for the page that is being written.
  var connection: Connection { get }
  /// The ID of the next element if pages are only appended; nil if elements are looked up.
  var nextColdID: Int64? { get }
  /// Writes the records of a page.
  func write(_ batch: RecordBatch) throws -> BulkLoader.Counts
  /// Starts to end the load, concurrently with the writers of other stores.
  func beginFinish() throws
  /// Ends the load; returns the number of removed duplicates.
  func finish() throws -> Int
  /// Starts, ends or rolls back the change of a page; a rollback is limited without a journal.
  func begin() throws
  func commit() throws
  func abandon()
}

extension BulkWriter {
  /// Writes a page as a separate change.
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

  /// Rolls back the page if there is a journal.
  func abandon() {
    // The original error is the one to report.
    if connection.inTransaction { try? connection.execute("ROLLBACK") }
  }
}

/// Writers of different stores, which work at the same time.
///
/// Unchecked: a writer uses only its own store, and only one thread uses each writer at a time. No
/// one else uses a writer or its store until the work has ended: the caller waits for it, here or
/// in `Store.connection`. Two destinations of one store are written one after another.
struct WriterGroup: @unchecked Sendable {
  private let writers: [any BulkWriter]

  init(_ writers: [any BulkWriter]) { self.writers = writers }

  /// Whether no two writers write to the same store.
  var isOfDistinctStores: Bool {
    Set(writers.map { ObjectIdentifier($0.store) }).count == writers.count
  }

  /// The result of `body` for each writer; throws the first error, if any.
  func each<T>(_ body: (any BulkWriter) throws -> T) throws -> [T] {
    guard isOfDistinctStores else { return try writers.map(body) }
    let results = Results<T>(count: writers.count)
    // The closure does not escape this call.
    withoutActuallyEscaping(body) { body in
      let work = Work(writers: writers, body: body, results: results)
      Parallel.perform(writers.count) { work.run($0) }
    }
    return try results.all()
  }

  /// Starts writing a page into all stores, which must be distinct.
  ///
  /// Until it is written, all users of the stores wait for it.
  func begin(_ page: LoadedPage) -> PageWrite {
    let results = Results<BulkLoader.Counts>(count: writers.count)
    let work = Work(writers: writers, body: { try $0.write(page) }, results: results)
    let write = PageWrite(Parallel.begin(writers.count) { work.run($0) }, results)
    for writer in writers { writer.store.pageWrite = write }
    return write
  }

  /// Unchecked: `run` is called once per index, and each call writes its own element.
  private struct Work<T>: @unchecked Sendable {
    let writers: [any BulkWriter]
    let body: (any BulkWriter) throws -> T
    let results: Results<T>

    func run(_ index: Int) { results.set(index, Result { try body(writers[index]) }) }
  }

  /// The results, one element per writer.
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

  /// Waits until the page is written or has failed.
  func wait() { running.wait() }

  /// The outcome of the page, one entry per writer, once it is written; throws the first error, if
  /// any.
  func counts() throws -> [BulkLoader.Counts] {
    wait()
    return try results.all()
  }
}
