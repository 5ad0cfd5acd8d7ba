import JSON
import Ledger
import System

/// What a run came to, in figures, for those who were not there: the metrics, notifications, the closing table.
///
/// It holds no value of a record.
package struct RunEnd: Sendable {
  /// What a run came to, in a word.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// Everything is done.
    case success
    /// It has ended, and something waits for a person.
    case attention
    /// It could not do its work, or not all of it.
    case failure
  }

  /// How long one user's prime took.
  package struct Slow: Sendable, Hashable {
    /// The user.
    package let username: String
    /// From its begin to its publication or its failure.
    package let seconds: Double
  }

  /// The pipeline's name.
  package let pipeline: String
  /// The run; nil for one that did not begin.
  package internal(set) var run: String?
  /// When it began, by this machine's clock, in ms.
  package let began: Int64
  /// When it ended.
  package internal(set) var ended: Int64
  /// What the program ends with.
  package internal(set) var status = ExitStatus.done
  /// Why it failed.
  package internal(set) var error: PipelineError?
  /// What each stage took that came to its end.
  package internal(set) var costs: [StageCost] = []
  /// Whether it was to do everything for everybody: a stage by itself, or one user's, says nothing of a night.
  package internal(set) var isWhole = false
  /// The verdicts that it gave; nil where it ended before they were counted, as with the next figures.
  package internal(set) var verdicts: [Verdict: Int]?
  /// The edits that are not settled, of earlier runs too; empty where the run ended before they were counted.
  package internal(set) var open: [Verdict: Int]?
  /// What else waits for a person.
  package internal(set) var findings: [Finding.Kind: Int]?
  /// How many snapshots were primed.
  package internal(set) var snapshots: Int?
  /// How many of them changed.
  package internal(set) var changed = 0
  /// How many bundles were written.
  package internal(set) var bundles: Int?
  /// What it found that wants a person, or another run.
  package internal(set) var reasons: [RunFinding] = []
  /// The directory of its report.
  package internal(set) var report: String?
  /// The ten users whose prime took longest, the longest first.
  package private(set) var slowest: [Slow] = []

  init(pipeline: String, began: Int64) {
    (self.pipeline, self.began, ended) = (pipeline, began, began)
  }

  /// How many users are kept as the slowest.
  private static let mostSlow = 10

  mutating func note(_ username: String, seconds: Double) {
    slowest.append(Slow(username: username, seconds: seconds))
    slowest.sort { ($1.seconds, $0.username) < ($0.seconds, $1.username) }
    slowest.removeLast(max(0, slowest.count - Self.mostSlow))
  }

  /// What it came to.
  package var outcome: Outcome {
    switch status {
    case .done: .success
    case .needsAttention: .attention
    default: .failure
    }
  }

  /// Says whether it was a night's whole work, and was done: not where nobody could be served.
  package var didItsWork: Bool {
    let servedNobody = snapshots == 0 && (findings?[.userSkipped] ?? 0) > 0
    return isWhole && outcome != .failure && !servedNobody
  }

  /// How long it took.
  package var seconds: Double { Double(max(0, ended - began)) / 1000 }

  /// In a sentence.
  package var words: String {
    let name = "attache: \(pipeline)"
    if let error { return "\(name): \(error.message) [\(error.code)]" }
    var parts = outcome == .failure ? reasons.map(\.rawValue) : []
    let edits = (verdicts ?? [:]).values.reduce(0, +)
    if edits > 0 { parts.append(ByteCount.count(edits, "edit") + " taken up") }
    let left = (open ?? [:]).values.reduce(0, +)
    if left > 0 { parts.append(ByteCount.count(left, "edit") + " not settled") }
    let told = (findings ?? [:]).filter { $0.key.wantsPerson }.values.reduce(0, +)
    if told > 0 { parts.append(ByteCount.count(told, "finding") + " for a person") }
    if let snapshots, snapshots > 0 {
      let of = changed == 0 ? "none of them" : changed == snapshots ? "all" : "\(changed) of them"
      parts.append(ByteCount.count(snapshots, "snapshot") + " primed, \(of) changed")
    }
    return "\(name): \(outcome.rawValue): "
      + (parts.isEmpty ? "nothing was due" : parts.joined(separator: ", "))
  }

  /// A warning that came after it, as one JSON object.
  package func warning(_ text: String) -> JSONValue {
    var object: JSONObject = [
      "type": "warning", "message": .string(text),
      "time": .string(Dates.utc(Clock.wallMilliseconds())), "pipeline": .string(pipeline),
    ]
    object["run"] = run.map { .string($0) }
    return .object(object)
  }

  /// As one JSON object: what notifications say.
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
