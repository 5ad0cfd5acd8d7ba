import JSON
import System

/// A notification for a program or a URL.
struct Notice: Sendable {
  let pipeline: String
  /// The run's ID; empty for a test.
  let run: String
  /// The outcome as one word.
  let outcome: String
  let status: ExitStatus
  /// The message, one sentence.
  let words: String
  /// The message as a JSON object.
  let json: JSONValue

  init(_ end: RunEnd) {
    (pipeline, run, status) = (end.pipeline, end.run ?? "", end.status)
    (outcome, words, json) = (end.outcome.rawValue, end.words, end.json)
  }

  /// A test notice, without a run.
  init(testOf pipeline: String) {
    (self.pipeline, run, outcome, status) = (pipeline, "", "test", .done)
    words = "attache: \(pipeline): this is a test; no run has finished"
    json = [
      "type": "test", "pipeline": .string(pipeline), "outcome": "test",
      "status": JSONValue(Int(ExitStatus.done.rawValue)), "words": .string(words),
      "ended": .string(Dates.utc(Clock.wallMilliseconds())),
    ]
  }
}
