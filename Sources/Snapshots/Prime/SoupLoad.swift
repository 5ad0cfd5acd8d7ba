import JSON
import MobileSync
import SmartStore

/// Loads one sync's records into one soup of all platforms' stores.
///
/// While nothing differs from the previous stores, nothing is written: each page is compared first,
/// and the first difference copies the stores.
final class SoupLoad {
  private let files: StoreFiles
  private let options: BulkLoader.Options
  private let mergeMode: MergeMode
  /// The later syncs that fill the same soup: a record belongs to the last sync that fetches it.
  private let laterSyncIDs: [Int64]
  /// The only platform whose stores are loaded; nil for all.
  var platform: Platform?
  /// Returns the IDs that LEAVE_IF_CHANGED must not replace in a store; nil for those of the soup's
  /// dirty elements.
  var reader: ((Store) throws(SyncError) -> Set<String>)?
  private var loader: BulkLoader?
  /// The IDs that a comparison ignores; the same on every platform.
  private var skip: Set<String>?
  /// The outcome so far.
  private(set) var count: SoupCount
  /// The greatest modification date of all pages.
  private(set) var latestModification: String?

  /// Prepares the load; `count` names the store, the sync and the soup.
  init(
    _ files: StoreFiles, options: BulkLoader.Options, mergeMode: MergeMode,
    laterSyncIDs: [Int64], count: SoupCount
  ) {
    self.files = files
    self.options = options
    self.mergeMode = mergeMode
    self.laterSyncIDs = laterSyncIDs
    self.count = count
  }

  /// Loads a page; returns the number of its records.
  func load(_ page: [UInt8], in container: RecordScanner.Container) throws(SyncError) -> Int {
    let records = try loadRecords(page, container)
    count.fetched += records
    return records
  }

  private func loadRecords(
    _ page: [UInt8], _ container: RecordScanner.Container
  ) throws(SyncError) -> Int {
    if loader == nil, !files.isWritable {
      let changes = try SyncError.inStore {
        try page.withUnsafeBytes { try compare($0, container) }
      }
      if changes.isEmpty {
        count.unchanged += changes.records
        advance(to: changes.latestModification)
        return changes.records
      }
      try files.makeWritable()
    }
    if loader == nil { loader = try makeLoader() }
    guard let loader else { return 0 }
    let others = try SyncError.inStore {
      try page.withUnsafeBytes { try withoutCompleted($0, container) }
    }
    let result = try SyncError.inStore {
      try loader.load(others?.page ?? page, in: others == nil ? container : .array)
    }
    advance(to: result.latestModification)
    guard let others else { return result.records }
    advance(to: others.latestModification)
    count.unchanged += others.completed
    return result.records + others.completed
  }

  private func compare(
    _ page: UnsafeRawBufferPointer, _ container: RecordScanner.Container
  ) throws(SyncError) -> BulkLoader.PageChanges {
    guard let store = stores.first else {
      throw SyncError(.store, "no store is open to compare with")
    }
    if skip == nil { skip = try idsToSkip(in: store) }
    let skip = self.skip ?? []
    var options = self.options
    func changes() throws(SyncError) -> BulkLoader.PageChanges {
      try SyncError.inStore {
        try BulkLoader.changes(in: page, container, against: store, options: options, skip: skip)
      }
    }
    var result = try changes()
    let places = Dictionary(uniqueKeysWithValues: zip(result.changed, result.ranges))
    // Records that a later sync fetched, and will fetch again, are not changes of this one.
    for later in laterSyncIDs where !result.isEmpty {
      options.syncID = later
      let others = Set(try changes().changed)
      result.changed = result.changed.filter(others.contains)
    }
    guard !laterSyncIDs.isEmpty else { return result }
    var changed: [Int] = []
    for position in result.changed {
      guard let place = places[position] else { continue }
      let record = UnsafeRawBufferPointer(rebasing: page[place])
      if try completed(in: store).date(of: record) == nil { changed.append(position) }
    }
    result.changed = changed
    return result
  }

  private func completed(in store: Store) -> CompletedRecords {
    CompletedRecords(
      store: store,
      place: SyncDestination(
        soupName: options.soup, idPath: options.idPath, modificationPath: options.modificationPath),
      laterSyncIDs: laterSyncIDs)
  }

  private func withoutCompleted(
    _ page: UnsafeRawBufferPointer, _ container: RecordScanner.Container
  ) throws(SyncError) -> CompletedRecords.Rest? {
    guard !files.isInitialLoad, let store = stores.first else { return nil }
    return try completed(in: store).rest(of: page, in: container)
  }

  private func makeLoader() throws(SyncError) -> BulkLoader {
    var destinations: [BulkLoader.Destination] = []
    for store in stores {
      destinations.append(BulkLoader.Destination(store, skip: try idsToSkip(in: store)))
    }
    let options = self.options
    let mode: BulkLoader.Mode = files.isInitialLoad ? .cold : .incremental
    return try SyncError.inStore {
      try BulkLoader(mode, destinations: destinations, options: options)
    }
  }

  private var stores: [Store] {
    files.stores.filter { platform == nil || $0.platform == platform }
  }

  /// LEAVE_IF_CHANGED keeps changes of a device; OVERWRITE discards them.
  private func idsToSkip(in store: Store) throws(SyncError) -> Set<String> {
    guard mergeMode == .leaveIfChanged, !files.isInitialLoad else { return [] }
    if let reader { return try reader(store) }
    return try SoupReader(store: store, soup: options.soup).dirtyIDs(idPath: options.idPath)
  }

  private func advance(to date: String?) {
    guard let date, date > latestModification ?? "" else { return }
    latestModification = date
  }

  func finish() throws(SyncError) {
    guard let loader else { return }
    let summary = try SyncError.inStore { try loader.finish() }
    self.loader = nil
    guard let first = summary.destinations.first else { return }
    count.written += first.written
    count.unchanged += first.unchanged
    count.skipped += first.skipped
    count.doubles += first.doubles
  }
}
