import System

/// The ingestion of a run's stores, one at a time and two in parallel, compared with a floor:
/// copying, hashing and checking the same files.
struct IngestBench {
  private let options: BenchOptions
  private let fleet: IngestFleet

  init(_ options: BenchOptions) {
    self.options = options
    let returns = options.returns ?? 40
    fleet = IngestFleet(
      returns: returns, directory: "\(options.directory)/ingest-\(returns)")
  }

  /// The arms, run forwards and backwards; the floor has no jobs.
  private static let order: [(task: BenchOptions.Task, jobs: Int)] = [
    (.intakeFloor, 0), (.intake, 1), (.intake, 2),
  ]

  func measure() async throws -> IngestReport {
    options.note("\(fleet.returns) stores: making them takes minutes the first time")
    try await fleet.make()
    var report = IngestReport(
      returns: fleet.returns, bytes: try fleet.files.reduce(0) { try $0 + Files.size(of: $1) })
    for _ in 0..<options.rounds {
      for (task, jobs) in Self.order + Self.order.reversed() {
        if task == .intake { try await fleet.restore(jobs: jobs) }
        let run = try child(task)
        options.note(
          "  \(run.arm)\(jobs > 0 ? ", \(jobs) in parallel" : ""): \(run.wall) ms, \(run.processor) ms of processor"
        )
        report.add(run, jobs: jobs)
      }
      report.load.note()
    }
    return report
  }

  private func child(_ task: BenchOptions.Task) throws -> Measurement {
    try Measurement(
      parsing: BenchChild.run(
        task, ["--returns", "\(fleet.returns)", "--directory", fleet.directory]))
  }
}
