import Ledger
import System

/// Follows the events of one run, adds their context, and sums up the run at the end.
///
/// The lines of `--json`, the log file, the metrics and the notifications are built from its
/// results.
package final class RunWatch: Sendable {
  fileprivate struct State {
    var run: String?
    var stage: Stage?
    /// The user names by snapshot.
    var usernames: [String: String] = [:]
    /// The start times of primes by snapshot, in monotonic nanoseconds.
    var began: [String: UInt64] = [:]
    var end: RunEnd
  }

  private let state: Locked<State>

  /// Starts to follow a run of `pipeline`.
  package init(pipeline: String) {
    let end = RunEnd(pipeline: pipeline, began: Clock.wallMilliseconds())
    state = Locked(State(end: end))
  }

  /// Processes an event as it happens.
  package func see(_ event: RunEvent) -> SeenEvent {
    let (time, moment) = (Clock.wallMilliseconds(), Clock.monotonicNanoseconds())
    return state.withLock { state in
      // A stage's start and end events belong to that stage.
      let before = state.stage
      state.take(event, at: moment)
      return SeenEvent(
        time: time, pipeline: state.end.pipeline, run: state.run, stage: before ?? state.stage,
        username: (event.username ?? event.snapshot.flatMap { state.usernames[$0] }).flatMap {
          $0 == SnapshotID.global ? nil : $0
        }, event: event)
    }
  }

  /// Returns the run's outcome; it ended now with `status`.
  ///
  /// `options` are its options.
  package func end(
    _ status: ExitStatus, summary: RunSummary?, error: PipelineError? = nil, of options: RunOptions
  ) -> RunEnd {
    var end = state.withLock { $0.end }
    let isLast =
      options.part == .whole
      ? options.stages == Set(Stage.allCases) : options.part == .collect
    end.isWhole = isLast && options.users.isEmpty && options.only == nil
    (end.status, end.error, end.ended) = (status, error, Clock.wallMilliseconds())
    if let summary {
      (end.verdicts, end.snapshots) = (summary.verdicts, summary.snapshots.count)
      end.changed = summary.snapshots.count(where: \.changed)
      end.reasons = summary.findings.sorted { $0.rawValue < $1.rawValue }
      (end.bundles, end.report) = (summary.bundles.count, summary.report)
    }
    return end
  }
}

extension RunWatch.State {
  fileprivate mutating func take(_ event: RunEvent, at moment: UInt64) {
    switch event {
    case .runStarted(let run, _, _): (self.run, end.run) = (run, run)
    case .stageStarted(let stage): self.stage = stage
    case .stageFinished(let cost):
      stage = nil
      end.costs.append(cost)
    case .snapshotStarted(let snapshot, let username, _, _, _):
      usernames[snapshot] = username
      began[snapshot] = moment
    case .snapshotPrimed(let snapshot, let username, _, _, _),
      .snapshotSkipped(let snapshot, let username, _):
      guard let start = began.removeValue(forKey: snapshot) else { break }
      end.note(username, seconds: Double(moment - start) / 1e9)
    case .leftOpen(let edits, let findings): (end.open, end.findings) = (edits, findings)
    case .reportWritten(let path): end.report = path
    default: break
    }
  }
}

extension RunEvent {
  fileprivate var snapshot: String? {
    switch self {
    case .returnIngested(_, let snapshot, _, _, _, _), .soupProgress(let snapshot, _, _, _),
      .bundleWritten(let snapshot, _, _, _, _), .snapshotStarted(let snapshot, _, _, _, _),
      .snapshotPrimed(let snapshot, _, _, _, _), .snapshotSkipped(let snapshot, _, _):
      snapshot
    default: nil
    }
  }

  /// The user that the event names.
  fileprivate var username: String? {
    switch self {
    case .snapshotStarted(_, let username, _, _, _), .snapshotPrimed(_, let username, _, _, _),
      .snapshotSkipped(_, let username, _), .bundleWritten(_, let username, _, _, _):
      username
    case .returnIngested(_, _, let username, _, _, _), .returnKnown(_, let username): username
    default: nil
    }
  }
}
