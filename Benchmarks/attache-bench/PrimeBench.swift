import JSON
import System

/// Priming many records into both platforms' stores, beside a download of the same pages and
/// beside what SQLite alone takes for the same rows.
///
/// Every run is a process of its own, and so is the org: a peak of memory is of one run alone.
struct PrimeBench {
  /// A prime of any size has to stay below.
  static let limitKiB = 160 << 10
  /// What the larger prime may take more than the smaller one, in percent.
  private static let growthPercent = 10

  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  /// Measures.
  func measure() throws -> PrimeReport {
    let base = try measure(options.base, rounds: 1)
    let full = try measure(options.records, rounds: options.rounds)
    return PrimeReport(
      base: base, full: full, limitKiB: Self.limitKiB, growthPercent: Self.growthPercent)
  }

  /// What is run, forwards and backwards; `sqlite` copies what `prime` made.
  private static let order: [BenchOptions.Task] = [
    .download, .c, .single, .python, .sync, .fullText, .prime, .sqlite,
  ]

  /// The runs of one number of records: each arm, forwards and backwards, again and again.
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
          throw BenchFailure("\(run.arm) took \(run.records) of \(records) records")
        }
        options.note("  \(run.arm): \(run.wall) ms")
        arms.add(run, of: arm)
      }
    }
    return arms
  }
}
