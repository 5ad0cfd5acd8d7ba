import JSON
import System

/// Priming many records into both platforms' stores, compared with a download of the same pages and
/// with the time that SQLite alone takes for the same rows.
///
/// Every run is a separate process, and so is the org, so that a peak of memory belongs to one run.
struct PrimeBench {
  /// The memory limit of a prime of any size.
  static let limitKiB = 160 << 10
  /// The limit of the larger prime's additional memory, in percent.
  private static let growthPercent = 10

  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func measure() throws -> PrimeReport {
    let base = try measure(options.base, rounds: 1)
    let full = try measure(options.records, rounds: options.rounds)
    return PrimeReport(
      base: base, full: full, limitKiB: Self.limitKiB, growthPercent: Self.growthPercent)
  }

  /// The arms, run forwards and backwards; `sqlite` copies what `prime` made.
  private static let order: [BenchOptions.Task] = [
    .download, .c, .single, .python, .sync, .fullText, .prime, .sqlite,
  ]

  /// The runs for one number of records: each arm, repeatedly forwards and backwards.
  private func measure(_ records: Int, rounds: Int) throws -> PrimeReport.Arms {
    let org = try OrgProcess(.contacts, records: records, options)
    defer {
      org.stop()
      try? Files.remove(options.directory + "/stores")
    }
    let floors = try PrimeFloors(options)
    var arms = PrimeReport.Arms()
    for _ in 0..<rounds {
      for arm in Self.order + Self.order.reversed() {
        let run =
          try floors.run(arm, url: org.url, token: org.token)
          ?? Measurement(parsing: org.run(arm))
        guard run.records == records else {
          throw BenchFailure("\(run.arm) processed \(run.records) of \(records) records")
        }
        options.note("  \(run.arm): \(run.wall) ms")
        arms.add(run, of: arm)
      }
    }
    return arms
  }
}
