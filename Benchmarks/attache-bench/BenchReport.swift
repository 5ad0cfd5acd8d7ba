import JSON

/// The results of a workload.
protocol BenchReport {
  /// The limits that are exceeded.
  var failures: [String] { get }
  /// A table, and the limits that are exceeded.
  var text: String { get }
  /// The results as JSON.
  var json: JSONValue { get }
}
