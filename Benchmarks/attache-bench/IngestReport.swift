import JSON

/// The results of `IngestBench`.
struct IngestReport: BenchReport {
  /// The limit for one store at a time, as a multiple of the floor.
  private static let limit = 1.5
  /// The minimum speedup of two in parallel on two cores.
  private static let speedUp = 1.7

  let returns: Int
  /// The size of all stores.
  let bytes: Int64
  /// The runs, by the number of stores ingested in parallel; 0 is the floor.
  private var runs: [Int: [Measurement]] = [:]

  /// The machine's load.
  var load = MachineLoad()

  init(returns: Int, bytes: Int64) { (self.returns, self.bytes) = (returns, bytes) }

  mutating func add(_ run: Measurement, jobs: Int) { runs[jobs, default: []].append(run) }

  private func median(_ jobs: Int) -> Measurement { .median(runs[jobs] ?? []) }

  /// A value of one arm as a multiple of another's.
  private func ratio(_ one: Int, _ other: Int, _ of: KeyPath<Measurement, Int>) -> Double {
    Double(median(one)[keyPath: of]) / Double(max(1, median(other)[keyPath: of]))
  }

  /// The limits that are exceeded.
  ///
  /// A ratio to the floor has to exceed its limit both in wall-clock and in processor time.
  var failures: [String] {
    var failures: [String] = []
    let (wall, processor) = (ratio(1, 0, \.wall), ratio(1, 0, \.processor))
    if min(wall, processor) > Self.limit {
      failures.append(
        "one at a time takes \(ReconcileReport.decimal(wall)) times the floor, "
          + "\(ReconcileReport.decimal(processor)) times its processor time; the limit is \(Self.limit)"
      )
    }
    let faster = ratio(1, 2, \.wall)
    if faster < Self.speedUp {
      failures.append(
        "two in parallel are \(ReconcileReport.decimal(faster)) times as fast as one; the minimum is \(Self.speedUp)"
      )
    }
    return failures
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "Ingesting \(returns) stores of \(bytes / Int64(returns) / 1_000_000) MB with \(IngestFleet.edits) edits each.",
      "", "| arm | runs | wall ms | user ms | system ms | ms of processor a store | VmHWM MiB |",
      "|---|---|---|---|---|---|---|",
    ]
    for (jobs, name) in [(0, "floor"), (1, "one at a time"), (2, "two in parallel")] {
      let arm = median(jobs)
      let each = Double(arm.processor) / Double(returns)
      lines.append(
        "| \(name) | \(runs[jobs]?.count ?? 0) | \(arm.wall) | \(arm.user) | \(arm.system) | "
          + "\(ReconcileReport.decimal(each)) | \(ReconcileReport.decimal(Double(arm.peakKiB) / 1024)) |"
      )
    }
    lines += [
      "", "| what | bound | wall clock | processor time |", "|---|---|---|---|",
      "| one at a time ÷ floor | at most \(Self.limit) | \(ReconcileReport.decimal(ratio(1, 0, \.wall))) | "
        + "\(ReconcileReport.decimal(ratio(1, 0, \.processor))) |",
      "| two in parallel, times as fast as one | at least \(Self.speedUp) | "
        + "\(ReconcileReport.decimal(ratio(1, 2, \.wall))) | |",
      "", load.text, "",
    ]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The results as JSON.
  var json: JSONValue {
    let arms = runs.sorted { $0.key < $1.key }.flatMap { jobs, runs in
      runs.map { run -> JSONValue in
        var object = run.json.object ?? [:]
        object["atOnce"] = JSONValue(jobs)
        return .object(object)
      }
    }
    return [
      "returns": JSONValue(returns), "bytes": JSONValue(Int(bytes)), "runs": .array(arms),
      "wallToFloor": .number(ReconcileReport.decimal(ratio(1, 0, \.wall))),
      "processorToFloor": .number(ReconcileReport.decimal(ratio(1, 0, \.processor))),
      "speedUp": .number(ReconcileReport.decimal(ratio(1, 2, \.wall))),
      "loads": load.json,
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
