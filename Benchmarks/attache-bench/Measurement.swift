import JSON
import System

/// A child's measurements of itself.
struct Measurement: Sendable {
  /// The arm that it ran.
  var arm = ""
  var records = 0
  /// The bytes of the pages that arrived.
  var bytes = 0
  /// The time from before the first request to the end of the work.
  var wall = 0
  /// The part of `wall` until the last page was processed.
  var pages = 0
  /// The part of `wall` for building indexes.
  var indexes = 0
  /// The part of `wall` for writing the files and renaming them.
  var publishing = 0
  var user = 0
  var system = 0
  /// The peak resident memory of the process.
  var peakKiB = 0

  /// User and system time together.
  var processor: Int { user + system }

  /// Sets the resources that the process used since `start`.
  mutating func end(_ start: UInt64) {
    wall = Self.milliseconds(since: start)
    (user, system) = ProcessLimits.processorMilliseconds()
    peakKiB = ProcessLimits.highWaterKiB()
  }

  static func milliseconds(since start: UInt64) -> Int {
    Int((Clock.monotonicNanoseconds() - start) / 1_000_000)
  }

  private static var members: [(String, WritableKeyPath<Measurement, Int>)] {
    [
      ("records", \.records), ("bytes", \.bytes), ("wallMilliseconds", \.wall),
      ("pagesMilliseconds", \.pages), ("indexesMilliseconds", \.indexes),
      ("publishingMilliseconds", \.publishing), ("userMilliseconds", \.user),
      ("systemMilliseconds", \.system), ("peakKiB", \.peakKiB),
    ]
  }

  /// The measurements as a child prints them.
  var json: JSONValue {
    var object: JSONObject = ["arm": .string(arm)]
    for (name, path) in Self.members { object[name] = .number(String(self[keyPath: path])) }
    return .object(object)
  }

  func print() { ProcessEnvironment.write(1, json.text + "\n") }

  init() {}

  /// Reads the output of a child.
  init(parsing output: [UInt8]) throws {
    let value = try JSONValue(parsing: output)
    arm = value["arm"]?.string ?? ""
    for (name, path) in Self.members { self[keyPath: path] = Int(value[name]?.int ?? 0) }
  }

  /// The median of several runs for each value; the peak is the highest of all.
  static func median(_ runs: [Measurement]) -> Measurement {
    var result = runs.first ?? Measurement()
    for (_, path) in members {
      let sorted = runs.map { $0[keyPath: path] }.sorted()
      guard let last = sorted.last else { continue }
      let middle = sorted.count / 2
      result[keyPath: path] =
        path == \Measurement.peakKiB
        ? last
        : sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
    return result
  }
}
