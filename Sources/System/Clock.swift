import Glibc

/// The two clocks of the machine: wall-clock time for display, monotonic time for durations.
package enum Clock {
  /// The time in milliseconds since 1970.
  package static func wallMilliseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }

  /// Nanoseconds since an arbitrary moment; never decreases.
  package static func monotonicNanoseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }

  /// Nanoseconds since the machine was started, including suspended time; never decreases.
  package static func sinceStartNanoseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }

  /// Suspends the thread; only for a thread that no other work waits for.
  package static func pause(microseconds: UInt32) { usleep(microseconds) }
}
