import Foundation
import System
import Testing

@Suite struct StoreThreadTests {
  struct Broken: Error, Equatable {}

  @Test func `work runs on one thread of its own, in order`() async throws {
    let thread = StoreThread(name: "store")
    let first = await thread.run { pthread_self() }
    let second = await thread.run { pthread_self() }
    #expect(first == second)
    #expect(first != pthread_self())
    await #expect(throws: Broken.self) { try await thread.run { throw Broken() } }
  }

  @Test func `blocked threads do not hold up the cooperative pool`() async {
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
      // Runs on the pool while all eight wait; if they stood on it this would never be reached.
      let released = Task { for _ in threads { gate.signal() } }
      await released.value
      var sum = 0
      for await number in group { sum += number }
      #expect(sum == 28)
    }
  }

  @Test func `a task that prefers the thread comes back to it after it waited`() async {
    let thread = StoreThread(name: "preferred")
    let mine = await thread.run { pthread_self() }
    await withTaskExecutorPreference(thread) {
      #expect(pthread_self() == mine)
      await Task.yield()
      #expect(pthread_self() == mine)
    }
  }

  @Test func `its thread ends with it`() async {
    // By name: other tests have threads of their own at the same time.
    @Sendable func threads() -> Int {
      let tasks = (try? Files.list("/proc/self/task")) ?? []
      return tasks.count {
        (try? Files.read("/proc/self/task/\($0)/comm")).map { $0 == Array("short-lived\n".utf8) }
          ?? false
      }
    }
    for _ in 0..<200 {
      let thread = StoreThread(name: "short-lived")
      #expect(await thread.run { threads() } > 0)
    }
    // The kernel takes its time over the last of them; 200 left behind would be seen.
    #expect(threads() < 100)
  }
}
