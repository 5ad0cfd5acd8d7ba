import JSON
import System

/// The requests and the time that a stage of a run took.
package struct StageCost: Sendable, Hashable {
  package var stage: Stage
  /// The number of requests, including retries and logins.
  package var requests = 0
  /// The number of records fetched, or of edits resolved.
  package var records = 0
  /// The number of records that the stores needed; users who read alike share fetched ones.
  package var used = 0
  /// The size of the answers in bytes, after decompression.
  package var bytes = 0
  /// The duration in milliseconds.
  package var milliseconds = 0

  package var json: JSONValue {
    var object: JSONObject = [
      "stage": .string(stage.rawValue), "requests": JSONValue(requests),
      "records": JSONValue(records),
    ]
    if stage == .prime { object["used"] = JSONValue(used) }
    object["bytes"] = JSONValue(bytes)
    object["seconds"] = JSONValue(Double(milliseconds) / 1000)
    return .object(object)
  }

  /// Parses the JSON form; nil if it is not one.
  init?(_ value: JSONValue) {
    guard let stage = value["stage"]?.string.flatMap({ Stage(rawValue: $0) }),
      let requests = value["requests"]?.int, let records = value["records"]?.int,
      let bytes = value["bytes"]?.int, let seconds = value["seconds"]?.double
    else { return nil }
    self.init(
      stage, requests: Int(requests), records: Int(records),
      used: Int(value["used"]?.int ?? records), bytes: Int(bytes),
      milliseconds: Int(seconds * 1000))
  }

  init(
    _ stage: Stage, requests: Int = 0, records: Int = 0, used: Int? = nil, bytes: Int = 0,
    milliseconds: Int = 0
  ) {
    (self.stage, self.requests, self.records) = (stage, requests, records)
    self.used = used ?? records
    (self.bytes, self.milliseconds) = (bytes, milliseconds)
  }

  /// The cost as text, such as `12 requests for 340 records, 1200 KiB`.
  package var words: String {
    let unit = stage == .prime ? "record" : "edit"
    return CountText.of(requests, "request") + " for " + CountText.of(records, unit)
      + (used > records ? " used \(used) times" : "") + ", " + ByteCount.text(bytes)
  }

  /// The duration as text, such as `3.2 s` or `12 min`.
  package var duration: String { DurationText.of(seconds: Double(milliseconds) / 1000) }
}
