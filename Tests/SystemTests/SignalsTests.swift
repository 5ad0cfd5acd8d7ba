import Foundation
import System
import Testing

@Suite struct SignalsTests {
  @Test func `a signal reaches its listeners with any number of threads`() async {
    // The parent process may have set the tests to survive a hangup.
    signal(SIGHUP, SIG_DFL)
    let signals = AsyncStream<Int32> { continuation in
      Signals.onTermination { continuation.yield($0) }
      Signals.onTermination { continuation.yield($0 + 100) }
    }
    // The pool's threads are already running and block no signal, so a mask of one thread would not
    // help.
    kill(getpid(), SIGHUP)
    var seen: Set<Int32> = []
    for await number in signals {
      seen.insert(number)
      if seen.count == 2 { break }
    }
    #expect(seen == [SIGHUP, SIGHUP + 100])
    // A late listener receives earlier signals at once, except for those that ended other work.
    let late = Locked<[Int32]>([])
    Signals.onTermination { _ in late.withLock { $0.append(-1) } }
    Signals.onTermination(after: 1) { number in late.withLock { $0.append(-number) } }
    #expect(late.withLock { $0 } == [])
    Signals.onTermination(after: 0) { number in late.withLock { $0.append(number) } }
    #expect(late.withLock { $0 } == [SIGHUP])
  }
}
