import Salesforce

/// Requests whose answers are taken in order, while the next few are under way.
///
/// Tasks of their own and not a task group: an optimised build of Swift 6.3.1 answers that a group
/// which is handed on as `inout` has no tasks.
final class AnswerWindow<Answer: Sendable> {
  private typealias Request = Task<Result<Answer, OrgError>, Never>

  /// How many requests are in flight or unread.
  private let size = 3

  private let count: Int
  private let request: @Sendable (Int) async throws(OrgError) -> Answer
  private var next = 0
  private var inFlight: [Request] = []

  /// Sends the first of `count` requests; each is asked for by its number.
  init(count: Int, _ request: @escaping @Sendable (Int) async throws(OrgError) -> Answer) {
    self.count = count
    self.request = request
    for _ in 0..<size { sendNext() }
  }

  /// Whether there is an answer that was not taken.
  var hasMore: Bool { !inFlight.isEmpty }

  /// The answer of the next request; another one is sent before it is handed out.
  func take() async throws(SyncError) -> Answer {
    guard !inFlight.isEmpty else {
      throw SyncError(.cancelled, "the requests ended before their answers were read")
    }
    let first = inFlight.removeFirst()
    let result = await withTaskCancellationHandler {
      await first.value
    } onCancel: {
      first.cancel()
    }
    if Task.isCancelled { throw SyncError(.cancelled, "the sync was cancelled") }
    sendNext()
    switch result {
    case .success(let answer): return answer
    case .failure(let error): throw SyncError(error)
    }
  }

  /// Gives up what is still under way.
  func cancel() {
    for request in inFlight { request.cancel() }
    inFlight = []
    next = count
  }

  deinit { cancel() }

  private func sendNext() {
    guard next < count else { return }
    let number = next
    next += 1
    inFlight.append(
      Task { [request] in
        do throws(OrgError) { return .success(try await request(number)) } catch {
          return .failure(error)
        }
      })
  }
}
