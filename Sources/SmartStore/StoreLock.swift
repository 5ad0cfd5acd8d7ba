import System

/// The lock on the file `PATH.lock` beside a store, which all take who share the store.
struct StoreLock: Sendable {
  /// The store's path.
  let path: String
  /// How long it is waited for, in seconds.
  let waitSeconds: Int

  /// Takes it as soon as it is free: shared to read, exclusive to write.
  ///
  /// - Throws: `StoreError.inUse` when somebody else holds it for longer.
  func take(exclusive: Bool) throws(StoreError) -> FileLock {
    let file = path + ".lock"
    do throws(LockError) {
      return try FileLock.waiting(
        file, exclusive: exclusive, note: exclusive ? "" : nil, seconds: waitSeconds)
    } catch {
      guard case .held = error else { throw .lock(path: path, reason: error.description) }
      // Only whoever writes leaves a note; what keeps a writer out may be readers.
      let holder = exclusive ? "another process" : FileLock.holder(file)
      throw .inUse(path: path, by: holder, seconds: waitSeconds)
    }
  }
}

extension Store {
  /// Opens a store, or makes it where it is missing and its platform is given, while nobody else who
  /// shares it has it in use.
  package static func shared(
    _ path: String, creating platform: Platform?, waitSeconds: Int
  ) throws(StoreError) -> Store {
    let taken = try StoreLock(path: path, waitSeconds: waitSeconds).take(exclusive: true)
    defer { taken.close() }
    guard let platform, !Files.exists(path) else { return try Store(opening: path) }
    return try Store(creating: path, platform: platform)
  }

  /// Has each change of the store take the lock that every `StoreQueue` takes, of whatever process.
  package func share(waitSeconds: Int) throws(StoreError) {
    lock = StoreLock(path: path, waitSeconds: waitSeconds)
    _ = try noticeOthers()
  }

  /// Whether somebody else has changed the file since this was asked last; what was read of soups is
  /// forgotten then.
  func noticeOthers() throws(StoreError) -> Bool {
    let now = try StoreError.mapping { try connection.integer("PRAGMA data_version") ?? 0 }
    defer { version = now }
    guard let version, version != now else { return false }
    forgetSoups()
    return true
  }

  /// The lock of a shared store for one change, which begins with what others have left.
  func takeLock() throws(StoreError) -> FileLock? {
    guard let lock = try lock?.take(exclusive: true) else { return nil }
    _ = try noticeOthers()
    return lock
  }
}
