import JSON
import LocalOrg
import MobileSync
import Salesforce

/// The results of `FleetBench`.
struct FleetReport: BenchReport {
  /// The limits of a run's time, as a multiple of the minimum of its requests, and of its memory.
  private static let (mostTime, mostMiB) = (1.3, 160.0)

  /// One run, with the org's totals.
  struct Run {
    let timed: BriefcaseReport.Run
    let totals: RequestLog.Totals

    init(_ timed: BriefcaseReport.Run, _ totals: RequestLog.Totals) {
      (self.timed, self.totals) = (timed, totals)
    }
  }

  private typealias Arm = (kind: FleetBench.Kind, mode: RecordPool.Mode, run: Run)

  private let users: Int
  private let shared: Int
  private let own: Int
  private let latency: Int
  /// The machine's load.
  var load = MachineLoad()
  private var arms: [Arm] = []

  init(_ options: BenchOptions, shared: Int, own: Int) {
    (users, latency) = (options.users, options.latency)
    (self.shared, self.own) = (shared, own)
  }

  mutating func add(_ kind: FleetBench.Kind, _ mode: RecordPool.Mode, _ run: Run) {
    arms.append((kind, mode, run))
  }

  private func ratio(_ run: Run) -> Double {
    let least = run.timed.least(latency, BriefcaseBench.concurrency)
    return Double(run.timed.told.wall) / Double(max(1, least))
  }

  private static func times(_ number: Int, of size: Int) -> Int { (number + size - 1) / size }

  /// The calls that list for each user, and that fetch what the user alone lists; those that fetch
  /// what is shared; and those of the first user, who learns how to divide a list.
  private func mostCalls(_ kind: FleetBench.Kind) -> Int {
    let each = shared + own
    let (lists, slack) =
      kind == .soql
      ? (Self.times(each, of: 5 * IDRanges.expected), 1.15)
      : (Self.times(each, of: RequestLimits.retrieve), 1)
    let fetches = Self.times(own, of: 5 * RequestLimits.retrieve)
    return Int(Double((lists + fetches) * users) * slack)
      + Self.times(shared, of: 5 * RequestLimits.retrieve) + 6
  }

  /// The limits that are exceeded.
  var failures: [String] {
    var failures: [String] = []
    func check(_ isHeld: Bool, _ kind: FleetBench.Kind, _ words: String) {
      if !isHeld { failures.append("by \(kind.rawValue): \(words)") }
    }
    // The users are records too.
    let records = users + (shared + users * own) * 51 / 50 + (users - 1) * RecordPool.sampleSize
    for (kind, mode, run) in arms where mode != .never {
      let (totals, calls) = (run.totals, mostCalls(kind))
      check(totals.calls <= calls, kind, "\(totals.calls) calls; the limit is \(calls)")
      check(totals.records <= records, kind, "\(totals.records) records; the limit is \(records)")
      if let direct = arms.first(where: { $0.kind == kind && $0.mode == .never })?.run.totals {
        check(
          totals.bytes * 2 <= direct.bytes, kind,
          "\(totals.bytes) bytes; the limit is half of \(direct.bytes)")
      }
      // 50 MB by queries and 36 MB by briefcases for 50 users of 5,000 records.
      let bytes = users * (shared + own) * (kind == .soql ? 200 : 144)
      check(
        users < 50 || totals.bytes <= bytes, kind,
        "\(totals.bytes) bytes; the limit is \(bytes)")
      let peak = Double(run.timed.told.peakKiB) / 1024
      check(
        peak <= Self.mostMiB, kind,
        "\(ReconcileReport.decimal(peak)) MiB of memory; the limit is \(Self.mostMiB)")
      check(
        ratio(run) <= Self.mostTime, kind,
        "\(ReconcileReport.decimal(ratio(run))) times the minimum; the limit is \(Self.mostTime)")
    }
    return failures
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "\(users) users are primed for two platforms; \(shared) contacts are those of all, and \(own) of each; "
        + "each answer takes \(latency) ms.", "",
      "| by | share | calls | records | IDs | MB answered | wall s | wall ÷ minimum | user s | VmHWM MiB |",
      "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (kind, mode, run) in arms {
      let (totals, told) = (run.totals, run.timed.told)
      let cells = [
        kind.rawValue, mode.rawValue, "\(totals.calls)", "\(totals.records)", "\(totals.ids)",
        ReconcileReport.decimal(Double(totals.bytes) / 1e6),
        ReconcileReport.decimal(Double(told.wall) / 1000), ReconcileReport.decimal(ratio(run)),
        ReconcileReport.decimal(Double(told.user) / 1000),
        ReconcileReport.decimal(Double(told.peakKiB) / 1024),
      ]
      lines.append("| " + cells.joined(separator: " | ") + " |")
    }
    lines += ["", load.text, ""]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The results as JSON.
  var json: JSONValue {
    let runs = arms.map { kind, mode, run -> JSONValue in
      [
        "by": .string(kind.rawValue), "share": .string(mode.rawValue), "run": run.timed.told.json,
        "calls": JSONValue(run.totals.calls), "records": JSONValue(run.totals.records),
        "ids": JSONValue(run.totals.ids), "bytes": JSONValue(run.totals.bytes),
        "wallToLeast": .number(ReconcileReport.decimal(ratio(run))),
      ]
    }
    return [
      "users": JSONValue(users), "shared": JSONValue(shared), "own": JSONValue(own),
      "latencyMilliseconds": JSONValue(latency), "runs": .array(runs), "loads": load.json,
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
