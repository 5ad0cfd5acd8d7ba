/// Incremental primes after few or many records have changed, compared with the first prime.
struct RenewalBench {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  /// One record in this number is changed before a run; 0 for none.
  private static let shares = [0, 1000, 100, 10]

  func measure() throws -> RenewalReport {
    let directory = "\(options.directory)/renewal-\(options.records)"
    options.note("\(options.records) records, and the org that has them")
    let fleet = try RenewalFleet(records: options.records, directory: directory)
    var report = RenewalReport(
      records: options.records, sharesBlocks: try Self.sharesBlocks(directory))
    for _ in 0..<options.rounds {
      try fleet.forget()
      // The last round's changes all have the same second. If they were the newest, each run would
      // fetch them again.
      try fleet.change(every: options.records)
      report.add(try night(fleet, directory, written: options.records), share: nil)
      for share in Self.shares {
        try fleet.change(every: share)
        let changed = share > 0 ? (options.records + share - 1) / share : 0
        report.add(try night(fleet, directory, written: changed), share: share)
      }
      report.addFloor(
        try Measurement(parsing: BenchChild.run(.renewalFloor, ["--directory", directory])))
    }
    try fleet.end()
    return report
  }

  /// Whether the file system of a directory copies a file by sharing its blocks.
  private static func sharesBlocks(_ directory: String) throws -> Bool {
    let files = [directory + "/source", directory + "/clone"]
    try Files.append(Array(repeating: 1, count: 1 << 16), to: files[0])
    defer { for file in files { try? Files.remove(file) } }
    let source = try Files.openRegular(files[0])
    let clone = try Files.createNew(files[1])
    return source.share(with: clone)
  }

  private func night(
    _ fleet: RenewalFleet, _ directory: String, written: Int
  ) throws -> Measurement {
    let run = try Measurement(
      parsing: BenchChild.run(
        .renewal, ["--directory", directory], variables: fleet.variables))
    guard run.records == written else {
      throw BenchFailure("\(run.records) records were written, and \(written) had changed")
    }
    options.note(
      "  \(written) records written: \(run.wall) ms, \(run.processor) ms of processor")
    return run
  }
}
