import Foundation
import System
import Testing

@Suite struct StoreThreadTests {
  struct Broken: Error, Equatable {}

  @Test func `work runs on one dedicated thread, in order`() async throws {
    let thread = StoreThread(name: "store")
    let first = await thread.run { pthread_self() }
    let second = await thread.run { pthread_self() }
    #expect(first == second)
    #expect(first != pthread_self())
    await #expect(throws: Broken.self) { try await thread.run { throw Broken() } }
  }

  @Test func `blocked threads do not block the cooperative pool`() async {
    let threads = (0..<8).map { StoreThread(name: "blocked \($0)") }
    let gate = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Int.self) { group in
      for (number, thread) in threads.enumerated() {
        group.addTask {
          await thread.run {
            gate.wait()
            return number
          }
        }
      }
      // Runs on the pool while all eight wait. If they blocked the pool, this would never run.
      await Task { for _ in threads { gate.signal() } }.value
      var sum = 0
      for await number in group { sum += number }
      #expect(sum == 28)
    }
  }

  @Test func `a task that prefers the thread returns to it after a wait`() async {
    let thread = StoreThread(name: "preferred")
    let mine = await thread.run { pthread_self() }
    await withTaskExecutorPreference(thread) {
      #expect(pthread_self() == mine)
      await Task.yield()
      #expect(pthread_self() == mine)
    }
  }

  @Test(.timeLimit(.minutes(10))) func `the thread ends with its owner`() async {
    for _ in 0..<200 {
      var thread: StoreThread? = StoreThread(name: "short-lived")
      let end = ThreadEnd()
      await thread?.run { end.watch() }
      thread = nil
      await end.reached()
    }
  }
}

/// Detects the end of a thread: its thread-local data is released when it ends.
private final class ThreadEnd: Sendable {
  private let ended = AsyncStream.makeStream(of: Void.self)

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { kept in
      guard let kept else { return }
      Unmanaged<ThreadEnd>.fromOpaque(kept).takeRetainedValue().ended.continuation.finish()
    }
    return key
  }()

  /// Called on the thread.
  func watch() { pthread_setspecific(Self.key, Unmanaged.passRetained(self).toOpaque()) }

  func reached() async { for await _ in ended.stream {} }
}
