import JSON
import System

/// What a program or an address is told of a pipeline.
struct Notice: Sendable {
  /// The pipeline's name.
  let pipeline: String
  /// The run; empty where there is none.
  let run: String
  /// What it is about, in a word.
  let outcome: String
  /// The exit status that it speaks of.
  let status: ExitStatus
  /// In a sentence.
  let words: String
  /// As one JSON object.
  let json: JSONValue

  /// The end of a run.
  init(_ end: RunEnd) {
    (pipeline, run, status) = (end.pipeline, end.run ?? "", end.status)
    (outcome, words, json) = (end.outcome.rawValue, end.words, end.json)
  }

  /// A test, which speaks of no run.
  init(testOf pipeline: String) {
    (self.pipeline, run, outcome, status) = (pipeline, "", "test", .done)
    words = "attache: \(pipeline): this is a test; no run has ended"
    json = [
      "type": "test", "pipeline": .string(pipeline), "outcome": "test",
      "status": JSONValue(Int(ExitStatus.done.rawValue)), "words": .string(words),
      "ended": .string(Dates.utc(Clock.wallMilliseconds())),
    ]
  }
}
