import JSON

/// What a workload measured.
protocol BenchReport {
  /// What was promised and is not so.
  var failures: [String] { get }
  /// A table and what is not as promised.
  var text: String { get }
  /// The same for a machine.
  var json: JSONValue { get }
}
