import Arguments
import MobileSync
import Pipelines
import SmartStore
import System

/// The store file of a `sync` command, locked so that no other process syncs it meanwhile.
struct SyncStore: ~Copyable {
  let path: String
  /// Whether this command creates the file.
  let isNew: Bool
  private let lock: FileLock

  /// Locks the file.
  ///
  /// If it does not exist, `mayCreate` determines whether it is created.
  init(_ path: String, mayCreate: Bool) throws {
    let isNew = !Files.exists(path)
    if isNew, !mayCreate {
      throw UsageError(
        "there is no file \(path)",
        hint: "correct the name, or give --store-config FILE and --platform to create a store")
    }
    if !isNew { try Self.checkReadable(path) }
    do throws(LockError) {
      // A separate lock file would stay next to the store forever.
      lock = try FileLock(path, note: nil)
    } catch {
      guard case .held(let holder) = error else {
        throw PipelineError(.failed, "disk", "\(error)")
      }
      throw PipelineError(
        .locked, "sync.locked", "another process is syncing \(path)",
        reason: "the file is locked by \(holder)",
        fix: "wait until it has finished, and run it again")
    }
    self.path = path
    self.isNew = isNew
  }

  /// Opens the store, or creates it in the platform's layout.
  borrowing func open(_ platform: Platform?) throws -> sending Store {
    guard isNew else {
      let store = try Store(opening: path)
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
    return try Store(creating: path, platform: platform)
  }

  /// Removes the new file if nothing was written to it.
  borrowing func discardIfEmpty() {
    if isNew, let size = try? Files.size(of: path), size == 0 { try? Files.remove(path) }
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
