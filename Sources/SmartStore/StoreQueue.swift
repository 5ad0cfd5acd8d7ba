import System

/// A store that several tasks share, while other processes may use the same file.
///
/// Work runs on a thread of the queue's own, one piece after another in the order of the calls, so no
/// task of the cooperative pool waits for the disk. Each piece is done under a lock on the file
/// `PATH.lock` beside the store: shared for `read`, exclusive for `write`. Every `StoreQueue` of every
/// process takes it; SDK apps do not know it.
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
  /// Where the queue runs: a thread of its own, because a store blocks.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// The store's path.
  public nonisolated let path: String
  /// How long a piece of work waits for another process, in seconds.
  public nonisolated let waitSeconds: Int
  private let lock: StoreLock
  private let store: Store
  /// The store once more, for reading alone.
  private let reader: Store
  private var isClosed = false
  private var observers: [Int: (soup: String, continuation: AsyncStream<SoupChange>.Continuation)] =
    [:]
  private var lastObserver = 0

  /// How long a change waits for another process, unless told otherwise.
  public static let defaultWaitSeconds = 10

  /// Opens a store; one that is not there is made, if its platform is given.
  ///
  /// - Throws: `StoreError.inUse` when another process writes it for longer than `waitSeconds`.
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
  /// What `body` would write is refused.
  public func read<T: Sendable>(_ body: @Sendable (Store) throws -> T) throws -> T {
    try perform(exclusive: false) {
      _ = try reader.noticeOthers()
      return try body(reader)
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
    let taken = try lock.take(exclusive: true)
    defer { taken.close() }
    isClosed = true
    for observer in observers.values { observer.continuation.finish() }
    observers = [:]
    try reader.close()
    try store.close()
  }

  // MARK: one piece of work

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
