import JSON
import Pipelines
import Reconciliation
import System

/// Something that the page has asked for and that takes its time: a look into the org, a plan, a sending.
///
/// Its events are those of a run (`RunEvent`), and a last one whose `type` is `done` or `failed`.
final class ReviewJob: Sendable {
  /// Its number, from 1.
  let number: Int
  /// What has happened.
  let events = GrowingList<JSONValue>()
  private let task = Locked<Task<Void, Never>?>(nil)

  /// Begins it; `perform` gets the way to tell of events and answers what came of it.
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

  /// Says whether it goes on still.
  var isUnderWay: Bool { !events.next(after: .max, waiting: 0).isEnded }

  /// Ends it politely, and waits until it has ended.
  func stop() async {
    guard let task = task.withLock({ $0 }) else { return }
    task.cancel()
    await task.value
  }

  /// An error as the page tells it.
  static func failure(_ error: any Error) -> JSONValue {
    let error = PipelineError(describing: error)
    var object: JSONObject = ["type": "failed", "message": .string(error.message)]
    for (name, text) in [("reason", error.reason), ("fix", error.fix)] {
      if let text { object[name] = .string(text) }
    }
    return .object(object)
  }
}
