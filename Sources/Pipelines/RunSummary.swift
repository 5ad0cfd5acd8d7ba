import JSON
import Ledger

/// What a run did, in the end.
package struct RunSummary: Sendable {
  /// Why a run that did its work still wants a person's eye; each means exit status 3 or worse.
  package enum Finding: String, Sendable, CaseIterable {
    /// A user's snapshot could not be primed.
    case skippedUser
    /// A return was refused.
    case quarantined
    /// Edits wait for a person, or were refused.
    case unsettledEdits
    /// More would have been deleted than the guard allows.
    case guardTripped
    /// The org could not be reached, or a limit or the deadline was reached: try again later.
    case limitReached
    /// The org refused the login in the middle of the work.
    case loginFailed
    /// A snapshot could not be made, and the org is not to blame: the disk, or a store.
    case failedSnapshot
    /// The org's rules failed for a briefcase, or records could not be read.
    case incompleteData
  }

  /// One snapshot.
  package struct Snapshot: Sendable {
    /// The user's 18-character id, or `global`.
    package var id: String
    /// The user.
    package var username: String
    /// The generation that stands now.
    package var generation: Int
    /// Whether this run made it.
    package var changed: Bool
    /// What happened to its soups.
    package var soups: [SoupChange]
  }

  /// The run.
  package var run = ""
  /// The pipeline.
  package var pipeline = ""
  /// Returns ingested, known before, refused, and left where they are.
  package var returns = (ingested: 0, known: 0, quarantined: 0, left: 0)
  /// Edits that the returns brought, how many of them were new, and how many are known and not
  /// settled yet.
  package var edits = (found: 0, new: 0, known: 0)
  /// What became of the edits that this run took up.
  package var verdicts: [Verdict: Int] = [:]
  /// The edits that are not settled when the run ends, those of earlier runs too.
  package var open: [Verdict: Int] = [:]
  /// What else waits for a person then, by kind.
  package var waiting: [Ledger.Finding.Kind: Int] = [:]
  /// The directory of the report, if there was anything to report.
  package var report: String?
  /// The snapshots primed.
  package var snapshots: [Snapshot] = []
  /// The bundles written.
  package var bundles: [String] = []
  /// What a person should know.
  package var warnings: [String] = []
  /// Requests sent to the org.
  package var requests = 0
  /// Why the run wants a person's eye.
  package var findings: Set<Finding> = []
  /// What a dry run would do, in lines.
  package var plan: [String] = []

  /// What the run ends with, if nothing stopped it.
  package var exitStatus: Int32 {
    if findings.contains(.failedSnapshot) { return 1 }
    if findings.contains(.loginFailed) { return 5 }
    if findings.contains(.limitReached) { return 6 }
    return findings.isEmpty ? 0 : 3
  }

  /// Nothing done yet.
  package init() {}

  /// The summary as JSON, the `result` of the last line of `--json`.
  package var json: JSONValue {
    func number(_ value: Int) -> JSONValue { .number(String(value)) }
    func counts(_ verdicts: [Verdict: Int]) -> JSONValue {
      var object = JSONObject()
      for verdict in Verdict.allCases {
        if let count = verdicts[verdict], count > 0 { object[verdict.rawValue] = number(count) }
      }
      return .object(object)
    }
    var waitingCounts = JSONObject()
    for kind in Ledger.Finding.Kind.allCases {
      if let count = waiting[kind], count > 0 { waitingCounts[kind.rawValue] = number(count) }
    }
    var object: JSONObject = [
      "run": .string(run), "pipeline": .string(pipeline),
      "returns": .object([
        "ingested": number(returns.ingested), "known": number(returns.known),
        "quarantined": number(returns.quarantined), "left": number(returns.left),
      ]),
      "edits": .object([
        "found": number(edits.found), "new": number(edits.new), "known": number(edits.known),
      ]),
      "verdicts": counts(verdicts), "open": counts(open), "waiting": .object(waitingCounts),
      "snapshots": .array(
        snapshots.map {
          .object([
            "id": .string($0.id), "username": .string($0.username),
            "generation": number($0.generation), "changed": .bool($0.changed),
            "soups": .array($0.soups.map(\.json)),
          ])
        }),
      "bundles": .array(bundles.map { .string($0) }),
      "requests": number(requests),
      "findings": .array(findings.map(\.rawValue).sorted().map { .string($0) }),
    ]
    if let report { object["report"] = .string(report) }
    if !plan.isEmpty { object["plan"] = .array(plan.map { .string($0) }) }
    return .object(object)
  }
}
