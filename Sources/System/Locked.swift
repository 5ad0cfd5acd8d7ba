import Glibc

/// A value that one thread at a time may touch.
///
/// It is `Synchronization.Mutex` over the C library's lock. The thread sanitizer knows that lock; the
/// slow path of `Mutex` is a system call in a library that is not instrumented, so that it reports a
/// race wherever two threads meet, and real ones drown among them.
package final class Locked<Value: Sendable>: @unchecked Sendable {
  // `value` is touched in `withLock` only, while the lock is held; the lock's address never changes.
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  /// Keeps `value`.
  package init(_ value: Value) {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    pthread_mutex_init(lock, nil)
    self.value = value
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Runs `body` on the value while nobody else does; it must not ask for the same value again.
  package func withLock<T, E: Error>(_ body: (inout Value) throws(E) -> T) throws(E) -> T {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value)
  }
}
