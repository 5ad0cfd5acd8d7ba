import JSON
import LocalOrg

/// The results of `WorkersBench`.
struct WorkersReport: BenchReport {
  /// The limits of a divided run, as multiples of the time and of the calls of one process.
  private static let (mostTime, mostCalls) = (0.6, 1.05)

  /// One run.
  struct Run {
    /// The measurements of its processes.
    let told: [Measurement]
    /// The time from the start of the first process to the end of the last one, in milliseconds.
    let wall: Int
    /// The org's totals.
    let totals: RequestLog.Totals
  }

  private let users: Int
  private let records: Int
  private let latency: Int
  /// The machine's load.
  var load = MachineLoad()
  /// The run in one process, and the divided run.
  private var runs: [Run] = []

  init(_ options: BenchOptions) {
    (users, records, latency) = (options.users, options.records, options.latency)
  }

  mutating func add(_ run: Run) { runs.append(run) }

  private func ratio(_ value: (Run) -> Int) -> Double {
    guard runs.count == 2 else { return 0 }
    return Double(value(runs[1])) / Double(max(1, value(runs[0])))
  }

  private var timeRatio: Double { ratio(\.wall) }
  private var callRatio: Double { ratio(\.totals.calls) }

  /// The limits that are exceeded.
  var failures: [String] {
    var failures: [String] = []
    func check(_ ratio: Double, _ limit: Double, _ what: String) {
      guard ratio > limit else { return }
      failures.append(
        "a divided run takes \(ReconcileReport.decimal(ratio)) times the \(what) of one process; "
          + "the limit is \(limit)")
    }
    check(timeRatio, Self.mostTime, "time")
    check(callRatio, Self.mostCalls, "calls")
    return failures
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "\(users) users of \(records) contacts, nine of ten of which all of them see, are primed for two platforms, "
        + "one user at a time in each process; each answer takes \(latency) ms.", "",
      "| process | wall s | user s | system s | VmHWM MiB | calls | records |",
      "|---|---|---|---|---|---|---|",
    ]
    for run in runs {
      for told in run.told {
        lines.append(
          Self.row([
            told.arm, Self.seconds(told.wall), Self.seconds(told.user), Self.seconds(told.system),
            ReconcileReport.decimal(Double(told.peakKiB) / 1024), "", "",
          ]))
      }
      let totals = run.totals
      lines.append(
        Self.row(
          ["together", Self.seconds(run.wall), "", "", "", "\(totals.calls)", "\(totals.records)"]))
    }
    lines += [
      "",
      "Divided ÷ one process: \(ReconcileReport.decimal(timeRatio)) of the time, "
        + "\(ReconcileReport.decimal(callRatio)) of the calls.", "", load.text, "",
    ]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  private static func row(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  private static func seconds(_ milliseconds: Int) -> String {
    ReconcileReport.decimal(Double(milliseconds) / 1000)
  }

  /// The results as JSON.
  var json: JSONValue {
    let arms = runs.map { run -> JSONValue in
      [
        "processes": .array(run.told.map(\.json)), "wallMilliseconds": JSONValue(run.wall),
        "calls": JSONValue(run.totals.calls), "records": JSONValue(run.totals.records),
      ]
    }
    return [
      "users": JSONValue(users), "records": JSONValue(records),
      "latencyMilliseconds": JSONValue(latency), "runs": .array(arms), "loads": load.json,
      "timeToOneProcess": .number(ReconcileReport.decimal(timeRatio)),
      "callsToOneProcess": .number(ReconcileReport.decimal(callRatio)),
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
