import JSON
import System

/// An event of a run with what it belongs to.
package struct SeenEvent: Sendable {
  /// When it happened, by this machine's clock, in ms.
  package let time: Int64
  /// The pipeline's name.
  package let pipeline: String
  /// The run; nil before it has a name.
  package let run: String?
  /// The stage that is at work; nil before the first and after the last.
  package let stage: Stage?
  /// The user name that it is about; nil where it is about nobody alone.
  package let username: String?
  /// What happened.
  package let event: RunEvent

  /// The event as one JSON object, with what it belongs to.
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
