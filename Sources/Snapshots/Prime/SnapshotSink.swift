import MobileSync
import SmartStore
import System

/// The files of a snapshot's store, one per platform.
///
/// A page is parsed once and written to all.
///
/// While nothing differs from the files of the last prime, nothing is written (`SoupLoad`).
final class SnapshotSink: RecordSink {
  /// The key of a load: the elements of one soup, for one platform if platforms differ.
  private struct Key: Hashable {
    let place: SyncDestination
    let platform: Platform?
  }

  private let files: StoreFiles
  private let soups: [String]
  private let make: (SyncDestination, Platform?) throws(SyncError) -> SoupLoad
  private let progress: (SoupCount, Int, (SyncEvent.Progress) -> SyncEvent) -> Void
  private var loads: [(key: Key, load: SoupLoad)] = []

  /// Creates a sink that loads into the given soups.
  ///
  /// - Parameters:
  ///   - make: Creates a load when its first record arrives.
  ///   - progress: Called with the state of a soup and the number of records.
  init(
    _ files: StoreFiles, _ places: [SyncDestination],
    make: @escaping (SyncDestination, Platform?) throws(SyncError) -> SoupLoad,
    progress: @escaping (SoupCount, Int, (SyncEvent.Progress) -> SyncEvent) -> Void
  ) {
    self.files = files
    soups = places.map(\.soupName).reduce(into: []) { soups, soup in
      if !soups.contains(soup) { soups.append(soup) }
    }
    self.make = make
    self.progress = progress
  }

  var stores: [Store] { files.stores }
  var isInitialLoad: Bool { files.isInitialLoad }
  /// Only a prime writes into the files of a snapshot.
  var mayHoldOrphans: Bool { false }

  func makeWritable() throws(SyncError) { try files.makeWritable() }

  func load(
    _ page: SyncPage, expected: (_ soupName: String) -> Int
  ) throws(SyncError) -> Int {
    var records = 0
    var used: [Key] = []
    for part in page.parts {
      let key = Key(place: part.destination, platform: part.platform)
      used.append(key)
      let load = try load(of: key, expected: expected(key.place.soupName))
      records += try load.load(part.bytes, in: part.container)
      progress(load.count, expected(key.place.soupName), SyncEvent.progressed)
    }
    // Targets provide one soup after the other, or the same ones with each page.
    for (key, load) in loads where !used.contains(key) { try load.finish() }
    return records
  }

  private func load(of key: Key, expected: Int) throws(SyncError) -> SoupLoad {
    // Two loads into one soup would assign the same IDs, so one continues when the others have
    // ended.
    for (other, load) in loads
    where other != key && other.place.soupName == key.place.soupName
      && (other.platform == nil || key.platform == nil || other.platform == key.platform)
    {
      try load.finish()
    }
    if let known = loads.first(where: { $0.key == key }) { return known.load }
    let load = try make(key.place, key.platform)
    loads.append((key, load))
    progress(load.count, expected, SyncEvent.started)
    return load
  }

  func finish() throws(SyncError) {
    for (_, load) in loads { try load.finish() }
  }

  func end(after error: SyncError) -> Bool { false }

  var latestModification: Int64? {
    loads.compactMap { _, load in
      load.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }
    }.max()
  }

  /// The outcome of each soup; if platforms differ, the records of the first one count.
  func counts(of store: String, _ sync: String) -> [SoupCount] {
    let platform = loads.lazy.compactMap(\.key.platform).first
    return soups.map { soup in
      var sum = SoupCount(store: store, sync: sync, soup: soup)
      for (key, load) in loads where key.place.soupName == soup {
        if key.platform == nil || key.platform == platform { sum.add(load.count) }
      }
      return sum
    }
  }
}
