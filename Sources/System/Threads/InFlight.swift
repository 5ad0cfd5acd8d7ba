/// Runs requests concurrently up to a limit, for the whole program.
///
/// Decisions, records and counts stay in the caller's task, in sequence; only the requests run in
/// separate tasks.
package enum InFlight {
  /// Starts the requests that `next` provides, and passes each response to `take` as it arrives.
  ///
  /// `next` returns nil if no request can be started before a response is processed. If none is in
  /// flight then, the work is done. After an error no further request is started: those in flight
  /// are awaited and passed to `take`, and the first error is thrown. `settle` is called before
  /// each request starts and before each response is awaited.
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

  /// The responses to requests, in the order of the requests.
  ///
  /// After a response for which `stops` returns true, no further request is started; requests that
  /// were not sent have nil.
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
