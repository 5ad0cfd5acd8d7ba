import MobileSync
import Pipelines
import System

/// The text of events.
enum EventText {
  static func line(for event: RunEvent) -> String? {
    switch event {
    case .runStarted(let run, _, let resumed):
      return resumed ? "run \(run) is resumed" : nil
    // The summary contains the report's path and the open items.
    case .stageStarted, .stageFinished, .soupProgress, .editsSettled, .reportWritten, .leftOpen,
      .snapshotStarted, .retrying:
      return nil
    case .returnIngested(let name, let snapshot, let username, let edits, let new, let leftAlone):
      let known = edits - new
      return "ingest: \(name) from \(username ?? snapshot): \(CountText.of(new, "new edit"))"
        + (known > 0 ? ", \(known) already known" : "")
        + (leftAlone.isEmpty ? "" : "; left alone: \(leftAlone.joined(separator: ", "))")
    case .returnKnown(let name, _): return "ingest: \(name) was already ingested; nothing to do"
    case .returnQuarantined(let name, let code, let reason):
      return "ingest: \(name) was refused: \(reason)   [\(code)]"
    case .returnLeft(let name, let code, let reason):
      return "ingest: \(name) was left in place: \(reason)   [\(code)]"
    case .snapshotPrimed(_, let username, let generation, let changed, let soups):
      guard changed else { return "prime: \(username): nothing changed" }
      let list = soups.filter { $0.fetched > 0 || $0.removed > 0 }.map(soup).joined(separator: ", ")
      let isOther = soups.allSatisfy { $0.written == 0 && $0.removed == 0 }
      return "prime: \(username): generation \(generation): \(list.isEmpty ? "no records" : list)"
        + (isOther ? "; a new generation, because other content changed, such as an open edit" : "")
    case .snapshotSkipped(_, let username, let reason):
      return "prime: \(username) skipped: \(reason)"
    case .bundleWritten(_, _, _, let path, let bytes):
      return "pack: \(path) (\(ByteCount.text(bytes)))"
    case .published(let summary): return "publish: \(summary.text)"
    case .warning(let text): return "warning: \(text)"
    }
  }

  /// Returns the line of an event in a log file, if it has one.
  ///
  /// Log files have more events than a terminal.
  static func logLine(for event: RunEvent) -> String? {
    switch event {
    case .runStarted(_, _, let resumed): resumed ? "resumed" : "started"
    case .stageStarted(let stage): "\(stage.rawValue): started"
    case .stageFinished(let cost):
      "\(cost.stage.rawValue): finished: "
        + (cost.stage == .pack ? "" : cost.words + ", ") + cost.duration
    case .reportWritten(let path): "report: \(path)"
    case .retrying(let request, let reason, let attempt, let most, let milliseconds):
      "\(retrying(reason, attempt, of: most, milliseconds)): \(request)"
    case .leftOpen(let edits, let findings):
      "open: \(CountText.of(edits.values.reduce(0, +), "edit")), "
        + CountText.of(findings.filter { $0.key.wantsPerson }.values.reduce(0, +), "finding")
    default: line(for: event)
    }
  }

  /// Returns the status of an active run for a service manager.
  static func status(of event: RunEvent) -> String? {
    switch event {
    case .stageStarted(let stage): stage.rawValue
    case .snapshotStarted(_, let username, let number, let total, _):
      "prime: \(number) of \(CountText.of(total, "snapshot")), \(username)"
    case .editsSettled(let done, let total): settled(done, of: total)
    case .retrying(_, let reason, let attempt, let most, let milliseconds):
      retrying(reason, attempt, of: most, milliseconds)
    default: nil
    }
  }

  /// Returns the line for a repeated request: "org unreachable, retry 2 of 6 in 4 s".
  static func retrying(
    _ reason: String, _ attempt: Int, of most: Int, _ milliseconds: Int
  ) -> String {
    let state = reason.hasPrefix("HTTP ") ? "org answered \(reason)" : "org unreachable"
    let pause =
      milliseconds < 1000
      ? "\(milliseconds) ms" : DurationText.of(seconds: Double(milliseconds) / 1000)
    return "\(state), retry \(attempt) of \(most) in \(pause)"
  }

  // MARK: the status line

  /// The number of primed snapshots, the current user, and the remaining time.
  static func users(_ progress: Progress.Users) -> String {
    var text =
      "\(progress.number) of \(CountText.of(progress.total, "snapshot")), \(progress.username)"
    if let left = progress.secondsLeft { text += ", about \(DurationText.of(seconds: left)) left" }
    if let requests = progress.requestsLeft {
      text += ", \(CountText.of(requests, "request")) left"
    }
    return text
  }

  /// The progress of a soup: records, their total if known, and the speed.
  static func fetched(_ count: Int, of total: Int?, into soup: String, seconds: Double) -> String {
    var text = "prime: \(soup) \(count)"
    if let total, total > 0 { text += " of \(total) (\(min(100, count * 100 / total)) %)" }
    if seconds > 0.2 { text += ", \(Int(Double(count) / seconds)) records/s" }
    return text
  }

  /// The number of edits that have a verdict.
  static func settled(_ done: Int, of total: Int) -> String {
    "reconcile: \(done) of \(CountText.of(total, "edit")) processed"
  }

  /// The progress of a sync of a live store.
  static func sync(_ state: SyncState) -> String {
    "sync: \(state.name ?? "") \(state.progress) % of \(state.totalSize)"
  }

  private static func soup(_ change: PrimedSoup) -> String {
    var text = "\(change.soup) \(change.written) written"
    if change.unchanged > 0 { text += " (\(change.unchanged) read again, unchanged)" }
    if change.removed > 0 { text += " (\(change.removed) removed)" }
    return text
  }
}
