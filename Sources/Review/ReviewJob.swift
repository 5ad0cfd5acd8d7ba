import JSON
import Pipelines
import System

/// A long-running request of the page: a look-up in the org, a plan, or a run that sends edits.
///
/// Its events are those of a run (`RunEvent`), followed by one whose `type` is `done` or `failed`.
final class ReviewJob: Sendable {
  /// The number of the job, from 1.
  let number: Int
  /// The events so far.
  let events = GrowingList<JSONValue>()
  private let task = Locked<Task<Void, Never>?>(nil)

  /// Starts the job.
  ///
  /// `perform` receives a function that records events, and returns the result.
  init(
    number: Int,
    _ perform:
      @escaping @Sendable (@escaping @Sendable (RunEvent) -> Void) async throws -> JSONObject
  ) {
    self.number = number
    let events = events
    let task = Task {
      do {
        var result = try await perform { events.append($0.json) }
        result["type"] = "done"
        events.end(with: .object(result))
      } catch {
        events.end(with: Self.failure(error))
      }
    }
    self.task.withLock { $0 = task }
  }

  /// Whether the job is still running.
  var isUnderWay: Bool { !events.next(after: .max, waiting: 0).isEnded }

  /// Cancels the job and waits until it has ended.
  func stop() async {
    guard let task = task.withLock({ $0 }) else { return }
    task.cancel()
    await task.value
  }

  /// Returns an error in the form that the page shows.
  static func failure(_ error: any Error) -> JSONValue {
    let error = PipelineError(describing: error)
    var object: JSONObject = ["type": "failed", "message": .string(error.message)]
    for (name, text) in [("reason", error.reason), ("fix", error.fix)] {
      if let text { object[name] = .string(text) }
    }
    return .object(object)
  }
}
