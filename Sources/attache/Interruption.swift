import Pipelines
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

  /// Work that nobody has to wait for, such as the telling of an end: a signal ends it, whenever it came, unless it
  /// is one of the first `spent`, which have ended something else.
  static func brief<T: Sendable>(
    spent: Int, _ work: @escaping @Sendable () async -> T
  ) async -> (T, signal: Int32?) {
    // It begins when a signal can end it: what it does first may be what brings one.
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

  /// What is told of work that a signal ended.
  static func error(
    _ work: InterruptibleWork, signal: Int32, fix: String = PipelineError.goesOnText
  ) -> PipelineError {
    PipelineError(
      .interrupted(signal: signal), work.interruptedCode, work.interruptedText, fix: fix)
  }

  /// What is told of work that its deadline ended; `setting` is where that is raised.
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
