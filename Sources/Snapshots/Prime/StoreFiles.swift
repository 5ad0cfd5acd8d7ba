import JSON
import MobileSync
import SmartStore
import System

/// The files of a store during a prime, one per platform.
///
/// A first prime writes new files from the start. An incremental one reads the previous files, and
/// copies those of all platforms at the first change. New files have temporary names until
/// everything is done, so an interrupted prime leaves only temporary files. They are synced to disk
/// once, before they get their names.
final class StoreFiles {
  private struct Item: Sendable {
    let platform: Platform
    let file: PrimeFile
    var temporary: String { file.new + ".partial" }

    /// Copies the previous store.
    func copy() throws(SystemError) {
      guard let previous = file.previous else { return }
      try StoreFiles.makeDirectory(of: temporary)
      if Files.exists(temporary) { try Files.remove(temporary) }
      try Files.copy(previous, to: temporary, forgettingSource: true)
    }
  }

  private let store: PrimeStore
  private let items: [Item]
  private let now: Int64
  /// The stores to read from: the previous ones, or those being written.
  private(set) var stores: [Store] = []
  /// Whether the stores are new or copies, which may be written.
  private(set) var isWritable = false
  /// Whether there are no previous stores to start from.
  private(set) var isInitialLoad = false
  /// The syncs of the store by name; every element contains the ID of its sync.
  private(set) var states: [String: SyncState] = [:]

  /// Opens the previous stores, or creates new ones if the previous ones cannot be used.
  init(_ store: PrimeStore, now: Int64, initial: [SyncState]) throws(SyncError) {
    self.store = store
    self.now = now
    items = store.files.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { Item(platform: $0.key, file: $0.value) }
    guard !items.isEmpty else {
      throw SyncError(.definition, "the store \"\(store.storeName)\" has no file to write")
    }
    do throws(SyncError) {
      if try openPrevious(initial) { return }
      try create(initial)
    } catch {
      discard()
      if isWritable { removeTemporaries() }
      throw error
    }
  }

  /// Opens the previous files; returns whether every one has the soups and syncs of the
  /// configuration.
  private func openPrevious(_ initial: [SyncState]) throws(SyncError) -> Bool {
    for item in items {
      guard let previous = item.file.previous, Files.exists(previous) else {
        discard()
        return false
      }
      let opened = try SyncError.inStore { try Store(opening: previous, readOnly: true) }
      stores.append(opened)
      let states = try SyncsSoup.states(in: opened)
      let isSame =
        states.map(\.name) == initial.map(\.name) && states.map(\.type) == initial.map(\.type)
      guard isSame, try hasSoups(opened) else {
        discard()
        return false
      }
      self.states = Self.byName(states)
    }
    return true
  }

  private func hasSoups(_ opened: Store) throws(SyncError) -> Bool {
    try SyncError.inStore {
      for soup in store.config.soups {
        guard try opened.hasSoup(soup.soupName),
          try opened.indexSpecs(of: soup.soupName) == soup.indexes
        else { return false }
      }
      return true
    }
  }

  private func create(_ initial: [SyncState]) throws(SyncError) {
    isInitialLoad = true
    isWritable = true
    for item in items {
      try Self.onDisk { () throws(SystemError) in
        try Self.makeDirectory(of: item.temporary)
        for suffix in ["", "-journal", "-wal"] where Files.exists(item.temporary + suffix) {
          try Files.remove(item.temporary + suffix)
        }
      }
      let opened = try SyncError.inStore {
        let opened = try Store(disposable: item.temporary, platform: item.platform)
        for soup in store.config.soups {
          try opened.registerSoup(soup.soupName, indexSpecs: soup.indexes)
        }
        return opened
      }
      stores.append(opened)
      opened.clock = { [now] in now }
      try SyncsSoup.register(in: opened)
      var states: [SyncState] = []
      for state in initial { states.append(try SyncsSoup.save(state, in: opened)) }
      self.states = Self.byName(states)
    }
  }

  /// Copies the previous stores, once, so that they can be changed.
  func makeWritable() throws(SyncError) {
    guard !isWritable else { return }
    discard()
    isWritable = true
    let items = self.items.filter { $0.file.previous != nil }
    do {
      _ = try Parallel.map(items.count) { try items[$0].copy() }
    } catch {
      throw SyncError(store: error)
    }
    for item in items {
      let opened = try SyncError.inStore { try Store(disposableCopy: item.temporary) }
      opened.clock = { [now] in now }
      stores.append(opened)
    }
  }

  /// A store's directory is created with its first file; without changes, none is created.
  private static func makeDirectory(of path: String) throws(SystemError) {
    guard let directory = Files.parent(of: path), !Files.isDirectory(directory) else { return }
    try Files.makeDirectory(directory)
  }

  func save(_ state: SyncState) throws(SyncError) {
    guard let name = state.name else { return }
    for store in stores { _ = try SyncsSoup.save(state, in: store) }
    states[name] = state
  }

  /// Closes the stores and gives the files their names; `finish` is the last to write to each.
  func publish(_ finish: (Store, Platform) throws -> Void) throws(SyncError) {
    for (store, item) in zip(stores, items) {
      try Self.naming(item) {
        try finish(store, item.platform)
        try store.checkpoint()
        try store.close()
      }
    }
    // All files are written to disk at once, and then awaited one after another.
    for item in items { DurableFile.beginWriteback(of: item.temporary) }
    for item in items {
      try Self.naming(item) { try DurableFile.rename(item.temporary, to: item.file.new) }
    }
    stores = []
  }

  private static func naming(_ item: Item, _ body: () throws -> Void) throws(SyncError) {
    do {
      try body()
    } catch let error as SyncError {
      throw error
    } catch {
      let cause: any Error =
        switch error {
        case SnapshotError.system(let error): error
        case SnapshotError.store(let error): error
        default: error
        }
      throw SyncError(store: cause, at: item.file.new)
    }
  }

  /// Closes the stores; written files are left for `removeTemporaries`.
  func discard() {
    // These files are discarded, so an error while closing them does not matter.
    for store in stores { try? store.close() }
    stores = []
  }

  /// Removes the temporary files of a failed prime.
  func removeTemporaries() {
    for item in items {
      for suffix in ["", "-journal"] { try? Files.remove(item.temporary + suffix) }
    }
  }

  private static func byName(_ states: [SyncState]) -> [String: SyncState] {
    var result: [String: SyncState] = [:]
    for state in states { if let name = state.name { result[name] = state } }
    return result
  }

  private static func onDisk(_ body: () throws(SystemError) -> Void) throws(SyncError) {
    do throws(SystemError) { try body() } catch {
      throw SyncError(store: error)
    }
  }
}
