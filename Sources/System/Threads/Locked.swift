import Glibc

/// A value that only one thread can access at a time.
///
/// It is `Synchronization.Mutex` on top of a lock of the C library, which the thread sanitizer
/// knows. The slow path of `Mutex` is a system call in a library without instrumentation, so the
/// sanitizer would report a race wherever two threads meet, and real races would go unnoticed.
package final class Locked<Value: Sendable>: @unchecked Sendable {
  // `value` is accessed only in `withLock`, while the lock is held; the lock's address never
  // changes.
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

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

  /// Runs `body` with exclusive access to the value; `body` must not lock the same value again.
  package func withLock<T, E: Error>(_ body: (inout Value) throws(E) -> T) throws(E) -> T {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value)
  }
}
