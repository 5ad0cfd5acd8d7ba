import JSON
import System

/// What a worker did.
package struct WorkSummary: Sendable {
  package var pipeline = ""
  package var shard = ""
  /// The number of orders that the run wrote; nil if there are none to perform.
  package var orders: Int?
  /// The number of orders that this worker completed.
  package var done = 0
  /// The number of orders that were complete before.
  package var elsewhere = 0
  /// The number of orders that were left because another worker has claimed them.
  package var claimed = 0
  /// The number of orders of which a part waits for another attempt.
  package var unfinished = 0
  /// The number of snapshots primed.
  package var snapshots = 0
  /// The number of snapshots that could not be primed.
  package var failed = 0
  /// The number of requests sent to the org.
  package var requests = 0
  /// The findings that the run will report.
  package var findings: Set<RunFinding> = []

  /// The exit status, unless an error stopped the worker.
  package var exitStatus: ExitStatus { .told(of: findings.map(\.exitStatus)) }

  package var json: JSONValue {
    [
      "pipeline": .string(pipeline), "shard": .string(shard),
      "orders": orders.map { JSONValue($0) } ?? .null, "done": JSONValue(done),
      "elsewhere": JSONValue(elsewhere), "claimed": JSONValue(claimed),
      "unfinished": JSONValue(unfinished), "snapshots": JSONValue(snapshots),
      "failed": JSONValue(failed), "requests": JSONValue(requests),
      "findings": JSONValue(findings.map(\.rawValue).sorted()),
    ]
  }

  /// One line for a terminal.
  package var text: String {
    guard let orders else { return "there are no orders to perform" }
    var parts = [
      "\(done) of \(CountText.of(orders, "order"))",
      "\(CountText.of(snapshots, "snapshot")) primed",
    ]
    if failed > 0 { parts.append("\(failed) failed") }
    if unfinished > 0 { parts.append("\(CountText.of(unfinished, "order")) unfinished") }
    if elsewhere > 0 { parts.append("\(elsewhere) complete before") }
    if claimed > 0 { parts.append("\(claimed) left to workers who have claimed them") }
    return "worker \(shard): " + parts.joined(separator: ", ")
  }
}
