import JSON
import SmartStore
import System

/// The live store of an app: each page is stored durably before the next one is requested.
///
/// A first load into empty soups is a single transaction whose indexes are built at the end, as in
/// a prime, which is several times faster. After an error of the org or the connection, the pages
/// that arrived are kept; if the process ends, the soups are empty. Another writer commits the
/// transaction first (`settle`), and the load then continues page by page.
///
/// Into a disposable file, a first load writes finished pages instead, and the soups are empty
/// until it ends. Its records, and what it keeps after an error, are the same.
package final class StoreSink: RecordSink {
  private enum Phase {
    case undecided, initial, pages
  }

  private let context: SyncContext
  private let target: any SyncDownTarget
  /// The timestamp of the run's elements.
  private let now: Int64
  package private(set) var latestModification: Int64?
  private var phase = Phase.undecided
  /// The bulk loaders of a first load, by destination.
  private var loads: [SyncDestination: BulkLoader] = [:]
  private var laterSyncIDs: [String: [Int64]] = [:]
  /// The reason why a first load could not be kept.
  private var failure: SyncError?

  package init(_ context: SyncContext, _ target: any SyncDownTarget) {
    self.context = context
    self.target = target
    now = context.store.clock()
  }

  package var stores: [Store] { [context.store] }
  package var isInitialLoad: Bool { phase == .initial }
  package var mayHoldOrphans: Bool { true }
  /// Whether finished pages are being appended to the file, so that its soups still seem empty.
  var isWritingPages: Bool { phase == .initial && context.store.isDisposable }

  package func makeWritable() {}

  /// Stores the parts of a page.
  ///
  /// Local changes are looked up for each page, since an app may have edited a record after the
  /// sync started.
  package func load(_ page: SyncPage, expected: (String) -> Int) throws(SyncError) -> Int {
    if let failure { throw failure }
    if phase == .undecided { try begin() }
    let leaves = context.options.mergeMode == .leaveIfChanged && phase == .pages
    let skip = leaves ? try target.idsToSkip(context) : [:]
    return try SyncError.inStore {
      let parts = page.parts.filter {
        $0.platform ?? context.store.platform == context.store.platform
      }
      if isWritingPages { return try append(parts) }
      return try context.store.transaction {
        try parts.reduce(0) {
          try $0 + store($1, skip: skip[$1.destination.soupName] ?? [])
        }
      }
    }
  }

  /// Appends the finished pages of a page's parts, which needs no transaction but can undo nothing.
  private func append(_ parts: [SyncPage.Part]) throws -> Int {
    for part in parts where loads[part.destination] == nil {
      loads[part.destination] = try makeLoader(part.destination, skip: [])
    }
    // No part is stored if another one is faulty.
    if parts.count > 1 {
      for part in parts { try loads[part.destination]?.check(part.bytes, in: part.container) }
    }
    return try parts.reduce(0) { try $0 + store($1, skip: []) }
  }

  private func store(_ part: SyncPage.Part, skip: Set<String>) throws -> Int {
    let place = part.destination
    let loader = try loads[place] ?? makeLoader(place, skip: settle(part, skip))
    let rest = try withoutCompleted(part)
    let result = try loader.load(
      rest?.page ?? part.bytes, in: rest == nil ? part.container : .array)
    if phase == .initial {
      loads[place] = loader
    } else if let counts = try loader.finish().destinations.first {
      context.report.written += counts.written
      context.report.unchanged += counts.unchanged
    }
    let completed = rest?.completed ?? 0
    context.report.fetched += result.records + completed
    context.report.unchanged += completed
    for case let date? in [result.latestModification, rest?.latestModification] {
      latestModification = max(latestModification ?? 0, Dates.milliseconds(iso8601: date) ?? 0)
    }
    return result.records + completed
  }

  /// Returns the part to write, without records of the overlap that a later sync completed; nil for
  /// the whole part.
  private func withoutCompleted(_ part: SyncPage.Part) throws -> CompletedRecords.Rest? {
    // A refresh deliberately fetches records that other syncs fetched.
    guard let seenUntil = context.seenUntil, !(target is RefreshTarget) else { return nil }
    let place = part.destination
    let ids =
      try laterSyncIDs[place.soupName]
      ?? SyncsSoup.states(in: context.store)
      .filter { $0.id > context.syncID && $0.fills(place.soupName) }.map(\.id)
    laterSyncIDs[place.soupName] = ids
    let completed = CompletedRecords(
      store: context.store, place: place, laterSyncIDs: ids, seenUntil: seenUntil)
    return try part.bytes.withUnsafeBytes { try completed.rest(of: $0, in: part.container) }
  }

  private func makeLoader(_ place: SyncDestination, skip: Set<String>) throws -> BulkLoader {
    guard try context.store.hasSoup(place.soupName) else {
      throw StoreError.unknownSoup(place.soupName)
    }
    var options = BulkLoader.Options(
      soup: place.soupName, specs: [], syncID: context.syncID, now: now)
    options.idPath = place.idPath
    options.modificationPath = place.modificationPath
    options.durability = isWritingPages ? .disposable : .durable
    return try BulkLoader(
      phase == .initial ? .cold : .incremental,
      destinations: [.init(context.store, skip: skip)], options: options)
  }

  // MARK: First load

  /// Starts a first load if all soups exist and are empty.
  private func begin() throws(SyncError) {
    phase = .pages
    let places = target.destinations(soupName: context.soupName)
    // Two loads into one soup would assign the same IDs.
    guard context.seenUntil == nil, !places.isEmpty,
      Set(places.map(\.soupName)).count == places.count
    else { return }
    for place in places where try !isEmpty(place.soupName) { return }
    if !context.store.isDisposable {
      try SyncError.inStore { try context.store.beginLongChange() }
    }
    phase = .initial
    context.isInitialLoad = true
  }

  private func isEmpty(_ soup: String) throws(SyncError) -> Bool {
    try SyncError.inStore {
      guard try context.store.hasSoup(soup) else { return false }
      return try context.store.isEmpty(soup)
    }
  }

  /// Commits a first load; further pages are committed one by one.
  func settle() {
    guard phase == .initial else { return }
    let isDisposable = context.store.isDisposable
    phase = .pages
    context.isInitialLoad = false
    do throws(StoreError) {
      for loader in loads.values {
        guard let counts = try loader.finish().destinations.first else { continue }
        context.report.written += counts.written - counts.doubles
      }
      if !isDisposable { try context.store.commitLongChange() }
    } catch {
      isDisposable ? context.store.spoil() : context.store.undoLongChange()
      failure = SyncError(store: error)
    }
    loads = [:]
  }

  package func finish() throws(SyncError) {
    settle()
    if let failure { throw failure }
  }

  package func end(after error: SyncError) -> Bool {
    settle()
    return failure == nil
  }

  // MARK: Local changes

  /// Records what happens to the local changes of a part's records; returns which records to skip.
  private func settle(_ part: SyncPage.Part, _ skip: Set<String>) throws -> Set<String> {
    if phase == .initial { return [] }
    let soup = part.destination.soupName
    if context.options.mergeMode == .leaveIfChanged {
      for record in try records(of: part, in: skip) {
        Self.note(record.id, in: &context.report.skipped[soup, default: []])
      }
      return skip
    }
    let dirty = try SoupReader(store: context.store, soup: soup)
      .dirtyIDs(idPath: part.destination.idPath)
    var kept: Set<String> = []
    for record in try records(of: part, in: dirty) {
      if try isKnown(record, part.destination) {
        kept.insert(record.id)
      } else {
        Self.note(record.id, in: &context.report.overwritten[soup, default: []])
      }
    }
    return kept
  }

  private static func note(_ id: String, in ids: inout [String]) {
    if !ids.contains(id) { ids.append(id) }
  }

  /// Whether the overlap returns exactly the version that was changed locally.
  ///
  /// Without the overlap, the org would not have sent it, so it overwrites nothing.
  private func isKnown(_ record: Record, _ place: SyncDestination) throws -> Bool {
    guard context.settings.deduplicates, context.seenUntil != nil,
      let date = record.date.flatMap({ Dates.milliseconds(iso8601: $0) })
    else {
      return false
    }
    return try context.store.elements(in: place.soupName, where: place.idPath, is: record.id)
      .contains { element in
        JSONProjection.project(place.modificationPath, from: element)?.string
          .flatMap { Dates.milliseconds(iso8601: $0) } == date
      }
  }

  /// The relevant members of a record on a page.
  private struct Record {
    let id: String
    let date: String?
  }

  /// Returns the records of a part whose IDs are among these.
  private func records(of part: SyncPage.Part, in ids: Set<String>) throws -> [Record] {
    guard !ids.isEmpty else { return [] }
    let scanner = RecordScanner(
      paths: [part.destination.idPath, part.destination.modificationPath])
    var found: [Record] = []
    try part.bytes.withUnsafeBytes { bytes in
      _ = try scanner.scan(bytes, in: part.container) { _, _, fields in
        let id = try context.store.text(
          ofID: fields[0], in: bytes, soup: part.destination.soupName,
          path: part.destination.idPath)
        if let id, ids.contains(id) {
          found.append(Record(id: id, date: fields[1].text(in: bytes)))
        }
      }
    }
    return found
  }
}
