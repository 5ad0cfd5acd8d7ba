import Pipelines

/// The cost of a run, as shown on a terminal at its end.
enum ClosingTable {
  /// Returns a line for each stage, and the slowest users if there are several; empty if no stage
  /// finished.
  static func lines(_ end: RunEnd) -> [String] {
    if end.costs.isEmpty { return [] }
    var lines = TextTable.lines(
      header: ["stage", "rows", "requests", "received", "time"],
      rows: end.costs.map { cost in
        [
          cost.stage.rawValue, String(cost.records), String(cost.requests),
          ByteCount.text(cost.bytes), cost.duration,
        ]
      }, isCut: true)
    if end.slowest.count > 1 {
      lines.append("slowest:")
      lines += end.slowest.map { slow in
        "  \(DurationText.of(seconds: slow.seconds))  \(slow.username)"
      }
    }
    return lines
  }
}
