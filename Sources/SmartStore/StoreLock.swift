import System

/// The lock on the file `PATH.lock` next to a store, which all who share the store acquire.
struct StoreLock: Sendable {
  /// The path of the store.
  let path: String
  /// The time limit for acquiring the lock, in seconds.
  let waitSeconds: Int

  /// Acquires the lock as soon as it is free: shared for reading, exclusive for writing.
  ///
  /// - Throws: `StoreError.inUse` if another process holds it for longer than the time limit.
  func take(exclusive: Bool) throws(StoreError) -> FileLock {
    let file = path + ".lock"
    do throws(LockError) {
      return try FileLock.waiting(
        file, exclusive: exclusive, note: exclusive ? "" : nil, seconds: waitSeconds)
    } catch {
      guard case .held = error else { throw .lock(path: path, reason: error.description) }
      throw .inUse(path: path, by: FileLock.holder(file), seconds: waitSeconds)
    }
  }
}

extension Store {
  /// Opens a store, or creates it if it is missing and its platform is given, while no other
  /// process that shares it is using it.
  package static func shared(
    _ path: String, creating platform: Platform?, waitSeconds: Int
  ) throws(StoreError) -> Store {
    let taken = try StoreLock(path: path, waitSeconds: waitSeconds).take(exclusive: true)
    defer { taken.close() }
    guard let platform, !Files.exists(path) else { return try Store(opening: path) }
    return try Store(creating: path, platform: platform)
  }

  /// Makes each change of the store acquire the lock that every `StoreQueue` of any process
  /// acquires.
  package func share(waitSeconds: Int) throws(StoreError) {
    lock = StoreLock(path: path, waitSeconds: waitSeconds)
    _ = try noticeOthers()
  }

  /// Whether others have changed the file since the last call; cached soups are discarded then.
  func noticeOthers() throws(StoreError) -> Bool {
    let now = try StoreError.mapping { try connection.integer("PRAGMA data_version") ?? 0 }
    defer { version = now }
    guard let version, version != now else { return false }
    forgetSoups()
    return true
  }

  /// Acquires the lock of a shared store for one change, and notices the changes of others first.
  func takeLock() throws(StoreError) -> FileLock? {
    guard let lock = try lock?.take(exclusive: true) else { return nil }
    _ = try noticeOthers()
    return lock
  }
}
