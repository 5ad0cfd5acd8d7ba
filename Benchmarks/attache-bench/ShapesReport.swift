import JSON

/// The results of `ShapesBench`.
struct ShapesReport: BenchReport {
  /// The twelve objects, and the number of records of each.
  private let sizes: [(object: String, records: Int)]
  private var runs: [ShapeArm: [Measurement]] = [:]
  var load = MachineLoad()

  init(sizes: [(object: String, records: Int)]) { self.sizes = sizes }

  mutating func add(_ run: Measurement, of arm: ShapeArm) { runs[arm, default: []].append(run) }

  private func median(_ arm: ShapeArm) -> Measurement { .median(runs[arm] ?? []) }

  private static func mebibytes(_ run: Measurement) -> String {
    ReconcileReport.decimal(Double(run.peakKiB) / 1024)
  }

  private static func seconds(_ milliseconds: Int) -> String {
    ReconcileReport.decimal(Double(milliseconds) / 1000)
  }

  /// The limits that are exceeded.
  var failures: [String] {
    ShapeArm.allCases.compactMap { arm in
      let highest = median(arm)
      guard highest.peakKiB >= arm.limitKiB else { return nil }
      return
        "a prime of \(highest.records) records (\(arm.name)) took \(Self.mebibytes(highest)) MiB of "
        + "resident memory; the limit is \(arm.limitKiB >> 10) MiB"
    }
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "Medians; peaks of memory are the highest.", "",
      "| objects | stores | written by | records | runs | wall s | records/s | user s | system s | "
        + "VmHWM MiB | limit MiB |",
      "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for arm in ShapeArm.allCases {
      let run = median(arm)
      lines.append(
        "| \(arm.objects) | \(arm.stores) | \(arm.writer) | \(run.records) | \(runs[arm]?.count ?? 0) | "
          + "\(Self.seconds(run.wall)) | \(run.records * 1000 / max(1, run.wall)) | "
          + "\(Self.seconds(run.user)) | \(Self.seconds(run.system)) | \(Self.mebibytes(run)) | "
          + "\(arm.limitKiB >> 10) |")
    }
    let objects = sizes.map { "\($0.object) \($0.records)" }.joined(separator: ", ")
    lines += ["", "The twelve objects: \(objects).", "", load.text, ""]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  /// The results as JSON.
  var json: JSONValue {
    let all = ShapeArm.allCases.flatMap { arm in
      (runs[arm] ?? []).map { run -> JSONValue in
        var object = run.json.object ?? [:]
        object["arm"] = .string(arm.name)
        object["limitKiB"] = JSONValue(arm.limitKiB)
        return .object(object)
      }
    }
    return [
      "runs": .array(all),
      "objects": .array(
        sizes.map { ["object": .string($0.object), "records": JSONValue($0.records)] }),
      "loads": load.json, "failures": .array(failures.map { .string($0) }),
    ]
  }
}
