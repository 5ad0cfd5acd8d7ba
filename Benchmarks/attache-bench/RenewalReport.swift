import JSON

/// The results of `RenewalBench`.
struct RenewalReport: BenchReport {
  /// The limit of a run without changes, as a fraction of the first prime's processor time.
  private static let idleLimit = 0.01
  /// The limit of a run after one record in 100 changed, as a multiple of copying and hashing.
  private static let changedLimit = 1.2

  let records: Int
  /// Whether copies share the blocks of their source (reflinks).
  let sharesBlocks: Bool
  /// The runs, by the number of records of which one had changed; 0 if none had, and nil for the
  /// first prime.
  private var runs: [Int?: [Measurement]] = [:]

  /// Copying and hashing alone.
  private var floors: [Measurement] = []

  init(records: Int, sharesBlocks: Bool) {
    self.records = records
    self.sharesBlocks = sharesBlocks
  }

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

  /// A run's time as a multiple of copying and hashing the same files.
  private func timesFloor(_ share: Int, _ time: KeyPath<Measurement, Int>) -> Double {
    let floor = Measurement.median(floors)
    return Double(median(share)[keyPath: time]) / Double(max(1, floor[keyPath: time]))
  }

  /// The limits that are exceeded.
  ///
  /// The elapsed time of a run contains the org's work on the same machine, and processor time
  /// ignores the second core, so both count.
  var failures: [String] {
    var failures: [String] = []
    if part(0) > Self.idleLimit {
      failures.append(
        "a run without changes takes \(Self.percent(part(0))) of the first prime's processor time; "
          + "the limit is \(Self.percent(Self.idleLimit))")
    }
    let least = min(timesFloor(100, \.wall), timesFloor(100, \.processor))
    if least > Self.changedLimit {
      failures.append(
        "a run after one record in 100 changed takes \(ReconcileReport.decimal(least)) times as long "
          + "as copying and hashing; the limit is \(ReconcileReport.decimal(Self.changedLimit))")
    }
    return failures
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
    let ofFirst = Double(floor.processor) / Double(max(1, median(nil).processor))
    let multiples = [1000, 100, 10].map { share in
      "one in \(share) \(ReconcileReport.decimal(timesFloor(share, \.wall))) and "
        + ReconcileReport.decimal(timesFloor(share, \.processor))
    }
    lines += [
      "",
      "Copying the stores and the issued records, and hashing the stores, takes \(floor.wall) ms and "
        + "\(floor.processor) ms of processor, \(Self.percent(ofFirst)) of the first prime, on a file "
        + "system that shares \(sharesBlocks ? "" : "no ")blocks.",
      "",
      "As a multiple of it, elapsed and processor time: \(multiples.joined(separator: ", ")).",
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
      "records": JSONValue(records), "sharesBlocks": JSONValue(sharesBlocks),
      "runs": .array(arms),
      "floor": .array(floors.map(\.json)),
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
