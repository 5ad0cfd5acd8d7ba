import Foundation
import System
import Testing

@Suite(.serialized) struct OwnThreadTests {
  /// Work that a thread leaves for its very end, as libcrypto does.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { kept in
      guard let kept else { return }
      Unmanaged<Counter>.fromOpaque(kept).takeRetainedValue().add()
    }
    return key
  }()

  private final class Counter: Sendable {
    private let count = Locked(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
  }

  @Test func `threads that were asked to end are joined`() throws {
    let counter = Counter()
    let gate = DispatchSemaphore(value: 0)
    for number in 0..<50 {
      let thread = try OwnThread(name: "ending \(number)") {
        pthread_setspecific(Self.key, Unmanaged.passRetained(counter).toOpaque())
        gate.wait()
      }
      thread.willEnd()
    }
    for _ in 0..<50 { gate.signal() }
    OwnThread.joinLeaving(withinMilliseconds: 60_000)
    #expect(counter.value == 50)
  }

  @Test func `a thread that another thread ends as it ends is joined too`() throws {
    let counter = Counter()
    let first = try OwnThread(name: "first") {
      let gate = DispatchSemaphore(value: 0)
      let second = try? OwnThread(name: "second") {
        pthread_setspecific(Self.key, Unmanaged.passRetained(counter).toOpaque())
        gate.wait()
        // It is still running when the first has ended.
        let sum = (0..<3_000_000).reduce(0) { $0 &+ $1 &* $1 }
        if sum == 1 { counter.add() }
      }
      second?.willEnd()
      gate.signal()
    }
    first.willEnd()
    OwnThread.joinLeaving(withinMilliseconds: 60_000)
    #expect(counter.value == 1)
  }

  @Test func `a blocked thread is not waited for beyond the limit`() throws {
    let gate = DispatchSemaphore(value: 0)
    let thread = try OwnThread(name: "held up") { gate.wait() }
    thread.willEnd()
    OwnThread.joinLeaving(withinMilliseconds: 0)
    gate.signal()
  }
}
