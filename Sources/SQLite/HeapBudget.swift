import CSQLite
import Synchronization

/// The memory that SQLite may allocate on one thread while an untrusted file is open there.
///
/// SQLite has one heap limit per process. A malicious file could use it up, so that a connection on
/// another thread fails. Therefore each allocation is counted on the thread that opened the file,
/// up to the budget. SQLite's own limit is a second barrier for a connection that is used on
/// another thread; it is high enough that no one else reaches it first.
final class HeapBudget {
  private let account: HeapAccount
  private let bytes: Int

  /// Installs the counting allocator.
  ///
  /// Call it before the first use of SQLite; later calls have no effect.
  static func prepare() { _ = Allocator.shared }

  /// Creates a budget for the calling thread that lasts as long as the object.
  init(mebibytes: Int) {
    bytes = mebibytes << 20
    account = .ofThread()
    account.grant(bytes)
    Self.raiseCeiling(by: bytes + Self.slack)
  }

  deinit {
    account.open.subtract(1, ordering: .relaxed)
    Self.raiseCeiling(by: -(bytes + Self.slack))
  }

  // MARK: SQLite's own limit

  /// The memory reserved for all other users, per open budget.
  private static let slack = 64 << 20
  private static let granted = Atomic(0)

  private static func raiseCeiling(by bytes: Int) {
    var all = granted.add(bytes, ordering: .sequentiallyConsistent).newValue
    while true {
      sqlite3_hard_heap_limit64(all == 0 ? 0 : sqlite3_memory_used() + Int64(all))
      // Another thread may have changed the total meanwhile.
      let now = granted.load(ordering: .sequentiallyConsistent)
      if now == all { return }
      all = now
    }
  }
}

/// The memory that a thread has allocated through SQLite since its first open budget.
private final class HeapAccount {
  /// The number of open budgets.
  ///
  /// Another thread may release one.
  let open = Atomic(0)
  /// Used only by its own thread, as is `most`.
  private var used = 0
  private var most = 0

  /// The account of the calling thread; nil if it has none.
  @inline(__always)
  static var current: HeapAccount? {
    guard let place = Allocator.shared.place, let found = attache_thread_value(place) else {
      return nil
    }
    let account = Unmanaged<HeapAccount>.fromOpaque(found).takeUnretainedValue()
    return account.open.load(ordering: .relaxed) > 0 ? account : nil
  }

  /// The account of the calling thread, created if needed.
  ///
  /// If no thread-local slot is available, the account counts nothing.
  static func ofThread() -> HeapAccount {
    guard let place = Allocator.shared.place else { return HeapAccount() }
    if let found = attache_thread_value(place) {
      return Unmanaged<HeapAccount>.fromOpaque(found).takeUnretainedValue()
    }
    let account = HeapAccount()
    let kept = Unmanaged.passRetained(account)
    if attache_set_thread_value(place, kept.toOpaque()) != 0 { kept.release() }
    return account
  }

  func grant(_ bytes: Int) {
    if open.add(1, ordering: .relaxed).oldValue == 0 { (used, most) = (0, 0) }
    most = max(most, used + bytes)
  }

  func admits(_ bytes: Int) -> Bool { used + bytes <= most }

  func count(_ bytes: Int32) { used += Int(bytes) }
}

/// The memory allocator of SQLite.
// Function pointers are not Sendable by type. These are set once, before SQLite calls any, and only
// read afterwards.
private final class Allocator: @unchecked Sendable {
  static let shared = Allocator()

  /// The key of the thread-local slot for the account; nil if SQLite was already in use, or if no
  /// key is available.
  let place: UInt32?
  /// The allocator that SQLite uses by default.
  let plain: sqlite3_mem_methods

  private init() {
    var plain = sqlite3_mem_methods()
    var place: UInt32 = 0
    let isTold = attache_sqlite3_config_getmalloc(&plain) == SQLITE_OK
    self.plain = plain
    guard isTold, attache_make_thread_place(&place, endAccount) == 0 else {
      self.place = nil
      return
    }
    (plain.xMalloc, plain.xFree, plain.xRealloc) = (allocate, release, reallocate)
    self.place = attache_sqlite3_config_malloc(&plain) == SQLITE_OK ? place : nil
  }
}

// C callbacks at file scope, so that they are not isolated to an actor.
private func endAccount(_ account: UnsafeMutableRawPointer?) {
  if let account { Unmanaged<HeapAccount>.fromOpaque(account).release() }
}

private func allocate(_ bytes: Int32) -> UnsafeMutableRawPointer? {
  let plain = Allocator.shared.plain
  guard let account = HeapAccount.current else { return plain.xMalloc(bytes) }
  guard account.admits(Int(bytes)), let made = plain.xMalloc(bytes) else { return nil }
  account.count(plain.xSize(made))
  return made
}

private func release(_ memory: UnsafeMutableRawPointer?) {
  let plain = Allocator.shared.plain
  if let memory, let account = HeapAccount.current { account.count(-plain.xSize(memory)) }
  plain.xFree(memory)
}

private func reallocate(
  _ memory: UnsafeMutableRawPointer?, _ bytes: Int32
) -> UnsafeMutableRawPointer? {
  let plain = Allocator.shared.plain
  guard let account = HeapAccount.current else { return plain.xRealloc(memory, bytes) }
  let before = plain.xSize(memory)
  guard account.admits(Int(bytes) - Int(before)), let made = plain.xRealloc(memory, bytes) else {
    return nil
  }
  account.count(plain.xSize(made) - before)
  return made
}
