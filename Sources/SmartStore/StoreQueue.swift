import System

/// A store that several tasks share, while other processes may use the same file.
///
/// Each piece of work runs on the queue's thread, in the order of the calls, so that no task of the
/// cooperative pool waits for the disk. It runs under a lock on the file `PATH.lock` next to the
/// store: shared for `read`, exclusive for `write`. Every `StoreQueue` of any process acquires the
/// lock; SDK apps do not know it.
///
/// ```swift
/// let queue = try StoreQueue(path, creating: .ios)
/// try await queue.write { store in _ = try store.register(config) }
/// try await queue.write { store in
///   _ = try store.upsert(Account(Id: "001A", Name: "Acme"), into: "accounts")
/// }
/// let all = QuerySpec(soupName: "accounts", .all, pageSize: 100)
/// let accounts = try await queue.read { store in try store.query(Account.self, all) }
/// ```
public actor StoreQueue {
  private nonisolated let thread: ActorThread
  /// The executor of the queue: a dedicated thread, because a store blocks.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// The path of the store.
  public nonisolated let path: String
  /// The time limit for waiting for another process, in seconds.
  public nonisolated let waitSeconds: Int
  private let lock: StoreLock
  private let store: Store
  /// A second connection to the store, for reading only.
  private let reader: Store
  private var isClosed = false
  private var observers: [Int: (soup: String, continuation: AsyncStream<SoupChange>.Continuation)] =
    [:]
  private var lastObserver = 0

  /// The default time limit for waiting for another process, in seconds.
  public static let defaultWaitSeconds = 10

  /// Opens a store; a missing one is created if its platform is given.
  ///
  /// - Throws: `StoreError.inUse` if another process writes it for longer than `waitSeconds`.
  public init(
    _ path: String, creating platform: Platform? = nil, waitSeconds: Int = defaultWaitSeconds
  )
    throws(StoreError)
  {
    self.path = path
    self.waitSeconds = waitSeconds
    lock = StoreLock(path: path, waitSeconds: waitSeconds)
    store = try Store.shared(path, creating: platform, waitSeconds: waitSeconds)
    reader = try Store(opening: path, readOnly: true)
    _ = try store.noticeOthers()
    thread = ActorThread(name: "store")
  }

  /// Reads the store; several processes may do so at once.
  ///
  /// Writes in `body` fail.
  public func read<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws -> T {
    try perform(exclusive: false) {
      _ = try reader.noticeOthers()
      return try body(reader)
    }
  }

  /// Changes the store.
  ///
  /// The changes of `body` are committed when it returns, and rolled back when it throws.
  public func write<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws -> T {
    try perform(exclusive: true) {
      store.changedSoups = []
      let result = try store.transaction { try body(store) }
      for soup in store.changedSoups { publish(SoupChange(soup: soup, isFromElsewhere: false)) }
      return result
    }
  }

  /// The changes of a soup from now on: one element for each `write` that affected it, and one when
  /// the queue notices, at its next work, that another process wrote to the file.
  ///
  /// The stream ends when the queue is closed. A slow reader gets only the latest change.
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

  /// Closes the store; waiting work is rejected.
  public func close() throws(StoreError) {
    if isClosed { return }
    let taken = try lock.take(exclusive: true)
    defer { taken.close() }
    isClosed = true
    for observer in observers.values { observer.continuation.finish() }
    observers = [:]
    try reader.close()
    try store.close()
  }

  // MARK: single pieces of work

  private func perform<T>(exclusive: Bool, _ body: () throws -> T) throws -> T {
    if isClosed { throw StoreError.closed(path: path) }
    let taken = try lock.take(exclusive: exclusive)
    defer { taken.close() }
    if try store.noticeOthers() {
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
}
