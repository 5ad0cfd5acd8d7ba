import JSON

/// The results of `RenewalBench`.
struct RenewalReport: BenchReport {
  /// The limits of a run's processor time as a fraction of the first prime's, by the number of
  /// records of which one had changed.
  private static let limits = [1000: 0.01, 100: 0.05, 10: 0.25]

  let records: Int
  /// The runs, by the number of records of which one had changed; 0 if none had, and nil for the
  /// first prime.
  private var runs: [Int?: [Measurement]] = [:]

  /// Copying and hashing alone.
  private var floors: [Measurement] = []

  init(records: Int) { self.records = records }

  mutating func add(_ run: Measurement, share: Int?) { runs[share, default: []].append(run) }

  mutating func addFloor(_ run: Measurement) { floors.append(run) }

  private func median(_ share: Int?) -> Measurement { .median(runs[share] ?? []) }

  /// A run's processor time as a fraction of the first prime's.
  private func part(_ share: Int) -> Double {
    Double(median(share).processor) / Double(max(1, median(nil).processor))
  }

  private static func percent(_ part: Double) -> String {
    ReconcileReport.decimal(part * 100) + " %"
  }

  /// The limits that are exceeded.
  var failures: [String] {
    Self.limits.sorted { $0.key > $1.key }.compactMap { share, limit in
      guard part(share) > limit else { return nil }
      return
        "a run after one record in \(share) changed takes \(Self.percent(part(share))) of the first "
        + "prime's processor time; the limit is \(Self.percent(limit))"
    }
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "\(records) contacts in a store for iOS and one for Android, primed by a pipeline.", "",
      "| change | runs | records written | wall ms | user ms | system ms | part of the first | VmHWM MiB |",
      "|---|---|---|---|---|---|---|---|",
    ]
    for share in [nil, 0, 1000, 100, 10] as [Int?] {
      let arm = median(share)
      let name = share.map { $0 == 0 ? "nothing changed" : "one in \($0)" } ?? "the first"
      lines.append(
        "| \(name) | \(runs[share]?.count ?? 0) | \(arm.records) | \(arm.wall) | \(arm.user) | "
          + "\(arm.system) | \(Self.percent(share.map(part) ?? 1)) | "
          + "\(ReconcileReport.decimal(Double(arm.peakKiB) / 1024)) |")
    }
    let floor = Measurement.median(floors)
    lines += [
      "",
      "Copying the stores and the issued records, and hashing the stores, takes \(floor.wall) ms and "
        + "\(floor.processor) ms of processor, "
        + Self.percent(Double(floor.processor) / Double(max(1, median(nil).processor)))
        + " of the first prime, if the file system does not share blocks.",
    ]
    return (lines + [""] + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The results as JSON.
  var json: JSONValue {
    let arms = runs.sorted { ($0.key ?? -1) < ($1.key ?? -1) }.flatMap { share, runs in
      runs.map { run -> JSONValue in
        var object = run.json.object ?? [:]
        if let share { object["changedOneIn"] = JSONValue(share) }
        return .object(object)
      }
    }
    return [
      "records": JSONValue(records), "runs": .array(arms),
      "floor": .array(floors.map(\.json)),
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
