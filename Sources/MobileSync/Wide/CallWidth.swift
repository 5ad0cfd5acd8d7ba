import Salesforce
import System

/// How many requests of one kind fit into one call.
///
/// An org runs the parts of a composite request one after the other, so a call with many parts may
/// take long, or return more than should be in memory at once. The width is learned from the
/// responses. A call that fails is sent again with half as many parts; if that fails too, the rest
/// of the run sends each request separately.
package final class CallWidth: Sendable {
  /// What is kept for the next run.
  package struct Known: Sendable, Hashable {
    /// The number of parts that a call may have without taking long.
    package var parts: Int
    /// The size of the largest part so far, in bytes; nil before the first.
    package var partBytes: Int?

    /// Creates what is known before the first call, unless specified otherwise.
    package init(parts: Int = CallWidth.most, partBytes: Int? = nil) {
      self.parts = min(max(1, parts), CallWidth.most)
      self.partBytes = partBytes
    }
  }

  /// The number of queries and collections that an org accepts in a call.
  package static let most = RequestLimits.queriesOfComposite
  /// The expected size of a response stays below this number of bytes.
  package static let mostBytes = 5 << 20
  /// A call that takes longer gets fewer parts next time: an org limits the number of requests that
  /// take longer than 20 seconds.
  package static let slowNanoseconds: UInt64 = 10_000_000_000
  /// After a faster call, one more part is tried; even then it would not take long.
  private static let fastNanoseconds: UInt64 = 5_000_000_000

  private struct State {
    var known: Known
    /// The number of calls that failed since the last success.
    var failures = 0
    var isGivenUp = false

    var expected: Int {
      isGivenUp ? 1 : max(1, min(known.parts, CallWidth.mostBytes / max(1, known.partBytes ?? 1)))
    }
  }

  private let state: Locked<State>
  /// The time of the monotonic clock in nanoseconds, by which calls are measured.
  let clock: @Sendable () -> UInt64

  package init(
    _ known: Known = Known(),
    clock: @escaping @Sendable () -> UInt64 = { Clock.monotonicNanoseconds() }
  ) {
    state = Locked(State(known: known))
    self.clock = clock
  }

  package var known: Known { state.withLock { $0.known } }

  /// The number of parts for the next call; 1 until the size of a part is known, and after calls
  /// with several parts have failed.
  package var next: Int {
    state.withLock { $0.known.partBytes == nil ? 1 : $0.expected }
  }

  /// The number of parts that calls will have once the size of a part is known.
  var expected: Int { state.withLock { $0.expected } }

  /// Whether calls have failed too often to try another one in this run.
  package var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

  /// Records the size of a response to a single request.
  package func note(bytes: Int) {
    state.withLock { $0.known.partBytes = max($0.known.partBytes ?? 0, bytes) }
  }

  /// Records a call with several parts: the sizes of the responses, and how long it took.
  package func note(parts: [Int], nanoseconds: UInt64) {
    state.withLock { state in
      state.failures = 0
      state.known.partBytes = max(state.known.partBytes ?? 0, parts.max() ?? 0)
      if nanoseconds > Self.slowNanoseconds {
        let fitting = UInt64(parts.count) * Self.slowNanoseconds / nanoseconds
        state.known.parts = max(1, min(Int(fitting), state.known.parts))
      } else if nanoseconds < Self.fastNanoseconds, parts.count >= state.known.parts {
        state.known.parts = min(state.known.parts + 1, Self.most)
      }
    }
  }

  /// Records that a call with this number of parts failed as a whole.
  package func noteFailure(of parts: Int) {
    state.withLock { state in
      state.failures += 1
      state.known.parts = max(1, min(state.known.parts, (parts + 1) / 2))
      if state.failures > 1 || state.known.parts < 2 { state.isGivenUp = true }
    }
  }
}
