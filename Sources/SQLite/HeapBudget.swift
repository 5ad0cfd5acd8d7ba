import CSQLite
import Synchronization

/// What SQLite may allocate on one thread while a file from outside is open there.
///
/// SQLite has one heap limit for the process, which a file made to do harm could use up so that a connection of
/// another thread fails. So each allocation is counted where it is made: on the thread that opened the file, up to
/// the budget. SQLite's own limit stands behind it, far enough that nobody else meets it first, for a connection
/// that is used on another thread than its own.
final class HeapBudget {
  private let account: HeapAccount
  private let bytes: Int

  /// Lets SQLite ask here for memory, before it is used the first time; what comes later changes nothing.
  static func prepare() { _ = Allocator.shared }

  /// A budget of the thread that makes it, for as long as it lives.
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

  /// What all others may need meanwhile, for each that is open.
  private static let slack = 64 << 20
  private static let granted = Atomic(0)

  private static func raiseCeiling(by bytes: Int) {
    var all = granted.add(bytes, ordering: .sequentiallyConsistent).newValue
    while true {
      sqlite3_hard_heap_limit64(all == 0 ? 0 : sqlite3_memory_used() + Int64(all))
      // Who changed it meanwhile may have been told of first.
      let now = granted.load(ordering: .sequentiallyConsistent)
      if now == all { return }
      all = now
    }
  }
}

/// What a thread has allocated through SQLite since the first budget that is open on it.
private final class HeapAccount {
  /// The budgets that are open; another thread may let go of one.
  let open = Atomic(0)
  /// Touched by its own thread only, as is `most`.
  private var used = 0
  private var most = 0

  /// The account of the calling thread; nil where none is open.
  @inline(__always)
  static var current: HeapAccount? {
    guard let place = Allocator.shared.place, let found = attache_thread_value(place) else {
      return nil
    }
    let account = Unmanaged<HeapAccount>.fromOpaque(found).takeUnretainedValue()
    return account.open.load(ordering: .relaxed) > 0 ? account : nil
  }

  /// The account of the calling thread, made if need be; without a place for it one that counts nothing.
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

/// Where SQLite takes its memory from.
// Pointers to functions are not Sendable by their type; these are set once, before SQLite calls any, and only read.
private final class Allocator: @unchecked Sendable {
  static let shared = Allocator()

  /// Each thread's place for its account; nil where SQLite was at work before, or no place is to be had.
  let place: UInt32?
  /// What SQLite would use.
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

// C callbacks: file scope, so that they belong to no actor.
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
