import JSON
import System

/// An event of a run with its context.
package struct SeenEvent: Sendable {
  /// The time by this machine's clock, in ms.
  package let time: Int64
  package let pipeline: String
  /// The run's ID; nil before the run has one.
  package let run: String?
  /// The active stage; nil before the first and after the last.
  package let stage: Stage?
  /// The user name of the event; nil if it does not concern a single user.
  package let username: String?
  package let event: RunEvent

  /// The event with its context as one JSON object.
  package var json: JSONValue {
    var object = event.json.object ?? [:]
    object["time"] = .string(Dates.utc(time))
    object["pipeline"] = .string(pipeline)
    object["run"] = run.map { .string($0) }
    object["user"] = username.map { .string($0) }
    if object["stage"] == nil { object["stage"] = stage.map { .string($0.rawValue) } }
    return .object(object)
  }
}
