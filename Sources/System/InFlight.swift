/// Requests beside each other, never more of them than a limit: the one place that says how.
///
/// What decides, notes and counts stays in the caller's task, one thing after another; only the requests
/// themselves run in tasks of their own.
package enum InFlight {
  /// Starts the requests that `next` gives, and hands each answer to `take` as it comes.
  ///
  /// `next` answers nil when nothing can be started before an answer is taken; without a request on its way
  /// that is the end. After an error nothing more is started: what is on its way is awaited and taken, and
  /// the first error is thrown. `settle` comes before each request starts and before each answer is waited for.
  package nonisolated(nonsending) static func run<Answer: Sendable>(
    _ limit: Int,
    next: nonisolated(nonsending) () async throws -> (@Sendable () async -> Answer)?,
    take: nonisolated(nonsending) (Answer) async throws -> Void,
    settle: () throws -> Void = {}
  ) async throws {
    var failure: (any Error)?
    await withTaskGroup(of: Answer.self) { group in
      var running = 0
      while true {
        while failure == nil, running < max(1, limit) {
          do {
            guard let request = try await next() else { break }
            try settle()
            group.addTask { await request() }
            running += 1
          } catch { failure = error }
        }
        do { try settle() } catch { failure = failure ?? error }
        guard running > 0, let answer = await group.next() else { return }
        running -= 1
        do { try await take(answer) } catch { failure = failure ?? error }
      }
    }
    if let failure { throw failure }
  }

  /// The answers to requests, in the order of the requests.
  ///
  /// After an answer that `stops` all nothing more is started: what was not asked has nil.
  package nonisolated(nonsending) static func all<Answer: Sendable>(
    _ limit: Int, _ requests: [@Sendable () async -> Answer],
    stops: (Answer) -> Bool = { _ in false }
  ) async -> [Answer?] {
    var waiting = Array(requests.enumerated())[...]
    var answers: [Answer?] = requests.map { _ in nil }
    // Nothing here throws.
    try? await run(
      limit,
      next: {
        guard let (place, request) = waiting.popFirst() else { return nil }
        return { @Sendable in (place: place, answer: await request()) }
      },
      take: { (came: (place: Int, answer: Answer)) in
        answers[came.place] = came.answer
        if stops(came.answer) { waiting = [] }
      })
    return answers
  }
}
