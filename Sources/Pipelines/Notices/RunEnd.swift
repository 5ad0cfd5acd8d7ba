import JSON
import Ledger
import System

/// The figures of a finished run, for metrics, notifications and the closing table.
///
/// It contains no values of records.
package struct RunEnd: Sendable {
  /// The outcome of a run as one word.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// Everything was done.
    case success
    /// The run completed, and some items need review.
    case attention
    /// The run failed, at least in part.
    case failure
  }

  /// The duration of one user's prime.
  package struct Slow: Sendable, Hashable {
    package let username: String
    /// The time from its start to its publication or failure.
    package let seconds: Double
  }

  package let pipeline: String
  /// The run's ID; nil if it did not start.
  package internal(set) var run: String?
  /// The start time by this machine's clock, in ms.
  package let began: Int64
  /// The end time by this machine's clock, in ms.
  package internal(set) var ended: Int64
  package internal(set) var status = ExitStatus.done
  /// The error, if the run failed.
  package internal(set) var error: PipelineError?
  package internal(set) var costs: [StageCost] = []
  /// Whether it ran all stages for all users.
  ///
  /// A partial run says nothing about the pipeline as a whole.
  package internal(set) var isWhole = false
  /// The number of edits by verdict; nil, like the next figures, if the run ended before they were
  /// counted.
  package internal(set) var verdicts: [Verdict: Int]?
  /// The number of open edits by verdict, including those of earlier runs; nil if not counted.
  package internal(set) var open: [Verdict: Int]?
  /// The number of other open items, by kind.
  package internal(set) var findings: [Finding.Kind: Int]?
  /// The number of snapshots that were primed.
  package internal(set) var snapshots: Int?
  /// The number of primed snapshots that changed.
  package internal(set) var changed = 0
  /// The number of bundles written.
  package internal(set) var bundles: Int?
  /// The findings that need review or another run.
  package internal(set) var reasons: [RunFinding] = []
  /// The directory of its report.
  package internal(set) var report: String?
  /// The ten users whose prime took longest, in descending order.
  package private(set) var slowest: [Slow] = []

  init(pipeline: String, began: Int64) {
    (self.pipeline, self.began, ended) = (pipeline, began, began)
  }

  /// The number of slowest users that are kept.
  private static let mostSlow = 10

  mutating func note(_ username: String, seconds: Double) {
    slowest.append(Slow(username: username, seconds: seconds))
    slowest.sort { ($1.seconds, $0.username) < ($0.seconds, $1.username) }
    slowest.removeLast(max(0, slowest.count - Self.mostSlow))
  }

  /// The outcome as one word.
  package var outcome: Outcome {
    switch status {
    case .done: .success
    case .needsAttention: .attention
    default: .failure
    }
  }

  /// Whether it was a whole run that completed its work.
  ///
  /// False if no user could be served.
  package var didItsWork: Bool {
    let servedNobody = snapshots == 0 && (findings?[.userSkipped] ?? 0) > 0
    return isWhole && outcome != .failure && !servedNobody
  }

  package var seconds: Double { Double(max(0, ended - began)) / 1000 }

  /// The outcome as one sentence.
  package var words: String {
    let name = "attache: \(pipeline)"
    if let error { return "\(name): \(error.message) [\(error.code)]" }
    var parts = outcome == .failure ? reasons.map(\.rawValue) : []
    let edits = (verdicts ?? [:]).values.reduce(0, +)
    if edits > 0 { parts.append(CountText.of(edits, "edit") + " processed") }
    let left = (open ?? [:]).values.reduce(0, +)
    if left > 0 { parts.append(CountText.of(left, "edit") + " open") }
    let told = (findings ?? [:]).filter { $0.key.wantsPerson }.values.reduce(0, +)
    if told > 0 { parts.append(CountText.of(told, "finding") + " to review") }
    if let snapshots, snapshots > 0 {
      let of = changed == 0 ? "none of them" : changed == snapshots ? "all" : "\(changed) of them"
      parts.append(CountText.of(snapshots, "snapshot") + " primed, \(of) changed")
    }
    return "\(name): \(outcome.rawValue): "
      + (parts.isEmpty ? "nothing was due" : parts.joined(separator: ", "))
  }

  /// A later warning as one JSON object.
  package func warning(_ text: String) -> JSONValue {
    var object: JSONObject = [
      "type": "warning", "message": .string(text),
      "time": .string(Dates.utc(Clock.wallMilliseconds())), "pipeline": .string(pipeline),
    ]
    object["run"] = run.map { .string($0) }
    return .object(object)
  }

  /// The JSON object that notifications contain.
  package var json: JSONValue {
    var object: JSONObject = [
      "type": "runEnded", "pipeline": .string(pipeline), "outcome": .string(outcome.rawValue),
      "status": JSONValue(Int(status.rawValue)), "words": .string(words),
      "began": .string(Dates.utc(began)), "ended": .string(Dates.utc(ended)),
      "stages": .array(costs.map(\.json)),
    ]
    object["verdicts"] = verdicts.map(Verdict.counts)
    if !reasons.isEmpty { object["reasons"] = JSONValue(reasons.map(\.rawValue)) }
    object["run"] = run.map { .string($0) }
    object["open"] = open.map(Verdict.counts)
    object["findings"] = findings.map(Finding.Kind.counts)
    object["report"] = report.map { .string($0) }
    if let error {
      object["error"] = ["code": .string(error.code), "message": .string(error.message)]
    }
    return .object(object)
  }
}
