import JSON
import SmartStore
import System

/// The pages of one sync down on their way into the soups of one store.
final class SyncDownLoad {
  private let context: SyncContext
  private let isFull: Bool
  /// The time that the run's elements bear.
  private let now: Int64
  /// The greatest modification date of all pages, in milliseconds.
  private var latest: Int64?

  /// A load; `isFull` says that the run does not only ask for what changed.
  init(_ context: SyncContext, isFull: Bool) {
    self.context = context
    self.isFull = isFull
    now = context.store.clock()
  }

  /// The cursor after what was loaded: never lower than before, and less by the overlap.
  func cursor(after cursor: Int64) -> Int64 {
    guard let latest, latest > 0 else { return cursor }
    return max(cursor, max(1, latest - Int64(context.settings.overlapSeconds) * 1000))
  }

  /// Stores the parts of a page, all or none, and answers how many records they held.
  ///
  /// What is changed locally is looked up here, for each page: an app may have edited a record
  /// since the sync began.
  func store(_ page: SyncPage, from target: any SyncDownTarget) throws(SyncError) -> Int {
    let skip =
      context.options.mergeMode == .leaveIfChanged ? try target.idsToSkip(context) : [:]
    do {
      return try context.store.transaction {
        var records = 0
        for part in page.parts
        where part.platform ?? context.store.platform == context.store.platform {
          records += try store(part, skip: skip[part.destination.soupName] ?? [])
        }
        return records
      }
    } catch let error as SyncError {
      throw error
    } catch let error as StoreError {
      throw SyncError(.store, error.description)
    } catch {
      throw SyncError(.store, "\(error)")
    }
  }

  private func store(_ part: SyncPage.Part, skip: Set<String>) throws -> Int {
    let place = part.destination
    guard try context.store.hasSoup(place.soupName) else {
      throw StoreError.unknownSoup(place.soupName)
    }
    var options = BulkLoader.Options(
      soup: place.soupName, specs: [], syncID: context.syncID, now: now)
    options.idPath = place.idPath
    options.modificationPath = place.modificationPath
    options.durability = .durable
    let loader = try BulkLoader(
      .incremental,
      destinations: [.init(context.store, skip: try settle(part, skip))], options: options)
    let result = try part.bytes.withUnsafeBytes { try loader.load($0, in: part.container) }
    _ = try loader.finish()
    context.report.fetched += result.records
    if let counts = result.destinations.first {
      context.report.written += counts.written
      context.report.unchanged += counts.unchanged
    }
    if let date = result.latestModification.flatMap({ Dates.milliseconds(iso8601: $0) }) {
      latest = max(latest ?? 0, date)
    }
    return result.records
  }

  // MARK: local changes

  /// Notes what happens to the local changes of a part's records; answers which records to leave.
  private func settle(_ part: SyncPage.Part, _ skip: Set<String>) throws -> Set<String> {
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

  /// Whether the overlap brings again the very record that was changed locally: without the
  /// overlap the org would not have sent it, so it overwrites nothing.
  private func isKnown(_ record: Record, _ place: SyncDestination) throws -> Bool {
    guard context.settings.deduplicates, !isFull,
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

  /// A record of a page by what matters here.
  private struct Record {
    let id: String
    let date: String?
  }

  /// The records of a part whose ids are among these.
  private func records(of part: SyncPage.Part, in ids: Set<String>) throws -> [Record] {
    guard !ids.isEmpty else { return [] }
    let scanner = RecordScanner(
      paths: [part.destination.idPath, part.destination.modificationPath])
    var found: [Record] = []
    try part.bytes.withUnsafeBytes { bytes in
      func text(_ span: JSONSpan) -> String? {
        guard span.kind == .string else { return nil }
        return String(decoding: bytes[span.range], as: UTF8.self)
      }
      _ = try scanner.scan(bytes, in: part.container) { _, _, fields in
        if let id = text(fields[0]), ids.contains(id) {
          found.append(Record(id: id, date: text(fields[1])))
        }
      }
    }
    return found
  }
}
