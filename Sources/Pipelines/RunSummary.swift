import JSON
import Ledger
import Reconciliation
import System

/// What a run did, in the end.
package struct RunSummary: Sendable {
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
    package var soups: [PrimedSoup]
  }

  /// The run.
  package var run = ""
  /// The pipeline.
  package var pipeline = ""
  /// The word that names it in a command (`Pipeline.called`).
  package var called = ""
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
  package var waiting: [Finding.Kind: Int] = [:]
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
  /// What each stage asked of the org, and how long it took.
  package var costs: [StageCost] = []
  /// What a dry run expects the stages to ask of the org.
  package var forecasts: [StageForecast] = []
  /// Why the run wants a person's eye.
  package var findings: Set<RunFinding> = []
  /// The commands that send what a guard holds.
  package var confirm: [String] = []
  /// What was removed as it was old.
  package var pruned = KeepPlan()
  /// What a dry run would do with each edit.
  package var planned: [PlannedOutcome] = []
  /// What a dry run would do, in lines.
  package var plan: [String] = []

  /// What the run ends with, if nothing stopped it.
  package var exitStatus: ExitStatus { .told(of: findings.map(\.exitStatus)) }

  /// Nothing done yet.
  package init() {}

  /// The summary as JSON, the `result` of the last line of `--json`.
  package var json: JSONValue {
    func number(_ value: Int) -> JSONValue { .number(String(value)) }
    var object: JSONObject = [
      "run": .string(run), "pipeline": .string(pipeline),
      "returns": .object([
        "ingested": number(returns.ingested), "known": number(returns.known),
        "quarantined": number(returns.quarantined), "left": number(returns.left),
      ]),
      "edits": .object([
        "found": number(edits.found), "new": number(edits.new), "known": number(edits.known),
      ]),
      "verdicts": Verdict.counts(verdicts), "open": Verdict.counts(open),
      "waiting": Finding.Kind.counts(waiting),
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
    if !costs.isEmpty { object["stages"] = .array(costs.map(\.json)) }
    if !forecasts.isEmpty { object["expected"] = .array(forecasts.map(\.json)) }
    if !confirm.isEmpty { object["confirm"] = JSONValue(confirm) }
    if !pruned.isEmpty { object["pruned"] = .object(pruned.totals) }
    if let report { object["report"] = .string(report) }
    if !plan.isEmpty { object["plan"] = .array(plan.map { .string($0) }) }
    return .object(object)
  }
}
