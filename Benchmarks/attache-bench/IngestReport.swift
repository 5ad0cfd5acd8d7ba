import JSON

/// What `IngestBench` measured.
struct IngestReport: BenchReport {
  /// What one store at a time may take, as a multiple of the floor.
  private static let limit = 1.5
  /// How much faster two at once have to be on two cores.
  private static let speedUp = 1.7

  let returns: Int
  /// Bytes of all stores.
  let bytes: Int64
  /// The runs by how many stores were ingested at once; 0 is the floor.
  private var runs: [Int: [Measurement]] = [:]

  /// What else was at work.
  var load = MachineLoad()

  init(returns: Int, bytes: Int64) { (self.returns, self.bytes) = (returns, bytes) }

  mutating func add(_ run: Measurement, jobs: Int) { runs[jobs, default: []].append(run) }

  private func median(_ jobs: Int) -> Measurement { .median(runs[jobs] ?? []) }

  /// A number of one arm as a multiple of another's.
  private func ratio(_ one: Int, _ other: Int, _ of: KeyPath<Measurement, Int>) -> Double {
    Double(median(one)[keyPath: of]) / Double(max(1, median(other)[keyPath: of]))
  }

  /// What was promised and is not so: a ratio to the floor fails only by the wall clock and by processor time.
  var failures: [String] {
    var failures: [String] = []
    let (wall, processor) = (ratio(1, 0, \.wall), ratio(1, 0, \.processor))
    if min(wall, processor) > Self.limit {
      failures.append(
        "one at a time takes \(ReconcileReport.decimal(wall)) times the floor, "
          + "\(ReconcileReport.decimal(processor)) times its processor time, and \(Self.limit) is the limit"
      )
    }
    let faster = ratio(1, 2, \.wall)
    if faster < Self.speedUp {
      failures.append(
        "two at once are \(ReconcileReport.decimal(faster)) times as fast as one, and \(Self.speedUp) was promised"
      )
    }
    return failures
  }

  /// A table and what is not as promised.
  var text: String {
    var lines = [
      "Ingesting \(returns) stores of \(bytes / Int64(returns) / 1_000_000) MB, \(IngestFleet.edits) edits in each.",
      "", "| arm | runs | wall ms | user ms | system ms | ms of processor a store | VmHWM MiB |",
      "|---|---|---|---|---|---|---|",
    ]
    for (jobs, name) in [(0, "floor"), (1, "one at a time"), (2, "two at once")] {
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
      "| two at once, times as fast as one | at least \(Self.speedUp) | "
        + "\(ReconcileReport.decimal(ratio(1, 2, \.wall))) | |",
      "", load.text, "",
    ]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The same for a machine.
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
