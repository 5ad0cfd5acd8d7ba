import Glibc

/// The machine's two clocks: the wall's, for people, and the monotonic one, for durations.
package enum Clock {
  /// Milliseconds since 1970.
  package static func wallMilliseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }

  /// Nanoseconds since some moment in the past; never goes back.
  package static func monotonicNanoseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }

  /// Nanoseconds since the machine was started, its sleep included; never goes back.
  package static func sinceStartNanoseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }

  /// Lets the thread sleep; only for one that nothing else waits for.
  package static func pause(microseconds: UInt32) { usleep(microseconds) }
}
