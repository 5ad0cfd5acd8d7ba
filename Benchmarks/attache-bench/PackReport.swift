import JSON

/// The results of `PackBench`.
struct PackReport: BenchReport {
  let records: Int
  /// The size of both platforms' stores.
  let bytes: Int64
  /// The machine's load.
  var load = MachineLoad()
  private var runs: [PackArm: [Measurement]] = [:]
  private var floors: [PackArm: [Measurement]] = [:]

  init(records: Int, bytes: Int64) { (self.records, self.bytes) = (records, bytes) }

  mutating func add(_ run: Measurement, of arm: PackArm, isFloor: Bool) {
    if isFloor { floors[arm, default: []].append(run) } else { runs[arm, default: []].append(run) }
  }

  /// A value of an arm as a multiple of its floor's, which includes everything that does the
  /// same work.
  private func ratio(
    _ arm: PackArm, _ of: KeyPath<Measurement, Int>, to work: [PackArm]? = nil
  ) -> Double {
    let floor = (work ?? arm.sameWork).reduce(0) {
      $0 + Measurement.median(floors[$1] ?? [])[keyPath: of]
    }
    return Double(Measurement.median(runs[arm] ?? [])[keyPath: of]) / Double(max(1, floor))
  }

  /// The limits that are exceeded.
  ///
  /// A ratio has to exceed its limit both in wall-clock and in processor time.
  var failures: [String] {
    PackArm.all.compactMap { arm in
      let (wall, processor) = (ratio(arm, \.wall), ratio(arm, \.processor))
      guard min(wall, processor) > arm.work.limit else { return nil }
      return
        "\(arm.name) takes \(ReconcileReport.decimal(wall)) times its floor, "
        + "\(ReconcileReport.decimal(processor)) times its processor time; the limit is \(arm.work.limit)"
    }
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "Two stores of \(records) records, \(bytes / 1_000_000) MB together.", "",
      "| arm | runs | wall ms | user ms | system ms | MB/s of stores | VmHWM MiB |",
      "|---|---|---|---|---|---|---|",
    ]
    for arm in PackArm.all {
      lines.append(line(floors[arm] ?? [], arm.name + ", floor"))
      lines.append(line(runs[arm] ?? [], arm.name))
    }
    lines += ["", "| what | bound | wall clock | processor time |", "|---|---|---|---|"]
    for arm in PackArm.all {
      lines.append(
        "| \(arm.name) ÷ \(arm.floorName) | at most \(arm.work.limit) | "
          + "\(ReconcileReport.decimal(ratio(arm, \.wall))) | "
          + "\(ReconcileReport.decimal(ratio(arm, \.processor))) |")
    }
    // The cost of reading back.
    for arm in PackArm.all where arm.work == .pack {
      lines.append(
        "| \(arm.name) ÷ floor of packing alone | | "
          + "\(ReconcileReport.decimal(ratio(arm, \.wall, to: [arm]))) | "
          + "\(ReconcileReport.decimal(ratio(arm, \.processor, to: [arm]))) |")
    }
    lines += ["", load.text, ""]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  private func line(_ runs: [Measurement], _ name: String) -> String {
    let arm = Measurement.median(runs)
    return "| \(name) | \(runs.count) | \(arm.wall) | \(arm.user) | \(arm.system) | "
      + "\(Int(bytes) / 1000 / max(1, arm.wall)) | "
      + "\(ReconcileReport.decimal(Double(arm.peakKiB) / 1024)) |"
  }

  /// The results as JSON.
  var json: JSONValue {
    let arms = PackArm.all.map { arm -> JSONValue in
      [
        "arm": .string(arm.name), "runs": .array((runs[arm] ?? []).map(\.json)),
        "floor": .array((floors[arm] ?? []).map(\.json)),
        "wallToFloor": .number(ReconcileReport.decimal(ratio(arm, \.wall))),
        "processorToFloor": .number(ReconcileReport.decimal(ratio(arm, \.processor))),
      ]
    }
    return [
      "records": JSONValue(records), "bytes": JSONValue(Int(bytes)), "arms": .array(arms),
      "loads": load.json, "failures": .array(failures.map { .string($0) }),
    ]
  }
}
