import System
import Testing

struct InFlightRunTests {
  private struct Trouble: Error, Equatable { let number: Int }

  /// Starts numbers one after another; returns those taken and those started.
  private func run(
    of count: Int, atOnce limit: Int, failingAt number: Int
  ) async -> (started: [Int], taken: [Int], failure: Trouble?) {
    var started: [Int] = []
    var taken: [Int] = []
    do {
      try await InFlight.run(
        limit,
        next: {
          guard started.count < count else { return nil }
          let number = started.count
          started.append(number)
          return { @Sendable in number }
        },
        take: { (answer: Int) in
          taken.append(answer)
          if answer == number { throw Trouble(number: number) }
        })
      return (started, taken, nil)
    } catch { return (started, taken, error as? Trouble) }
  }

  @Test func `after an error nothing more is started, and requests in flight are awaited`() async {
    for limit in [1, 3] {
      let (started, taken, failure) = await run(of: 20, atOnce: limit, failingAt: 0)
      #expect(failure == Trouble(number: 0))
      #expect(started.count < 20)
      #expect(Set(taken) == Set(started))
    }
    let (started, _, _) = await run(of: 20, atOnce: 1, failingAt: 4)
    #expect(started == [0, 1, 2, 3, 4])
  }

  @Test func `the closing step runs before each start and before each wait`() async {
    var lines: [String] = []
    var number = 0
    await #expect(throws: Trouble.self) {
      try await InFlight.run(
        1,
        next: {
          number += 1
          lines.append("next")
          return { @Sendable [number] in number }
        },
        take: { (answer: Int) in
          lines.append("take")
          if answer == 2 { throw Trouble(number: answer) }
        }, settle: { lines.append("settle") })
    }
    let request = ["next", "settle", "settle", "take"]
    #expect(lines == request + request + ["settle"])
  }

  @Test func `without an error all requests are started and taken`() async {
    let (started, taken, failure) = await run(of: 20, atOnce: 3, failingAt: -1)
    #expect(failure == nil)
    #expect(started == Array(0..<20))
    #expect(taken.sorted() == started)
  }
}
