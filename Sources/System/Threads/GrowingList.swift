import Glibc

/// A list that one side appends to while others wait for more elements; it ends once.
///
/// Waiting blocks the thread, so use it only on dedicated threads, such as those of a server's
/// connections.
package final class GrowingList<Element: Sendable>: @unchecked Sendable {
  // `elements` and `isEnded` are used only while the lock is held; lock and condition never move.
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var elements: [Element] = []
  private var isEnded = false

  package init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    pthread_mutex_init(lock, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    changed.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Appends an element; discarded if the list has ended.
  package func append(_ element: Element) {
    pthread_mutex_lock(lock)
    if !isEnded { elements.append(element) }
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(lock)
  }

  /// Ends the list with an optional last element, and wakes up all waiting threads.
  package func end(with last: Element? = nil) {
    pthread_mutex_lock(lock)
    if !isEnded, let last { elements.append(last) }
    isEnded = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(lock)
  }

  /// The elements after the first `count`, and whether no further ones will follow.
  ///
  /// If there are none, it waits at most `milliseconds`.
  package func next(after count: Int, waiting milliseconds: Int) -> ([Element], isEnded: Bool) {
    var until = timespec()
    clock_gettime(CLOCK_MONOTONIC, &until)
    let nanoseconds = until.tv_nsec + (milliseconds % 1000) * 1_000_000
    until.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
    until.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while elements.count <= count, !isEnded {
      if pthread_cond_timedwait(changed, lock, &until) != 0 { break }
    }
    return (Array(elements.dropFirst(max(0, count))), isEnded)
  }
}
