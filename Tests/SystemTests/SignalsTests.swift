import Foundation
import System
import Testing

@Suite struct SignalsTests {
  @Test func `a signal reaches its listeners with any number of threads`() async {
    // Whoever started the tests may have wanted them to outlive a terminal.
    signal(SIGHUP, SIG_DFL)
    let signals = AsyncStream<Int32> { continuation in
      Signals.onTermination { continuation.yield($0) }
      Signals.onTermination { continuation.yield($0 + 100) }
    }
    // The pool's threads run already and block nothing: a mask of one thread would not help here.
    kill(getpid(), SIGHUP)
    var seen: Set<Int32> = []
    for await number in signals {
      seen.insert(number)
      if seen.count == 2 { break }
    }
    #expect(seen == [SIGHUP, SIGHUP + 100])
    // Who listens late is told at once of what came, but for what ended something else.
    let late = Locked<[Int32]>([])
    Signals.onTermination { _ in late.withLock { $0.append(-1) } }
    Signals.onTermination(after: 1) { number in late.withLock { $0.append(-number) } }
    #expect(late.withLock { $0 } == [])
    Signals.onTermination(after: 0) { number in late.withLock { $0.append(number) } }
    #expect(late.withLock { $0 } == [SIGHUP])
  }
}
