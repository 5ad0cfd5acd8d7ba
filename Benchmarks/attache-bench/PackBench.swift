import System

/// Packing and verifying a snapshot's bundles in each format, and sealing its stores, compared with
/// the libraries alone.
struct PackBench {
  private let options: BenchOptions
  private let fleet: PackFleet

  init(_ options: BenchOptions) {
    self.options = options
    fleet = PackFleet(directory: "\(options.directory)/pack-\(options.records)")
  }

  func measure() async throws -> PackReport {
    options.note("\(options.records) records for each platform: making their stores")
    try await fleet.make(records: options.records)
    let floors = try PackFloors(fleet, options)
    let bytes = try fleet.stores().reduce(0) { try $0 + Files.size(of: $1) }
    var report = PackReport(records: options.records, bytes: bytes)
    // The bundles to read must exist when the arms run backwards.
    for arm in PackArm.all where arm.work == .pack { _ = try child(arm) }
    for _ in 0..<options.rounds {
      let order = PackArm.all.flatMap { [($0, true), ($0, false)] }
      for (arm, isFloor) in order + order.reversed() {
        let run = try isFloor ? floors.run(arm) : child(arm)
        options.note(
          "  \(arm.name)\(isFloor ? ", floor" : ""): \(run.wall) ms, \(run.processor) ms of processor"
        )
        report.add(run, of: arm, isFloor: isFloor)
      }
      report.load.note()
    }
    try fleet.end()
    return report
  }

  private func child(_ arm: PackArm) throws -> Measurement {
    let task: BenchOptions.Task =
      switch arm.work {
      case .pack: .packing
      case .verify: .verifying
      case .seal: .sealing
      }
    if arm.work == .pack, let format = arm.format { try fleet.restore(format) }
    let run = try Measurement(
      parsing: BenchChild.run(
        task,
        ["--directory", fleet.directory] + (arm.format.map { ["--format", $0.rawValue] } ?? [])))
    if arm.work == .pack, let format = arm.format { try fleet.keep(format) }
    return run
  }
}
