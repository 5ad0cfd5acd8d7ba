import JSON
import Ledger
import System

/// What a finished run came to, as a point of the chart of runs.
package struct EarlierRun: Sendable, Hashable {
  /// The largest number of runs in the chart, including the report's own.
  package static let most = 30

  package let run: String
  /// When it started, in ms of this machine's clock.
  package let started: Int64
  package let edits: Int
  /// Edits that were open when it ended.
  package let open: Int
  /// Records that it read and wrote.
  package let records: Int
  package let seconds: Double

  package init(
    run: String, started: Int64, edits: Int, open: Int, records: Int, seconds: Double
  ) {
    (self.run, self.started, self.edits, self.open) = (run, started, edits, open)
    (self.records, self.seconds) = (records, seconds)
  }

  /// The facts of a run; nil for one that did not finish.
  init?(_ row: RunRow) {
    guard let ended = row.ended, let text = row.summary,
      let summary = try? JSONValue(parsing: text),
      let edits = summary["edits"]?["found"]?.int
    else { return nil }
    run = row.id
    started = row.started
    self.edits = Int(edits)
    open = (summary["open"]?.object ?? [:]).reduce(0) { $0 + Int($1.value.int ?? 0) }
    records = (summary["stages"]?.array ?? []).reduce(0) { $0 + Int($1["records"]?.int ?? 0) }
    seconds = Double(max(0, ended - row.started)) / 1000
  }
}
