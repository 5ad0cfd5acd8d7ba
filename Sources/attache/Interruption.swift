import Synchronization
import System

/// Work that a signal or a deadline ends politely: its task is cancelled, and it publishes nothing
/// half-done.
enum Interruption {
  /// What the work came to, the signal that ended it, and whether its deadline did.
  static func run<T: Sendable>(
    deadlineSeconds: Int, _ work: @escaping @Sendable () async throws -> T
  ) async -> (Result<T, any Error>, signal: Int32?, isLate: Bool) {
    let task = Task { () -> Result<T, any Error> in
      do { return .success(try await work()) } catch { return .failure(error) }
    }
    let received = Received()
    Signals.onTermination { number in
      received.set(number)
      task.cancel()
    }
    let timer = Task {
      try await Task.sleep(for: .seconds(deadlineSeconds))
      received.setLate()
      task.cancel()
    }
    let result = await task.value
    timer.cancel()
    let (signal, isLate) = received.get()
    return (result, signal, isLate)
  }

  /// Work after the work, which nobody has to wait for: a signal that comes meanwhile ends it, and a second one
  /// that came before.
  static func brief<T: Sendable>(_ work: @escaping @Sendable () async -> T) async -> T {
    let task = Task { await work() }
    Signals.onTermination { _ in task.cancel() }
    if Signals.count > 1 { task.cancel() }
    return await task.value
  }
}

private final class Received: Sendable {
  private let state = Mutex((signal: Int32?.none, isLate: false))

  func set(_ signal: Int32) { state.withLock { $0.signal = $0.signal ?? signal } }
  func setLate() { state.withLock { $0.isLate = true } }
  func get() -> (Int32?, Bool) { state.withLock { ($0.signal, $0.isLate) } }
}
