import System
import Testing

@Suite struct LockedTests {
  @Test func `no change is lost between threads`() async {
    let count = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<10_000 { count.withLock { $0 += 1 } } } }
    }
    #expect(count.withLock { $0 } == 80_000)
  }

  @Test func `an error is rethrown and the lock is released`() {
    struct Refusal: Error {}
    let count = Locked(1)
    #expect(throws: Refusal.self) {
      try count.withLock { value throws(Refusal) -> Int in
        value = 2
        throw Refusal()
      }
    }
    #expect(count.withLock { $0 } == 2)
  }
}
