import Arguments
import MobileSync
import Pipelines
import SmartStore
import System

/// The store file of a `sync` command, locked so that no other process syncs it meanwhile.
///
/// A missing store is created in a file with another name, which is renamed when the syncs have
/// ended. If the process is killed, there is no store, and the next run removes the file.
struct SyncStore: ~Copyable {
  let path: String
  /// Whether this command creates the store.
  let isNew: Bool
  private let lock: FileLock
  /// The file of a new store until it is complete.
  private var unfinished: String { Self.unfinished(path) }

  /// Locks the file.
  ///
  /// If it does not exist, `mayCreate` determines whether it is created.
  init(_ path: String, mayCreate: Bool) throws {
    if !mayCreate, !Files.exists(path) {
      throw UsageError(
        "there is no file \(path)",
        hint: "correct the name, or give --store-config FILE and --platform to create a store")
    }
    let new = try Files.exists(path) ? nil : Self.newFile(path)
    if new == nil { try Self.checkReadable(path) }
    // A separate lock file would stay next to the store forever.
    lock = try new ?? Self.lock(path, of: path)
    self.path = path
    isNew = new != nil
  }

  private static func unfinished(_ path: String) -> String { path + ".partial" }

  /// Locks the file of a new store; nil if another process has created the store in the meantime.
  ///
  /// The file stays locked when it is renamed.
  private static func newFile(_ path: String) throws -> FileLock? {
    let file = unfinished(path)
    var lock = try lock(file, of: path)
    if Files.exists(path) {
      try Files.remove(file)
      return nil
    }
    // What a killed run left cannot be continued.
    if try Files.size(of: file) > 0 {
      try remove(file)
      lock.close()
      lock = try Self.lock(file, of: path)
    }
    return lock
  }

  private static func lock(_ file: String, of path: String) throws -> FileLock {
    do throws(LockError) {
      return try FileLock(file, note: nil)
    } catch {
      guard case .held(let holder) = error else {
        throw PipelineError(.failed, "disk", "\(error)")
      }
      throw PipelineError(
        .locked, "sync.locked", "another process is syncing \(path)",
        reason: "the file is locked by \(holder)",
        fix: "wait until it has finished, and run it again")
    }
  }

  private static func remove(_ file: String) throws(SystemError) {
    for suffix in ["-journal", "-wal", "-shm", ""] { try Files.remove(file + suffix) }
  }

  /// Opens the store, or creates it in the platform's layout.
  borrowing func open(_ platform: Platform?) throws -> sending Store {
    guard isNew else {
      let store = try Store(edited: path)
      if let platform, platform != store.platform {
        throw UsageError(
          "\(path) has the layout of \(store.platform.rawValue), not of \(platform.rawValue)",
          hint: "remove --platform, which is only for a new store")
      }
      return store
    }
    guard let platform else {
      throw UsageError(
        "a new store needs a platform", hint: "give --platform ios or --platform android")
    }
    return try Store(disposable: unfinished, platform: platform)
  }

  /// Gives a new store its name after all its content is on disk.
  borrowing func publish() throws {
    guard isNew else { return }
    do throws(SystemError) {
      if !Files.exists(path) {
        // SQLite would apply what a removed store left to the new one.
        for suffix in ["-journal", "-wal", "-shm"] { try Files.remove(path + suffix) }
      }
      try DurableFile.move(unfinished, toNew: path)
    } catch {
      guard Files.exists(path) else { throw PipelineError(.failed, "disk", "\(error)") }
      throw PipelineError(
        .locked, "sync.locked", "another program created \(path) while the syncs ran",
        reason: "the new store was discarded", fix: "run it again")
    }
  }

  /// Removes the file of a new store that was not published.
  borrowing func discardUnfinished() {
    // The next run removes a file that cannot be removed now.
    if isNew { try? Self.remove(unfinished) }
  }

  /// Throws with the reason if a file cannot be read, as far as that shows before it is opened.
  static func checkReadable(_ path: String) throws {
    guard try SQLCipherFile.mayBeSealed(path) else { return }
    throw PipelineError(
      .configuration, "sync.sealed",
      "\(path) is sealed or not a store: it cannot be synced as it is",
      fix: "sync a plain copy, and seal it again afterwards: attache store unseal "
        + "\(ShellWord.quoted(path)) --out PLAIN --passphrase-file KEY")
  }

  /// Returns the syncs of a store, opened read-only.
  static func syncs(in path: String, _ program: Program) throws -> [SyncState] {
    let path = try program.existing(path)
    try checkReadable(path)
    let store = try Store(opening: path, readOnly: true)
    let states = try SyncsSoup.states(in: store)
    try store.close()
    return states
  }

  /// Removes syncs.
  static func forget(_ ids: [Int64], in store: Store) throws {
    try store.transaction {
      for id in ids { try SyncsSoup.remove(id: id, from: store) }
    }
  }

  /// The error for an unknown sync.
  static func unknown(_ name: String, _ states: [SyncState], _ command: String) -> UsageError {
    let names = states.compactMap(\.name)
    return UsageError(
      "there is no sync \"\(name)\" in the store",
      hint: names.isEmpty ? "it has none" : "it has " + names.joined(separator: ", "),
      command: command)
  }
}
