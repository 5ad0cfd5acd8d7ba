import System

/// Primes what changed for the user of a `RenewalFleet`, in a process of its own, as a night does it.
struct RenewalChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    var result = Measurement()
    result.arm = "renewal"
    let start = Clock.monotonicNanoseconds()
    let summary = try await RenewalFleet.fleet(in: options.directory).run(
      [.prime], ProcessEnvironment.variables())
    result.end(start)
    result.records = summary.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.written }
    return result
  }
}
