import System

/// How a repeat waits: really, or as a test says.
package struct RetryPause: Sendable {
  /// Waits so many milliseconds; throws when the task is cancelled.
  package var sleep: @Sendable (_ milliseconds: Int) async throws -> Void
  /// A number from 0 through the bound.
  package var random: @Sendable (_ bound: Int) -> Int

  package init(
    sleep: @escaping @Sendable (_ milliseconds: Int) async throws -> Void,
    random: @escaping @Sendable (_ bound: Int) -> Int
  ) {
    self.sleep = sleep
    self.random = random
  }

  /// Waits on the wall, at random ("full jitter"), so that many clients do not come back at once.
  package static let real = RetryPause(
    sleep: { try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000) },
    random: { Int.random(in: 0...max(0, $0)) })

  /// Does not wait.
  package static let none = RetryPause(sleep: { _ in }, random: { _ in 0 })
}
