import System

/// Primes of other shapes than one object with a million records: twelve objects of mixed size,
/// very many records, and both by SQLite's API, which is used if finished pages are not possible.
///
/// As for `PrimeBench`, every run is a separate process, and so is the org.
struct ShapesBench {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func measure() throws -> ShapesReport {
    var report = ShapesReport(
      sizes: try Workload(.twelve, records: options.records).parts.map {
        (object: $0.shape.object, records: $0.records)
      })
    try measureSmall(&report)
    let org = try OrgProcess(.contacts, records: options.large, options)
    defer { org.stop() }
    for arm in ShapeArm.allCases where arm.isLarge {
      report.add(try run(arm, org, options.large), of: arm)
    }
    report.load.note()
    return report
  }

  /// The short arms, repeatedly forwards and backwards.
  private func measureSmall(_ report: inout ShapesReport) throws {
    let twelve = try OrgProcess(.twelve, records: options.records, options)
    defer { twelve.stop() }
    let contacts = try OrgProcess(.contacts, records: options.records, options)
    defer { contacts.stop() }
    let arms = ShapeArm.allCases.filter { !$0.isLarge }
    for _ in 0..<options.rounds {
      for arm in arms + arms.reversed() {
        let org = arm.workload == .twelve ? twelve : contacts
        report.add(try run(arm, org, options.records), of: arm)
      }
      report.load.note()
    }
  }

  private func run(
    _ arm: ShapeArm, _ org: OrgProcess, _ records: Int
  ) throws -> Measurement {
    defer { try? Files.remove(options.directory + "/stores") }
    let run = try Measurement(
      parsing: org.run(arm.task, arm.isByStatements ? ["--statements"] : []))
    guard run.records == records else {
      throw BenchFailure("\(arm.name) processed \(run.records) of \(records) records")
    }
    options.note("  \(arm.name): \(run.wall) ms, \(run.peakKiB) KiB")
    return run
  }
}
