import Salesforce

/// Takes responses in order while the next few requests are in flight.
///
/// Uses separate tasks instead of a task group: in an optimized build of Swift 6.3.1, a group
/// passed on as `inout` reports that it has no tasks.
final class AnswerWindow<Answer: Sendable>: AnswerSource {
  private typealias Request = Task<Result<Answer, OrgError>, Never>

  private let count: Int
  private let request: @Sendable (Int) async throws(OrgError) -> Answer
  private var next = 0
  private var inFlight: [Request] = []

  /// Sends the first of `count` requests of a session; `request` gets a request's number.
  ///
  /// A client with one request at a time gets the requests in order.
  init(
    _ session: Session, count: Int,
    _ request: @escaping @Sendable (Int) async throws(OrgError) -> Answer
  ) {
    self.count = count
    self.request = request
    for _ in 0..<min(3, session.concurrency) { sendNext() }
  }

  /// Whether a response is still to be taken.
  var hasMore: Bool { !inFlight.isEmpty }

  /// Returns the next response, after sending a further request.
  func take() async throws(SyncError) -> Answer {
    guard !inFlight.isEmpty else {
      throw SyncError(.cancelled, "the requests ended before their responses were read")
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

  /// Cancels the requests in flight.
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
