import System
import Testing

@Suite struct ParallelTests {
  @Test(arguments: [0, 1, 2, 7, 100])
  func `every part is done once before the call returns`(_ count: Int) {
    let done = Locked([Int]())
    Parallel.perform(count) { index in done.withLock { $0.append(index) } }
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }

  @Test(arguments: [0, 1, 7])
  func `results have the order of their parts, and an error ends no other part`(
    _ count: Int
  ) throws {
    #expect(try Parallel.map(count) { $0 * 2 } == (0..<count).map { $0 * 2 })
    let done = Locked(0)
    let failing = {
      try Parallel.map(count + 1) { index in
        done.withLock { $0 += 1 }
        if index == count / 2 { throw CancellationError() }
      }
    }
    #expect(throws: CancellationError.self) { _ = try failing() }
    #expect(done.withLock { $0 } == count + 1)
  }

  @Test(arguments: [0, 1, 7])
  func `started work is done after the first or second wait`(_ count: Int) {
    let done = Locked([Int]())
    let running = Parallel.begin(count) { index in done.withLock { $0.append(index) } }
    running.wait()
    running.wait()
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }

  @Test func `started parts run concurrently`() {
    // Each part waits until all have started; there are more parts than cores.
    let started = Locked(0)
    let running = Parallel.begin(9) { _ in
      started.withLock { $0 += 1 }
      while started.withLock({ $0 }) < 9 {}
    }
    running.wait()
    #expect(started.withLock { $0 } == 9)
  }

  @Test func `releasing started work waits for its end`() {
    let done = Locked(0)
    for _ in 0..<50 { _ = Parallel.begin(2) { _ in done.withLock { $0 += 1 } } }
    #expect(done.withLock { $0 } == 100)
  }
}
