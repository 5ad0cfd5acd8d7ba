import JSON
import SQLite
import System

/// Loads pages of downloaded records into a soup of several stores at once.
///
/// A page is read once, whatever the number of stores. Nothing is made of a record but the bytes that
/// are stored: its own, with Mobile Sync's and SmartStore's members before the closing brace; that is done for a few
/// records at a time, because a page may be large.
///
/// A cold load into files that are thrown away if it fails writes a page in the background while its
/// caller fetches the next one and has it read: `load` comes back when the page before is written and
/// this one is begun. A page that cannot be written fails the next `load`, or `finish`. Everybody else
/// who touches such a store waits for the page (`Store.connection`), other loads into it too.
package final class BulkLoader {
  /// What a load starts from.
  package enum Mode: Sendable {
    /// An empty soup: indexes are made when all records are in.
    case cold
    /// A soup with elements: a record replaces the element of its id.
    case incremental
  }

  /// What may happen to the files on the way.
  package enum Durability: Sendable {
    /// A temporary file that is thrown away if the load fails: no journal, nothing synchronised.
    case disposable
    /// A file that must survive: each page is a transaction.
    case durable
  }

  /// How a cold load writes a disposable file.
  package enum Method: Sendable {
    /// Finished pages, laid down behind each other.
    case pages
    /// SQLite's own INSERT and CREATE INDEX.
    case statements
  }

  /// What is loaded into which soup.
  package struct Options: Sendable {
    /// The soup, registered if it is not there.
    package var soup: String
    /// The indexes of a soup that is not there.
    package var specs: [IndexSpec]
    /// The path of a record's id; it must be indexed.
    package var idPath = "Id"
    /// The path of a record's modification date.
    package var modificationPath = "LastModifiedDate"
    /// The sync that fetches the records; nil for none.
    package var syncID: Int64?
    /// The run's clock, in milliseconds.
    package var now: Int64
    /// What may happen to the files.
    package var durability = Durability.disposable
    /// How a cold load writes a disposable file, to which nobody else has a transaction open meanwhile.
    package var method = Method.pages
    /// Bytes of an index's keys held in memory before they go to a file.
    package var keyRoom = KeyRuns.room

    /// Options with the names that the org's records have.
    package init(soup: String, specs: [IndexSpec], syncID: Int64?, now: Int64) {
      self.soup = soup
      self.specs = specs
      self.syncID = syncID.flatMap { $0 >= 0 ? $0 : nil }
      self.now = now
    }
  }

  /// A store to load into.
  package struct Destination {
    /// The store.
    package let store: Store
    /// Ids whose elements are left as they are.
    package var skip: Set<String>

    /// A store, with the ids that must be left in it.
    package init(_ store: Store, skip: Set<String> = []) {
      self.store = store
      self.skip = skip
    }
  }

  /// What became of records in one store.
  package struct Counts: Sendable, Hashable {
    /// Elements that are new.
    package var inserted = 0
    /// Elements that were replaced.
    package var updated = 0
    /// Records that the store already had, to the byte.
    package var unchanged = 0
    /// Records whose element had to be left.
    package var skipped = 0
    /// Records that came twice; the one with the later modification date stays.
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

    /// Elements that were written.
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

  /// What a page held.
  package struct PageLoad: Sendable, Hashable {
    /// The records of the page.
    package var records = 0
    /// The elements that were null: rows that the user may not see, or that are gone.
    package var nulls = 0
    /// The greatest modification date, as written in the page.
    package var latestModification: String?
  }

  /// What a whole load did.
  package struct LoadSummary: Sendable, Hashable {
    /// The records of all pages.
    package var records = 0
    /// The nulls of all pages.
    package var nulls = 0
    /// The greatest modification date of all pages.
    package var latestModification: String?
    /// What became of the records, one entry per destination.
    package var destinations: [Counts] = []
  }

  private let plan: RecordPlan
  /// The page that is read.
  private var page = LoadedPage()
  /// The page before, which is written meanwhile.
  private var before = LoadedPage()
  /// The writing of the page before.
  private var write: PageWrite?
  /// Why a page could not be written in the background: what follows would lack it.
  private var failure: (any Error)?
  private var writers: [any BulkWriter] = []
  /// The stores whose keys are sorted together.
  private var groups: [KeyGroup] = []
  private var summary = LoadSummary()
  private let options: Options

  /// Prepares a load; a soup that has elements is always loaded incrementally.
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

  /// Ends the load: makes the indexes, resolves doubles, and makes the stores safe to write again.
  package func finish() throws(StoreError) -> LoadSummary {
    try StoreError.mapping {
      if let failure { throw failure }
      try settle()
      waitForOthers()
      let doubles = try keepingFailure {
        let group = WriterGroup(writers)
        _ = try group.each { writer in
          if options.durability == .disposable, writer.nextColdID != nil {
            // The rows go to the disk while the indexes are made. No transaction is open: to close a
            // file here ends SQLite's locks on it.
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

  /// A failure of what is written fails all that follows.
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

  /// Writes the page, or begins to.
  private func writeBefore() throws {
    waitForOthers()
    // Several loads may be one change of their caller.
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

  /// Whether nobody reads the stores between two pages, and a failure costs no more than the files.
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

  /// Waits for the pages that other loads write into the stores.
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
  /// The greatest modification date of the page as text.
  var latestModificationText: String? {
    latestModification.isEmpty ? nil : String(decoding: latestModification, as: UTF8.self)
  }
}

extension Store {
  /// Writes without a journal and without synchronising: for a file that is thrown away on failure.
  func beginUnjournaledLoad() throws {
    looseLoads += 1
    guard looseLoads == 1 else { return }
    try connection.execute(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048;
      PRAGMA temp_store = FILE
      """)
  }

  /// Writes with a journal again when the last of the loads is over.
  func regainSafety() throws {
    looseLoads -= 1
    guard looseLoads == 0 else { return }
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA cache_size = -2000;
      PRAGMA secure_delete = ON
      """)
  }
}
