import System

/// Primes the users of a `BriefcaseBench` in a separate process, as a run does.
struct BriefcaseChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    var result = Measurement()
    result.arm = "briefcase"
    let start = Clock.monotonicNanoseconds()
    let summary = try await BriefcaseBench.fleet(in: options.directory).run(
      [.prime], ProcessEnvironment.variables())
    result.end(start)
    result.records = summary.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.total }
    return result
  }
}
