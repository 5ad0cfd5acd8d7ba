import Salesforce
import System

/// Takes responses in order to requests that are sent several in one call.
///
/// The next call is sent when the last one has arrived, while its responses are read. If a part of
/// a call fails, it is requested separately. If a call fails as a whole, its parts are sent in a
/// smaller call or separately (`CallWidth`).
final class WideWindow<Work: Sendable, Answer: Sendable>: AnswerSource {
  /// How the requests are sent.
  struct Way: Sendable {
    let session: Session
    let width: CallWidth
    /// Creates the request for a piece of work, as a part with the given name.
    var request: @Sendable (_ work: Work, _ name: String) -> CompositeRequest
    /// Reads the response of a part; nil if it must be requested separately.
    ///
    /// `askedAt` is the org's time before the call.
    var read:
      @Sendable (_ work: Work, _ part: PartAnswer, _ askedAt: Int64?) async throws(OrgError)
        -> Answer?
    /// Sends a separate request for a piece of work.
    var alone: @Sendable (Work) async throws(OrgError) -> Answer
    /// Whether a call with a single part is better than a separate request.
    var combinesOne = false
  }

  private typealias Call = Task<Result<[Answer], OrgError>, Never>

  private let way: Way
  /// Returns work for at most this number of parts; empty after the last.
  private let supply: (_ most: Int) -> [Work]
  /// Called with the responses of each call; returns whether the next one may be sent before they
  /// are read.
  private let arrived: ([Answer]) -> Bool
  /// The responses that have arrived, the next one last, so that each is released when it is taken.
  private var answers: [Answer] = []
  private var call: Call?

  /// Sends the first call.
  init(
    _ way: Way, arrived: @escaping ([Answer]) -> Bool = { _ in true },
    supply: @escaping (_ most: Int) -> [Work]
  ) {
    self.way = way
    self.arrived = arrived
    self.supply = supply
    call = start()
  }

  /// Whether a response is still to be taken; sends the next call if it is not yet sent.
  var hasMore: Bool {
    if answers.isEmpty, call == nil { call = start() }
    return !answers.isEmpty || call != nil
  }

  func take() async throws(SyncError) -> Answer {
    if answers.isEmpty {
      guard hasMore, let current = call.take() else {
        throw SyncError(.cancelled, "the requests ended before their responses were read")
      }
      let result = await withTaskCancellationHandler {
        await current.value
      } onCancel: {
        current.cancel()
      }
      if Task.isCancelled { throw SyncError(.cancelled, "the sync was cancelled") }
      switch result {
      case .success(let found): answers = found.reversed()
      case .failure(let error): throw SyncError(error)
      }
      if arrived(answers) { call = start() }
    }
    return answers.removeLast()
  }

  deinit { call?.cancel() }

  private func start() -> Call? {
    let work = supply(way.width.next)
    return work.isEmpty ? nil : Self.send(work, way)
  }

  private static func send(_ work: [Work], _ way: Way) -> Call {
    Call { await way.result(of: work) }
  }
}

extension WideWindow.Way {
  /// Sends the requests for some work, in as many calls as it takes.
  fileprivate func result(of work: [Work]) async -> Result<[Answer], OrgError> {
    do throws(OrgError) {
      return .success(try await answers(to: work))
    } catch {
      return .failure(error)
    }
  }

  private func answers(to work: [Work]) async throws(OrgError) -> [Answer] {
    var answers: [Answer] = []
    var rest = work[...]
    while let first = rest.first {
      let asked = Array(rest.prefix(width.next))
      guard asked.count > 1 || combinesOne && !width.isGivenUp else {
        answers.append(try await alone(first))
        rest.removeFirst()
        continue
      }
      do throws(OrgError) {
        answers += try await together(asked)
        rest.removeFirst(asked.count)
      } catch {
        guard error.mayFareBetter else { throw error }
        width.noteFailure(of: asked.count)
      }
    }
    return answers
  }

  /// Sends one call, and requests separately what it did not bring.
  private func together(_ work: [Work]) async throws(OrgError) -> [Answer] {
    let requests = work.enumerated().map { request($1, "part\($0)") }
    let (askedAt, start) = (session.serverDate, width.clock())
    let parts = try await session.parts(requests)
    width.note(parts: parts.map(\.body.count), nanoseconds: width.clock() - start)
    var answers: [Answer] = []
    for (piece, part) in zip(work, parts) {
      if part.isSuccess, let answer = try await read(piece, part, askedAt) {
        answers.append(answer)
      } else {
        answers.append(try await alone(piece))
      }
    }
    return answers
  }
}
