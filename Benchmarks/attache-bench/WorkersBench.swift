import LocalOrg
import System

/// The first prime of many users who see nine of ten contacts in common, in one process and by two
/// workers, from an org with delayed answers.
struct WorkersBench {
  /// The parts of a run that are performed at the same time, each in a separate process.
  private typealias Step = [WorkersChild.Part]

  private let options: BenchOptions
  private let fleet: BenchFleet
  private var shared: Int { options.records * 9 / 10 }

  /// The number of workers.
  static let workers = 2

  init(_ options: BenchOptions) {
    self.options = options
    fleet = Self.fleet(in: "\(options.directory)/workers")
  }

  /// The fleet in a directory.
  static func fleet(in directory: String) -> BenchFleet {
    var fleet = BenchFleet(name: "workers", directory: directory)
    fleet.profile = "Field Technician"
    return fleet
  }

  func measure() throws -> WorkersReport {
    options.note("\(options.users) users, \(options.records) records of each")
    let org = try FleetBench.makeOrg(
      of: fleet, options, shared: shared, own: options.records - shared)
    try fleet.write(syncs: BriefcaseBench.syncsFile)
    try fleet.write(
      members: """
        "platforms": ["ios", "android"], "limits": {"jobs": 1},
        "work": {"store": {"directory": "\(fleet.directory)/work"}}
        """)
    var report = WorkersReport(options)
    for steps in [[[.whole]], [[.orders], [.first, .second], [.collect]]] as [[Step]] {
      if Files.exists(fleet.root) { try Files.remove(fleet.root) }
      report.add(try play(steps, org))
      report.load.note()
    }
    try Files.remove(fleet.directory)
    return report
  }

  /// Performs steps one after the other.
  private func play(_ steps: [Step], _ org: LocalOrg.Org) throws -> WorkersReport.Run {
    let served = try fleet.serve(org)
    defer { served.server.stop() }
    served.server.faults.add(.any, nth: 1, times: .max, .delay(milliseconds: options.latency))
    let start = Clock.monotonicNanoseconds()
    var told: [Measurement] = []
    for parts in steps {
      told += try Parallel.map(parts.count) { index in
        let arguments = ["--directory", fleet.directory, "--part", parts[index].rawValue]
        return try Measurement(
          parsing: BenchChild.run(
            .divided, arguments, variables: served.variables, deadlineSeconds: 7200))
      }
    }
    let wall = Measurement.milliseconds(since: start)
    for part in told {
      options.note("  \(part.arm): \(part.wall) ms, \(part.processor) ms of processor")
    }
    let (records, wanted) = (told.last?.records ?? 0, options.users * options.records)
    guard records == wanted else {
      throw BenchFailure("\(records) of \(wanted) records are in the stores")
    }
    return WorkersReport.Run(told: told, wall: wall, totals: served.server.log.totals())
  }
}
