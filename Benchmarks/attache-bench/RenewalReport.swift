import JSON

/// What `RenewalBench` measured.
struct RenewalReport: BenchReport {
  /// What a night may take of the first prime's processor time, by of how many records one had changed.
  private static let limits = [1000: 0.01, 100: 0.05, 10: 0.25]

  let records: Int
  /// The runs by of how many records one had changed; 0 where none had, and nil for the first prime.
  private var runs: [Int?: [Measurement]] = [:]

  /// Copying and hashing alone.
  private var floors: [Measurement] = []

  init(records: Int) { self.records = records }

  mutating func add(_ run: Measurement, share: Int?) { runs[share, default: []].append(run) }

  mutating func addFloor(_ run: Measurement) { floors.append(run) }

  private func median(_ share: Int?) -> Measurement { .median(runs[share] ?? []) }

  /// A night's processor time as a part of the first prime's.
  private func part(_ share: Int) -> Double {
    Double(median(share).processor) / Double(max(1, median(nil).processor))
  }

  private static func percent(_ part: Double) -> String {
    ReconcileReport.decimal(part * 100) + " %"
  }

  /// What was promised and is not so.
  var failures: [String] {
    Self.limits.sorted { $0.key > $1.key }.compactMap { share, limit in
      guard part(share) > limit else { return nil }
      return
        "a night in which one record in \(share) changed takes \(Self.percent(part(share))) of the first "
        + "prime's processor time, and \(Self.percent(limit)) is the limit"
    }
  }

  /// A table and what is not as promised.
  var text: String {
    var lines = [
      "\(records) contacts in a store for iOS and one for Android, primed by a pipeline.", "",
      "| night | runs | records written | wall ms | user ms | system ms | part of the first | VmHWM MiB |",
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
      "To copy the stores and the issued records, and to hash the stores, takes \(floor.wall) ms and "
        + "\(floor.processor) ms of processor, "
        + Self.percent(Double(floor.processor) / Double(max(1, median(nil).processor)))
        + " of the first, where the file system shares no blocks.",
    ]
    return (lines + [""] + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The same for a machine.
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
