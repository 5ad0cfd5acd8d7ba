import JSON
import Ledger
import Reports
import System

/// The result of a run.
package struct RunSummary: Sendable {
  /// One snapshot.
  package struct Snapshot: Sendable {
    /// The user's 18-character ID, or `global`.
    package var id: String
    package var username: String
    package var generation: Int
    /// Whether this run made the generation.
    package var changed: Bool
    package var soups: [PrimedSoup]
  }

  /// The orders of a run.
  package struct Work: Sendable, Hashable {
    package var orders: Int
    /// The number of snapshots in the orders.
    package var snapshots: Int
    /// The number of snapshots that no worker has primed.
    package var missing = 0
    /// Whether the orders wait for workers.
    package var isWaiting = false

    package init(orders: Int, snapshots: Int) {
      (self.orders, self.snapshots) = (orders, snapshots)
    }
  }

  package var run = ""
  package var pipeline = ""
  /// The number of returns ingested, known before, quarantined, and left in the inbox.
  package var returns = (ingested: 0, known: 0, quarantined: 0, left: 0)
  /// The number of edits in the returns, of new ones, and of known ones that are still open.
  package var edits = (found: 0, new: 0, known: 0)
  /// The number of processed edits by verdict.
  package var verdicts: [Verdict: Int] = [:]
  /// What an operator should do about the run's edits, by verdict.
  package var steps: [Verdict: String] = [:]
  /// The number of open edits at the end of the run, including those of earlier runs, by verdict.
  package var open: [Verdict: Int] = [:]
  /// The number of other items that need review, by kind.
  package var waiting: [Finding.Kind: Int] = [:]
  /// The skipped users, with a note if an earlier run skipped them.
  package var skipped: [String] = []
  /// The directory of the report; nil if there was nothing to report.
  package var report: String?
  package var snapshots: [Snapshot] = []
  /// The number of records that stores have from other users' requests.
  package var sharedRecords = 0
  /// The orders that were written or collected; nil if there are none.
  package var work: Work?
  package var bundles: [String] = []
  package var warnings: [String] = []
  /// The number of requests sent to the org.
  package var requests = 0
  package var costs: [StageCost] = []
  /// The expected cost of each stage in a dry run.
  package var forecasts: [StageForecast] = []
  /// The findings that need review.
  package var findings: Set<RunFinding> = []
  /// The commands that send the held changes.
  package var confirm: [String] = []
  package var published = PublishSummary()
  package var pruned = KeepPlan()
  /// The expected outcome of each edit in a dry run.
  package var planned: [PlannedOutcome] = []
  /// The plan of a dry run, as lines.
  package var plan: [String] = []

  /// The exit status, unless an error stopped the run.
  package var exitStatus: ExitStatus { .told(of: findings.map(\.exitStatus)) }

  /// Creates an empty summary.
  package init() {}

  /// The summary as JSON, which is `result` in the last line of `--json`.
  package var json: JSONValue {
    var object: JSONObject = [
      "run": .string(run), "pipeline": .string(pipeline),
      "returns": .object([
        "ingested": JSONValue(returns.ingested), "known": JSONValue(returns.known),
        "quarantined": JSONValue(returns.quarantined), "left": JSONValue(returns.left),
      ]),
      "edits": .object([
        "found": JSONValue(edits.found), "new": JSONValue(edits.new),
        "known": JSONValue(edits.known),
      ]),
      "verdicts": Verdict.counts(verdicts), "open": Verdict.counts(open),
      "waiting": Finding.Kind.counts(waiting),
      "snapshots": .array(
        snapshots.map {
          .object([
            "id": .string($0.id), "username": .string($0.username),
            "generation": JSONValue($0.generation), "changed": .bool($0.changed),
            "soups": .array($0.soups.map(\.json)),
          ])
        }),
      "bundles": .array(bundles.map { .string($0) }),
      "requests": JSONValue(requests),
      "findings": .array(findings.map(\.rawValue).sorted().map { .string($0) }),
    ]
    if !costs.isEmpty { object["stages"] = .array(costs.map(\.json)) }
    if !forecasts.isEmpty { object["expected"] = .array(forecasts.map(\.json)) }
    if !confirm.isEmpty { object["confirm"] = JSONValue(confirm) }
    if let work {
      object["work"] = [
        "orders": JSONValue(work.orders), "snapshots": JSONValue(work.snapshots),
        "missing": JSONValue(work.missing), "waiting": .bool(work.isWaiting),
      ]
    }
    if !published.isEmpty { object["published"] = published.json() }
    if !pruned.isEmpty { object["pruned"] = .object(pruned.totals) }
    if let report { object["report"] = .string(report) }
    if !plan.isEmpty { object["plan"] = .array(plan.map { .string($0) }) }
    return .object(object)
  }
}

extension RunSummary {
  /// Adds the cost of a stage, of which an earlier part may be known.
  mutating func add(_ cost: StageCost) {
    guard let index = costs.firstIndex(where: { $0.stage == cost.stage }) else {
      costs.append(cost)
      return
    }
    costs[index].requests += cost.requests
    costs[index].records += cost.records
    costs[index].used += cost.used
    costs[index].bytes += cost.bytes
    costs[index].milliseconds += cost.milliseconds
  }

  /// Adds the counts of the run's part before its orders, from the JSON form of that summary.
  mutating func add(earlier: JSONValue) {
    func count(_ object: String, _ member: String) -> Int {
      Int(earlier[object]?[member]?.int ?? 0)
    }
    returns.ingested += count("returns", "ingested")
    returns.known += count("returns", "known")
    returns.quarantined += count("returns", "quarantined")
    returns.left += count("returns", "left")
    edits.found += count("edits", "found")
    edits.new += count("edits", "new")
    edits.known += count("edits", "known")
    for verdict in Verdict.allCases {
      let processed = count("verdicts", verdict.rawValue)
      if processed > 0 { verdicts[verdict, default: 0] += processed }
    }
    for cost in (earlier["stages"]?.array ?? []).compactMap(StageCost.init) { add(cost) }
    requests += Int(earlier["requests"]?.int ?? 0)
  }
}
