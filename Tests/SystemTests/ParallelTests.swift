import System
import Testing

@Suite struct ParallelTests {
  @Test(arguments: [0, 1, 2, 7, 100])
  func `every part is done once before the call comes back`(_ count: Int) {
    let done = Locked([Int]())
    Parallel.perform(count) { index in done.withLock { $0.append(index) } }
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }
}
