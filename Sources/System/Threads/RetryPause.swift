/// The pause before a repeat: a real one, or one that a test controls.
package struct RetryPause: Sendable {
  /// Waits the given time; throws if the task is cancelled.
  package var sleep: @Sendable (_ milliseconds: Int) async throws -> Void
  /// A random number from 0 through the bound.
  package var random: @Sendable (_ bound: Int) -> Int

  package init(
    sleep: @escaping @Sendable (_ milliseconds: Int) async throws -> Void,
    random: @escaping @Sendable (_ bound: Int) -> Int
  ) {
    self.sleep = sleep
    self.random = random
  }

  /// Waits a random time ("full jitter"), so that many clients do not retry at the same moment.
  package static let real = RetryPause(
    sleep: { try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000) },
    random: { Int.random(in: 0...max(0, $0)) })

  package static let none = RetryPause(sleep: { _ in }, random: { _ in 0 })
}
