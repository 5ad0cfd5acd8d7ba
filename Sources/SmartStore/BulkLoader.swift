import JSON
import SQLite
import System

/// Loads pages of downloaded records into a soup of several stores at once.
///
/// A page is parsed once, regardless of the number of stores. Each record is stored as its own
/// bytes, with the members of Mobile Sync and SmartStore before the closing brace. As a page may be
/// large, this is done for a few records at a time.
///
/// A cold load into disposable files writes a page in the background while its caller fetches the
/// next one and passes it on: `load` returns when the previous page is written and the writing of
/// this one has started. If a page cannot be written, the next `load` or `finish` throws. All other
/// users of such a store, including other loads, wait for the page (`Store.connection`).
package final class BulkLoader {
  /// The state of the soup before a load.
  package enum Mode: Sendable {
    /// An empty soup: indexes are created after the last record.
    case cold
    /// A soup with elements: a record replaces the element with the same ID.
    case incremental
  }

  /// The guarantees for the files during a load.
  package enum Durability: Sendable {
    /// A temporary file that is discarded if the load fails: no journal, nothing is synced.
    case disposable
    /// A file that must survive: each page is a transaction.
    case durable
  }

  /// The way a cold load writes a disposable file.
  package enum Method: Sendable {
    /// Finished database pages, appended one after another.
    case pages
    /// SQLite's INSERT and CREATE INDEX.
    case statements
  }

  /// The target of a load.
  package struct Options: Sendable {
    /// The soup; it is registered if it does not exist.
    package var soup: String
    /// The indexes of a new soup.
    package var specs: [IndexSpec]
    /// The path of a record's ID; it must be indexed.
    package var idPath = "Id"
    /// The path of a record's modification date.
    package var modificationPath = "LastModifiedDate"
    /// The sync that fetches the records; nil for none.
    package var syncID: Int64?
    /// The run's clock, in milliseconds.
    package var now: Int64
    /// The guarantees for the files.
    package var durability = Durability.disposable
    /// The way a cold load writes a disposable file, on which no one else has an open transaction.
    package var method = Method.pages
    /// The bytes of an index's keys held in memory before they are written to a file.
    package var keyRoom = KeyRuns.room

    /// Creates options with the paths of org records.
    package init(soup: String, specs: [IndexSpec], syncID: Int64?, now: Int64) {
      self.soup = soup
      self.specs = specs
      self.syncID = syncID.flatMap { $0 >= 0 ? $0 : nil }
      self.now = now
    }
  }

  /// A store to load into.
  package struct Destination {
    package let store: Store
    /// The IDs of elements that must not be replaced.
    package var skip: Set<String>

    /// Creates a destination, with the IDs of elements that must not be replaced.
    package init(_ store: Store, skip: Set<String> = []) {
      self.store = store
      self.skip = skip
    }
  }

  /// The outcome of a load in one store.
  package struct Counts: Sendable, Hashable {
    /// The number of new elements.
    package var inserted = 0
    /// The number of replaced elements.
    package var updated = 0
    /// The number of records that the store already had, byte for byte.
    package var unchanged = 0
    /// The number of records whose element must not be replaced.
    package var skipped = 0
    /// The number of records that occurred twice.
    ///
    /// The one with the later modification date is kept.
    package var doubles = 0

    package init(
      inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, skipped: Int = 0, doubles: Int = 0
    ) {
      self.inserted = inserted
      self.updated = updated
      self.unchanged = unchanged
      self.skipped = skipped
      self.doubles = doubles
    }

    /// The number of written elements.
    package var written: Int { inserted + updated }

    static func + (left: Counts, right: Counts) -> Counts {
      var sum = left
      sum.inserted += right.inserted
      sum.updated += right.updated
      sum.unchanged += right.unchanged
      sum.skipped += right.skipped
      sum.doubles += right.doubles
      return sum
    }
  }

  /// The content of a page.
  package struct PageLoad: Sendable, Hashable {
    /// The number of records in the page.
    package var records = 0
    /// The number of null elements: rows that the user may not see, or that no longer exist.
    package var nulls = 0
    /// The greatest modification date, as written in the page.
    package var latestModification: String?
  }

  /// The result of a whole load.
  package struct LoadSummary: Sendable, Hashable {
    /// The number of records in all pages.
    package var records = 0
    /// The number of null elements in all pages.
    package var nulls = 0
    /// The greatest modification date of all pages.
    package var latestModification: String?
    /// The outcome in each destination.
    package var destinations: [Counts] = []
  }

  private let plan: RecordPlan
  /// The page that is read.
  private var page = LoadedPage()
  /// The previous page, which is written meanwhile.
  private var before = LoadedPage()
  /// The writing of the previous page.
  private var write: PageWrite?
  /// The error of a page that could not be written in the background: later pages would be
  /// incomplete without it.
  private var failure: (any Error)?
  private var writers: [any BulkWriter] = []
  /// The stores whose keys are sorted together.
  private var groups: [KeyGroup] = []
  private var summary = LoadSummary()
  private let options: Options

  /// Prepares a load.
  ///
  /// A soup that has elements is always loaded incrementally.
  package init(
    _ mode: Mode, destinations: [Destination], options: Options
  ) throws(StoreError) {
    self.options = options
    let composer = ElementComposer(options)
    var soups: [Soup] = []
    for destination in destinations {
      try destination.store.registerSoup(options.soup, indexSpecs: options.specs)
      soups.append(try StoreError.mapping { try destination.store.soup(options.soup) })
    }
    plan = RecordPlan(options, soups: soups)
    var groups: [KeyGroup] = []
    var writers: [any BulkWriter] = []
    for (destination, soup) in zip(destinations, soups) {
      let writer = try StoreError.mapping {
        try Self.writer(
          mode, destination, soup, plan: plan, composer: composer, groups: &groups)
      }
      writers.append(writer)
    }
    self.groups = groups
    self.writers = writers
    summary.destinations = destinations.map { _ in Counts() }
  }

  private static func writer(
    _ mode: Mode, _ destination: Destination, _ soup: Soup, plan: RecordPlan,
    composer: ElementComposer, groups: inout [KeyGroup]
  ) throws -> any BulkWriter {
    let options = plan.options
    guard let column = soup.column(of: options.idPath, on: destination.store.platform) else {
      throw StoreError.noIndex(soup: soup.name, path: options.idPath)
    }
    if options.durability == .disposable { try destination.store.beginUnjournaledLoad() }
    let isEmpty =
      try destination.store.connection.integer("SELECT 1 FROM \(raw: soup.table) LIMIT 1") == nil
    guard mode == .cold, isEmpty else {
      return try IncrementalWriter(
        destination, soup, plan: plan, composer: composer, idColumn: column)
    }
    if options.durability == .disposable, options.method == .pages,
      let writer = try PageInsertWriter(
        destination.store, soup, plan: plan, composer: composer, idColumn: column,
        groups: &groups)
    {
      return writer
    }
    return try BulkInsertWriter(
      destination.store, soup, plan: plan, composer: composer, idColumn: column)
  }

  deinit { write?.wait() }

  /// Throws if a page cannot be read; nothing is loaded.
  package func check(
    _ bytes: [UInt8], in container: RecordScanner.Container
  ) throws(StoreError) {
    try StoreError.mapping { try read(bytes, container) }
  }

  /// Loads the records of one page.
  package func load(
    _ bytes: [UInt8], in container: RecordScanner.Container
  ) throws(StoreError) -> PageLoad {
    try StoreError.mapping {
      if let failure { throw failure }
      try read(bytes, container)
      try settle()
      swap(&page, &before)
      try keepingFailure { try writeBefore() }
      let result = before.content
      add(result)
      return result
    }
  }

  /// Ends the load: creates the indexes, removes duplicates, and restores safe writing of the
  /// stores.
  package func finish() throws(StoreError) -> LoadSummary {
    try StoreError.mapping {
      if let failure { throw failure }
      try settle()
      waitForOthers()
      let doubles = try keepingFailure {
        let group = WriterGroup(writers)
        _ = try group.each { writer in
          if options.durability == .disposable, writer.nextColdID != nil {
            // The rows are written to disk while the indexes are created. No transaction is open:
            // closing a file here would release SQLite's locks on it.
            DurableFile.beginWriteback(of: writer.store.path)
          }
          try writer.beginFinish()
        }
        try PageInsertWriter.layKeys(writers, groups)
        return try group.each { writer in
          let doubles = try writer.finish()
          if options.durability == .disposable { try writer.store.regainSafety() }
          return doubles
        }
      }
      for (index, count) in doubles.enumerated() { summary.destinations[index].doubles += count }
      writers = []
      return summary
    }
  }

  /// Once a write has failed, all later calls fail.
  private func keepingFailure<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch {
      failure = error
      throw error
    }
  }

  private func read(_ bytes: [UInt8], _ container: RecordScanner.Container) throws {
    do {
      try page.read(bytes, in: container, plan: plan)
    } catch let error as JSONError {
      throw StoreError.invalidPage(soup: options.soup, reason: error.description)
    }
  }

  /// Writes the previous page, or starts writing it.
  private func writeBefore() throws {
    waitForOthers()
    // Several loads may be part of one change of the caller.
    let isPartOfChange = writers.contains { $0.store.connection.inTransaction }
    let group = WriterGroup(writers)
    if mayWriteInBackground, !isPartOfChange {
      write = group.begin(before)
      return
    }
    defer { before.forgetBytes() }
    add(
      try group.each { [before] writer in
        guard writer.store.connection.inTransaction else { return try writer.write(before) }
        return try writer.store.transaction { try before.withRecords(writer.write) }
      })
  }

  /// Whether no one reads the stores between two pages, and a failure costs no more than the files.
  private var mayWriteInBackground: Bool {
    options.durability == .disposable && writers.allSatisfy { $0.nextColdID != nil }
      && WriterGroup(writers).isOfDistinctStores
  }

  /// Waits for the page that is being written in the background.
  private func settle() throws {
    guard let write else { return }
    self.write = nil
    defer { before.forgetBytes() }
    add(try keepingFailure { try write.counts() })
  }

  /// Waits for the pages that other loads are writing into the stores.
  private func waitForOthers() {
    for writer in writers { writer.store.pageWrite?.wait() }
  }

  private func add(_ page: PageLoad) {
    summary.records += page.records
    summary.nulls += page.nulls
    if let latest = page.latestModification, latest > summary.latestModification ?? "" {
      summary.latestModification = latest
    }
  }

  private func add(_ counts: [Counts]) {
    for (index, counts) in counts.enumerated() {
      summary.destinations[index] = summary.destinations[index] + counts
    }
  }
}

extension RecordBatch {
  /// The greatest modification date of the page, as text.
  var latestModificationText: String? {
    latestModification.isEmpty ? nil : String(decoding: latestModification, as: UTF8.self)
  }
}

extension Store {
  /// Disables the journal and syncing, for a file that is discarded on failure.
  func beginUnjournaledLoad() throws {
    looseLoads += 1
    guard looseLoads == 1 else { return }
    try connection.execute(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048;
      PRAGMA temp_store = FILE
      """)
  }

  /// Enables the journal again when the last of the loads has ended.
  func regainSafety() throws {
    looseLoads -= 1
    guard looseLoads == 0 else { return }
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA synchronous = \(isDisposable ? "OFF" : "FULL");
      PRAGMA cache_size = -2000; PRAGMA secure_delete = ON
      """)
  }
}
