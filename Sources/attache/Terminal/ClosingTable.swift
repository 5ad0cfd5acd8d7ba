import Pipelines

/// What a run took, as a person reads it on a terminal when it has ended.
enum ClosingTable {
  /// A line for each stage, and the users who took longest where there are several; none where no stage ended.
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
