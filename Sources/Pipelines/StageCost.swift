import JSON
import System

/// What a stage of a run asked of the org, and how long it took.
package struct StageCost: Sendable, Hashable {
  /// The stage.
  package var stage: Stage
  /// Requests, repeats and logins too.
  package var requests = 0
  /// Records that were fetched, or edits that were settled.
  package var records = 0
  /// The bytes of the answers, as they are when they are unpacked.
  package var bytes = 0
  /// How long it took.
  package var milliseconds = 0

  /// As one JSON object.
  package var json: JSONValue {
    [
      "stage": .string(stage.rawValue), "requests": JSONValue(requests),
      "records": JSONValue(records), "bytes": JSONValue(bytes),
      "seconds": JSONValue(Double(milliseconds) / 1000),
    ]
  }

  /// Reads one; nil where it is none.
  init?(_ value: JSONValue) {
    guard let stage = value["stage"]?.string.flatMap({ Stage(rawValue: $0) }),
      let requests = value["requests"]?.int, let records = value["records"]?.int,
      let bytes = value["bytes"]?.int, let seconds = value["seconds"]?.double
    else { return nil }
    self.init(
      stage, requests: Int(requests), records: Int(records), bytes: Int(bytes),
      milliseconds: Int(seconds * 1000))
  }

  /// What a stage took.
  init(
    _ stage: Stage, requests: Int = 0, records: Int = 0, bytes: Int = 0, milliseconds: Int = 0
  ) {
    (self.stage, self.requests, self.records) = (stage, requests, records)
    (self.bytes, self.milliseconds) = (bytes, milliseconds)
  }

  /// `12 requests for 340 records, 1200 KiB`.
  package var words: String {
    let unit = stage == .prime ? "record" : "edit"
    return ByteCount.count(requests, "request") + " for " + ByteCount.count(records, unit) + ", "
      + ByteCount.text(bytes)
  }

  /// `3.2 s`, `12 min`.
  package var duration: String { DurationText.of(seconds: Double(milliseconds) / 1000) }
}
