import Pipelines
import Synchronization
import System

/// Runs work that a signal or a deadline can cancel, without publishing partial results.
enum Interruption {
  /// Returns the result, the signal that interrupted the work, and whether the deadline did.
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

  /// Runs work that must not delay the end of the process, such as notifications.
  ///
  /// Any signal cancels it, except the first `spent` ones, which cancelled earlier work.
  static func brief<T: Sendable>(
    spent: Int, _ work: @escaping @Sendable () async -> T
  ) async -> (T, signal: Int32?) {
    // Start only when signals are handled: the work's first step may trigger one.
    let gate = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for await _ in gate.stream {}
      return await work()
    }
    let received = Received()
    Signals.onTermination(after: spent) { number in
      received.set(number)
      task.cancel()
    }
    gate.continuation.finish()
    let value = await task.value
    return (value, received.get().0)
  }

  /// The error for work that a signal interrupted.
  static func error(
    _ work: InterruptibleWork, signal: Int32, fix: String = PipelineError.goesOnText
  ) -> PipelineError {
    PipelineError(
      .interrupted(signal: signal), work.interruptedCode, work.interruptedText, fix: fix)
  }

  /// The error for work that reached its deadline; `setting` is where that can be raised.
  static func late(_ work: InterruptibleWork, seconds: Int, setting: String) -> PipelineError {
    PipelineError(
      .tryLater, work.deadlineCode, work.deadlineText(seconds: seconds),
      fix: PipelineError.goesOnText + "; or raise " + setting)
  }
}

private final class Received: Sendable {
  private let state = Mutex((signal: Int32?.none, isLate: false))

  func set(_ signal: Int32) { state.withLock { $0.signal = $0.signal ?? signal } }
  func setLate() { state.withLock { $0.isLate = true } }
  func get() -> (Int32?, Bool) { state.withLock { ($0.signal, $0.isLate) } }
}
