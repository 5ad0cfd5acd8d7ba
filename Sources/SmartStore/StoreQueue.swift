import System

/// A store that several tasks share, while other processes may use the same file.
///
/// Work runs on a thread of the queue's own, one piece after another in the order of the calls, so no
/// task of the cooperative pool waits for the disk. Each piece is done under a lock on the file
/// `PATH.lock` beside the store: shared for `read`, exclusive for `write`. Every `StoreQueue` of every
/// process takes it; SDK apps do not know it.
///
/// ```swift
/// struct Account: Codable { var Id: String; var Name: String }
///
/// let queue = try StoreQueue(path)
/// try await queue.write { store in try store.upsert(Account(Id: "001A", Name: "Acme"), into: "accounts") }
/// let all = QuerySpec(soupName: "accounts", .all, pageSize: 100)
/// let accounts = try await queue.read { store in try store.query(Account.self, all) }
/// ```
public actor StoreQueue {
  private nonisolated let thread: ActorThread
  /// Where the queue runs: a thread of its own, because a store blocks.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// The store's path.
  public nonisolated let path: String
  /// How long a piece of work waits for another process, in seconds.
  public nonisolated let waitSeconds: Int
  private let store: Store
  private var isClosed = false
  /// What SQLite says of the file when somebody else has changed it: another number.
  private var version: Int64
  private var observers: [Int: (soup: String, continuation: AsyncStream<SoupChange>.Continuation)] =
    [:]
  private var lastObserver = 0

  /// Opens a store; one that is not there is made, if its platform is given.
  ///
  /// - Throws: `StoreError.inUse` when another process writes it for longer than `waitSeconds`.
  public init(_ path: String, creating platform: Platform? = nil, waitSeconds: Int = 10)
    throws(StoreError)
  {
    self.path = path
    self.waitSeconds = waitSeconds
    let lock = try Self.lock(path, exclusive: true, waitSeconds: waitSeconds)
    defer { lock.close() }
    if let platform, !Files.exists(path) {
      store = try Store(creating: path, platform: platform)
    } else {
      store = try Store(opening: path)
    }
    version = try Self.version(of: store)
    thread = ActorThread(name: "store")
  }

  /// Reads the store; several processes may do so at once.
  ///
  /// What `body` writes all the same is undone.
  public func read<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws -> T {
    try perform(exclusive: false) {
      try store.connection.execute("PRAGMA query_only = ON")
      defer { try? store.connection.execute("PRAGMA query_only = OFF") }
      return try body(store)
    }
  }

  /// Changes the store: what `body` does is kept when it returns, and undone when it throws.
  public func write<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws -> T {
    try perform(exclusive: true) {
      store.changedSoups = []
      let result = try store.transaction { try body(store) }
      for soup in store.changedSoups { publish(SoupChange(soup: soup, isFromElsewhere: false)) }
      return result
    }
  }

  /// The changes of a soup from now on: one element for each `write` that touched it, and one when the
  /// queue, at its next work, finds that another process wrote to the file.
  ///
  /// It ends when the queue is closed. Whoever is slow gets the latest change only.
  public func changes(of soup: String) -> AsyncStream<SoupChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SoupChange.self, bufferingPolicy: .bufferingNewest(1))
    if isClosed {
      continuation.finish()
      return stream
    }
    lastObserver += 1
    let number = lastObserver
    observers[number] = (soup, continuation)
    continuation.onTermination = { [weak self] _ in
      Task { [weak self] in await self?.forget(observer: number) }
    }
    return stream
  }

  /// Closes the store; what waits is refused.
  public func close() throws(StoreError) {
    if isClosed { return }
    let lock = try Self.lock(path, exclusive: true, waitSeconds: waitSeconds)
    defer { lock.close() }
    isClosed = true
    for observer in observers.values { observer.continuation.finish() }
    observers = [:]
    try store.close()
  }

  // MARK: one piece of work

  private func perform<T>(exclusive: Bool, _ body: () throws -> T) throws -> T {
    if isClosed { throw StoreError.closed(path: path) }
    let lock = try Self.lock(path, exclusive: exclusive, waitSeconds: waitSeconds)
    defer { lock.close() }
    let now = try Self.version(of: store)
    if now != version {
      version = now
      store.forgetSoups()
      for soup in Set(observers.values.map(\.soup)) {
        publish(SoupChange(soup: soup, isFromElsewhere: true))
      }
    }
    return try body()
  }

  private func publish(_ change: SoupChange) {
    for observer in observers.values where observer.soup == change.soup {
      observer.continuation.yield(change)
    }
  }

  private func forget(observer number: Int) { observers[number] = nil }

  private static func version(of store: Store) throws(StoreError) -> Int64 {
    try StoreError.mapping { try store.connection.integer("PRAGMA data_version") ?? 0 }
  }

  /// The lock of a store, as soon as it is free.
  private static func lock(
    _ path: String, exclusive: Bool, waitSeconds: Int
  ) throws(StoreError) -> FileLock {
    let deadline = Clock.monotonicNanoseconds() + UInt64(max(0, waitSeconds)) * 1_000_000_000
    var pause: UInt32 = 500
    while true {
      do throws(LockError) {
        return try FileLock(path + ".lock", exclusive: exclusive, note: exclusive ? "" : nil)
      } catch {
        guard case .held = error else {
          throw .lock(path: path, reason: error.description)
        }
        guard Clock.monotonicNanoseconds() < deadline else {
          // Only whoever writes leaves a note; what keeps a writer out may be readers.
          let holder = exclusive ? "another process" : FileLock.holder(path + ".lock")
          throw .inUse(path: path, by: holder, seconds: waitSeconds)
        }
        Clock.pause(microseconds: pause)
        pause = min(pause * 2, 50_000)
      }
    }
  }
}
